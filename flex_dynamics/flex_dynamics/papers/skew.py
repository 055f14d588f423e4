"""Vectors and skew-symmetric matrices: a x b as a matrix times b."""
from __future__ import annotations

import numpy as np


def skew(a: np.ndarray) -> np.ndarray:
    """a^x (3, 3) with skew(a) @ b = cross(a, b)."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def unskew(A: np.ndarray) -> np.ndarray:
    """The vector (3,) of the skew-symmetric part of A (3, 3)."""
    return 0.5 * np.array([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]])
