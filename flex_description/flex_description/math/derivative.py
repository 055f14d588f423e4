"""Derivatives by differences."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flex_description.math.arrays import Array


def derivative(function: Callable[[Array], Array], point: Array, step: float) -> Array:
    """Jacobian by fourth-order central differences: columns d function / d point_j."""
    columns = []
    for j in range(len(point)):
        offset = np.zeros(len(point))
        offset[j] = step * max(1.0, abs(point[j]))
        columns.append((8.0 * (function(point + offset) - function(point - offset))
                        - (function(point + 2.0 * offset) - function(point - 2.0 * offset)))
                       / (12.0 * offset[j]))
    return np.array(columns).T
