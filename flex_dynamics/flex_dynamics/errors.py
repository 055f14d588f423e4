"""Errors of the dynamics, each a sentence that says what was expected and what was found."""


class DynamicsError(ValueError):
    """A question that the model cannot answer: wrong shapes, unknown frames, singular inertia."""


class FrozenError(DynamicsError, AttributeError):
    """An attempt to change a model; the message names the call that gives a changed one."""
