"""The model and the state as nodes of every package get them: parameters and topics."""
