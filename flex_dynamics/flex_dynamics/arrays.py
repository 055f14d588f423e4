"""Types of arrays in signatures."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

__all__ = ['Array', 'ArrayLike']
