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
"""Unit quaternions in the order x, y, z, w, as in ROS messages and scipy."""
from __future__ import annotations

import math

import numpy as np

from flex_description.math.arrays import Array, ArrayLike

Quaternion = tuple[float, float, float, float]


def quaternion_from_rotation(rotation: Array) -> Quaternion:
    """Unit quaternion x, y, z, w of a rotation matrix (3, 3); w is not negative.

    It is computed from its largest component, so it is exact to rounding at every angle
    (Shepperd 1978). Plain Python floats: for one matrix at a time this is faster than arrays.
    """
    (a, b, c), (d, e, f), (g, h, i) = rotation.tolist()
    squares = (1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i, 1.0 + a + e + i)
    largest = max(squares)
    at = squares.index(largest)
    if at == 3:
        parts = (h - f, c - g, d - b, largest)
    elif at == 0:
        parts = (largest, b + d, c + g, h - f)
    elif at == 1:
        parts = (b + d, largest, f + h, c - g)
    else:
        parts = (c + g, f + h, largest, d - b)
    scale = math.copysign(1.0 / math.sqrt(sum(part * part for part in parts)), parts[3])
    x, y, z, w = (scale * part for part in parts)
    return x, y, z, w


def rotation_from_quaternion(quaternion: ArrayLike) -> Array:
    """Rotation matrix (3, 3) of a unit quaternion x, y, z, w; it is not normalised here."""
    x, y, z, w = np.asarray(quaternion, dtype=float).tolist()
    return np.array([
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)]])


def quaternion_product(left: ArrayLike, right: ArrayLike) -> Quaternion:
    """Hamilton product of quaternions x, y, z, w: the rotation `right`, then `left`.

    rotation_from_quaternion(product) is the matrix product of both rotations. The result has the
    sign that the product has; w may be negative.
    """
    ax, ay, az, aw = np.asarray(left, dtype=float).tolist()
    bx, by, bz, bw = np.asarray(right, dtype=float).tolist()
    return (aw * bx + bw * ax + (ay * bz - az * by), aw * by + bw * ay + (az * bx - ax * bz),
            aw * bz + bw * az + (ax * by - ay * bx), aw * bw - (ax * bx + ay * by + az * bz))
