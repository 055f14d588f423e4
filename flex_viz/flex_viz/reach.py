"""How far a robot reaches, for what is drawn in its size."""
from __future__ import annotations

import numpy as np

from flex_description import Robot


def reach(robot: Robot) -> float:
    """A length, m, that the robot stays within, from the root: the sum of its links."""
    total = sum(float(np.linalg.norm(joint.origin[:3, 3])) for joint in robot.joints)
    beams = [link.flexible.length for link in robot.links if link.flexible is not None]
    return max(total, *beams, 0.1)
