"""Smaller robots out of a large one, to find the size whose equations can be derived."""
from __future__ import annotations

from dataclasses import replace

from flex_description import Robot


def most_shapes(robot: Robot) -> int:
    """The largest number of mode shapes of one kind on one link."""
    return max((max(link.flexible.bend_y.count, link.flexible.bend_z.count,
                    link.flexible.twist.count)
                for link in robot.links if link.flexible is not None), default=0)


def first_joints(robot: Robot, count: int) -> Robot:
    """The robot up to its first joints, which are in tree order, so that it is a whole robot."""
    joints = robot.joints[:count]
    names = {robot.links[0].name, *(joint.child for joint in joints)}
    links = tuple(link for link in robot.links if link.name in names)
    frames = tuple(frame for frame in robot.frames if frame.link in names)
    return replace(robot, links=links, joints=joints, frames=frames, imus=())
