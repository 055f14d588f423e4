"""The check at the door of the fastest calls: every number finite and of a size that can be squared."""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.layout import OPTIONS

BAD_INPUT = -1
LARGEST = 1e100


@njit(**OPTIONS)
def finite(vector):
    for i in range(vector.shape[0]):
        if not abs(vector[i]) <= LARGEST:
            return False
    return True
