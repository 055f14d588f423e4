"""Rotation matrices as ROS writes them."""
from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation


def quaternion(rotation: np.ndarray) -> dict[str, float]:
    """x, y, z, w of a rotation matrix (3, 3); w is not negative."""
    values = Rotation.from_matrix(rotation).as_quat(canonical=True)
    return dict(zip('xyzw', map(float, values)))
