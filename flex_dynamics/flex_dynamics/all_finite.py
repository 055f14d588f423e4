"""Whether an array holds numbers only, asked a thousand times a second."""
from __future__ import annotations

import numpy as np


def all_finite(vector: np.ndarray) -> bool:
    """Whether no element of a vector (n,) is NaN or infinite.

    Its sum of squares tells in a tenth of the time; if that is not finite, an element may have
    been beyond 1e154.
    """
    return bool(vector.dot(vector) < np.inf) or bool(np.isfinite(vector).all())


def within(vector: np.ndarray, largest: float) -> bool:
    """Whether all elements of a vector (n,) are numbers of at most this magnitude."""
    with np.errstate(over='ignore', invalid='ignore'):
        return (bool(vector.dot(vector) < largest**2)
                or bool((np.abs(vector) <= largest).all()))
