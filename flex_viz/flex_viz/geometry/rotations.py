"""Rotations and poses of many points at once. Quaternions are x, y, z, w, as in ROS."""
from __future__ import annotations

import math

import numpy as np

# theta @ SKEW is the matrix of the cross product with theta, by rows.
SKEW = np.zeros((3, 9))
SKEW[(0, 1, 2), (7, 2, 3)], SKEW[(0, 1, 2), (5, 6, 1)] = 1.0, -1.0


def exponential(theta: np.ndarray) -> np.ndarray:
    """Rotation matrices (k, 3, 3) of rotation vectors (k, 3), rad, by Rodrigues' formula."""
    angle = np.maximum(np.sqrt(np.einsum('ki,ki->k', theta, theta)), 1e-150)
    sine = np.sin(angle) / angle
    half = 2.0 * (np.sin(0.5 * angle) / angle)**2               # (1 - cos a) / a^2
    out = ((half[:, None] * theta)[:, :, None] * theta[:, None, :]).reshape(-1, 9)
    out += (sine[:, None] * theta) @ SKEW
    out[:, ::4] += np.cos(angle)[:, None]
    return out.reshape(-1, 3, 3)


def quaternion_xyzw(pose: np.ndarray) -> tuple[float, float, float, float]:
    """Quaternion x, y, z, w of the rotation of a pose (4, 4).

    Plain Python, because numpy is slow for one rotation at a time.
    """
    (a, b, c), (d, e, f), (g, h, i) = pose[:3, :3].tolist()
    # Four times the square of each component; dividing by the largest one is safe.
    squares = (1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i, 1.0 + a + e + i)
    best = max(range(4), key=squares.__getitem__)
    x, y, z, w = ((squares[0], b + d, c + g, h - f), (b + d, squares[1], f + h, c - g),
                  (c + g, f + h, squares[2], d - b), (h - f, c - g, d - b, squares[3]))[best]
    size = 2.0 * math.sqrt(squares[best])
    return x / size, y / size, z / size, w / size


def transform_points(points: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Points (p, 3) of a frame at `pose` (4, 4), in the frame in which the pose is given."""
    return points @ pose[:3, :3].T + pose[:3, 3]
