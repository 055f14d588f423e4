"""Poses as 4 x 4 matrices."""
from __future__ import annotations

import numpy as np

from flex_description.element import Element


def from_rpy(rpy: np.ndarray) -> np.ndarray:
    """Rotation (3, 3) Rz(yaw) Ry(pitch) Rx(roll), as URDF defines it."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array([[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                     [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                     [-sp, cp * sr, cp * cr]])


def pose(rotation: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Pose (4, 4) from a rotation (3, 3) and a position (3,)."""
    result = np.eye(4)
    result[:3, :3] = rotation
    result[:3, 3] = position
    return result


def read_origin(element: Element | None) -> np.ndarray:
    """Pose (4, 4) of an <origin xyz= rpy=/>; identity where there is none."""
    if element is None:
        return np.eye(4)
    return pose(from_rpy(element.numbers('rpy', 3, '0 0 0')), element.numbers('xyz', 3, '0 0 0'))


def along(direction: np.ndarray) -> np.ndarray:
    """Rotation (3, 3) whose x axis is `direction` and whose y axis is level (normal to the
    frame's z); for a direction along z, y stays the frame's y."""
    x = direction / np.linalg.norm(direction)
    y = np.cross([0.0, 0.0, 1.0], x)
    size = np.linalg.norm(y)
    y = y / size if size > 1e-9 else np.array([0.0, 1.0, 0.0])
    return np.column_stack((x, y, np.cross(x, y)))
