"""The numeric model of a flexible robot."""
from flex_dynamics.model.model import MODEL_ADVICE, Model, Terms

__all__ = ['MODEL_ADVICE', 'Model', 'Terms']
