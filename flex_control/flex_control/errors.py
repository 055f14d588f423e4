"""Errors of control, each a sentence that says what was expected and what was found."""


class ControlError(ValueError):
    """A controller or trajectory that cannot be: unknown name, bad parameter, bad points."""
