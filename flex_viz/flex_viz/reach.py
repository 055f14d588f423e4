"""How far a robot reaches, for what is drawn in its size."""
from __future__ import annotations

import numpy as np

from flex_description.robot import Robot

SMALL, LARGE = 1.5, 8.0      # m; robots between them fit the usual view


def reach(robot: Robot) -> float:
    """A length, m, that the robot stays within, from the root: the sum of its links."""
    total = sum(float(np.linalg.norm(joint.origin[:3, 3])) for joint in robot.joints)
    beams = [link.flexible.length for link in robot.links if link.flexible is not None]
    return max(total, *beams, 0.1)


def rviz_config(robot: Robot) -> str:
    """The configuration of flex_bringup whose view suits the robot's size."""
    size = reach(robot)
    return ('small_robot.rviz' if size < SMALL else 'large_robot.rviz' if size > LARGE
            else 'robot.rviz')
