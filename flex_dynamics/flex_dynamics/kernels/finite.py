"""The check at the door of the fastest calls: finite numbers of a size that can be squared."""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.layout import OPTIONS

BAD_INPUT = -1
LARGEST = 1e100


@njit(**OPTIONS)
def finite(vector):
    # A loop, which numba compiles to vector code; all() over a generator it does not know.
    for i in range(vector.shape[0]):  # noqa: SIM110
        if not abs(vector[i]) <= LARGEST:
            return False
    return True
