"""Errors of the dynamics, each a sentence that says what was expected and what was found."""


class DynamicsError(ValueError):
    """A question that the model cannot answer: wrong shapes, unknown frames, singular inertia."""
