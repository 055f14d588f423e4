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
