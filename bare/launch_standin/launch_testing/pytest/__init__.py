"""How pytest finds launch tests."""
