"""Examples of some ten lines that run: python -m flex_control.examples.NAME."""
