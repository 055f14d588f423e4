"""What hypothesis draws for the algebra: the same draws in every run."""
from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

quick = settings(deadline=None, derandomize=True, max_examples=40)


def vectors(length: int = 3, size: float = 3.0):
    """Arrays (length,) of numbers up to a size."""
    return arrays(float, length, elements=st.floats(-size, size, allow_subnormal=False))


VECTOR = vectors()
ANGLE = st.floats(-3.0, 3.0)
