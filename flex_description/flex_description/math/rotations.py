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
"""Rotation matrices: roll-pitch-yaw, skew matrices, rotation vectors, poses.

A rotation matrix (3, 3) takes coordinates of the inner (rotated) frame to the outer one; a pose
(4, 4) is the homogeneous matrix of a rotation and a position. Angles are in rad.
"""
from __future__ import annotations

import numpy as np

from flex_description.math.arrays import Array, ArrayLike
from flex_description.math.quaternions import quaternion_from_rotation

# theta @ _SKEW is skew(theta) by rows, (..., 3) to (..., 9).
_SKEW = np.zeros((3, 9))
_SKEW[(0, 1, 2), (7, 2, 3)], _SKEW[(0, 1, 2), (5, 6, 1)] = 1.0, -1.0
_TINY = 1e-150          # rad; its square is still a normal number
_UPRIGHT = 1e-15       # of a unit vector: below it rounding alone gives it a direction
_LEVEL = 1e-9           # of a unit vector: below it the direction is vertical


def rotation_from_rpy(rpy: ArrayLike) -> Array:
    """Rotation matrix of roll, pitch and yaw, in the order of URDF.

    Parameters
    ----------
    rpy : array-like, shape (3,)
        Roll, pitch and yaw, rad: turns about the fixed x, y and z axes, in this order.

    Returns
    -------
    array, shape (3, 3)
        Rz(yaw) Ry(pitch) Rx(roll).
    """
    angles = np.asarray(rpy, dtype=float)
    (cr, cp, cy), (sr, sp, sy) = np.cos(angles), np.sin(angles)
    return np.array([[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                     [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                     [-sp, cp * sr, cp * cr]])


def rpy_from_rotation(rotation: ArrayLike) -> Array:
    """Roll, pitch and yaw (3,), rad, of a rotation matrix (3, 3); inverse of `rotation_from_rpy`.

    Pitch is between -pi/2 and pi/2. At either end only the sum or difference of roll and yaw is
    defined; yaw is then 0.
    """
    R = np.asarray(rotation, dtype=float)
    level = np.hypot(R[0, 0], R[1, 0])
    pitch = np.arctan2(-R[2, 0], level)
    yaw = 0.0 if level < _UPRIGHT else np.arctan2(R[1, 0], R[0, 0])
    # Of what is left without the yaw: it makes up for the rounding of yaw near either end.
    across = np.cos(yaw) * R[1] - np.sin(yaw) * R[0]
    return np.array([np.arctan2(-across[2], across[1]), pitch, yaw])


def skew(vector: ArrayLike) -> Array:
    """Matrices (..., 3, 3) of the cross product with vectors (..., 3): skew(a) @ b = a x b."""
    a = np.asarray(vector, dtype=float)
    result = np.zeros((*a.shape, 3))
    result[..., 0, 1], result[..., 0, 2], result[..., 1, 2] = -a[..., 2], a[..., 1], -a[..., 0]
    result[..., 1, 0], result[..., 2, 0], result[..., 2, 1] = a[..., 2], -a[..., 1], a[..., 0]
    return result


def unskew(matrix: ArrayLike) -> Array:
    """Vectors (..., 3) of the skew-symmetric part of matrices (..., 3, 3); inverse of `skew`."""
    A = np.asarray(matrix, dtype=float)
    return np.stack([0.5 * (A[..., 2, 1] - A[..., 1, 2]), 0.5 * (A[..., 0, 2] - A[..., 2, 0]),
                     0.5 * (A[..., 1, 0] - A[..., 0, 1])], axis=-1)


def exponential(rotation_vector: ArrayLike) -> Array:
    """Rotation matrices of rotation vectors, exact to rounding at every angle.

    Parameters
    ----------
    rotation_vector : array-like, shape (..., 3)
        Axis times angle, rad.

    Returns
    -------
    array, shape (..., 3, 3)
        Rodrigues' formula, cos a I + sin a / a [theta] + (1 - cos a) / a^2 theta theta'.
    """
    given = np.asarray(rotation_vector, dtype=float)
    theta = given.reshape(-1, 3)
    angle = np.maximum(np.sqrt(np.einsum('ki,ki->k', theta, theta)), _TINY)
    sine = np.sin(angle) / angle
    half = 2.0 * (np.sin(0.5 * angle) / angle)**2               # (1 - cos a) / a^2
    out = ((half[:, None] * theta)[:, :, None] * theta[:, None, :]).reshape(-1, 9)
    out += (sine[:, None] * theta) @ _SKEW
    out[:, ::4] += np.cos(angle)[:, None]
    result: Array = out.reshape(*given.shape, 3)
    return result


def logarithm(rotation: ArrayLike) -> Array:
    """Rotation vector (3,), rad, of length at most pi, of a rotation matrix (3, 3).

    Inverse of `exponential`. A half-turn has two such vectors, of opposite sign; one of them is
    returned.
    """
    quaternion = np.array(quaternion_from_rotation(np.asarray(rotation, dtype=float)))
    axis, w = quaternion[:3], quaternion[3]
    size = float(np.linalg.norm(axis))
    return axis * (2.0 * np.arctan2(size, w) / size if size > 0.0 else 2.0)


def pose(rotation: ArrayLike, position: ArrayLike) -> Array:
    """Pose (4, 4) from a rotation (3, 3) and a position (3,), m."""
    result = np.eye(4)
    result[:3, :3] = rotation
    result[:3, 3] = position
    return result


def rotation_with_x_along(direction: ArrayLike) -> Array:
    """Rotation (3, 3) whose x axis has the given direction (3,), of any length above 0.

    The y axis is horizontal (normal to the outer z axis); for a direction along z it is the outer
    y axis.
    """
    given = np.asarray(direction, dtype=float)
    x = given / np.linalg.norm(given)
    y = np.cross([0.0, 0.0, 1.0], x)
    size = np.linalg.norm(y)
    y = y / size if size > _LEVEL else np.array([0.0, 1.0, 0.0])
    return np.column_stack((x, y, np.cross(x, y)))
