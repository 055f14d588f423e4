# Copyright 2026 flex maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.
"""Inertia tensors (3, 3), kg m2: parallel axes, change of axes, principal moments."""
from __future__ import annotations

import numpy as np

from flex_description.math.arrays import Array, ArrayLike


def inertia_tensor(ixx: float, iyy: float, izz: float, ixy: float, ixz: float,
                   iyz: float) -> Array:
    """Symmetric tensor (3, 3) of the six numbers that URDF has, kg m2; ixy etc. keep their sign.
    """
    return np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])


def parallel_axes(mass: float, offset: ArrayLike) -> Array:
    """What a tensor about the centre of mass gains for a point at a distance (Steiner).

    Parameters
    ----------
    mass : float
        kg.
    offset : array-like, shape (3,)
        From the point to the centre of mass, or back, m.

    Returns
    -------
    array, shape (3, 3)
        mass (|r|^2 I - r r'), kg m2, in the axes of the offset.
    """
    r = np.asarray(offset, dtype=float)
    result: Array = mass * (r @ r * np.eye(3) - np.outer(r, r))
    return result


def rotated_tensor(tensor: ArrayLike, rotation: ArrayLike) -> Array:
    """The tensor (3, 3) in the outer axes of a rotation (3, 3): R tensor R'."""
    R = np.asarray(rotation, dtype=float)
    result: Array = R @ np.asarray(tensor, dtype=float) @ R.T
    return result


def principal_moments(tensor: ArrayLike) -> Array:
    """The three principal moments (3,), kg m2, in rising order, of a symmetric tensor (3, 3)."""
    return np.linalg.eigvalsh(np.asarray(tensor, dtype=float))


def is_possible(moments: ArrayLike, tolerance: float = 0.01) -> bool:
    """Whether some body has these principal moments (3,), in rising order, kg m2.

    The largest is at most the sum of the other two. The default tolerance is 1 %, because
    published tensors are rounded.
    """
    first, second, third = np.asarray(moments, dtype=float)
    return bool(third <= (1.0 + tolerance) * (first + second))


def without_negative_moments(tensor: ArrayLike) -> Array:
    """The tensor (3, 3) with principal moments below 0, left by rounding, set to 0."""
    matrix = np.asarray(tensor, dtype=float)
    moments, axes = np.linalg.eigh(matrix)
    if moments[0] >= 0.0:
        return matrix
    result: Array = (axes * np.maximum(moments, 0.0)) @ axes.T
    return result
