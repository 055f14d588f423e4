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
"""Poses of a robot: the default one, and those that people write as text."""
from __future__ import annotations

import math
from collections.abc import Mapping

from flex_description.errors import RobotError, cut, quoted
from flex_description.robot import Joint, Limits, Robot
from flex_description.suggestion import suggestion

SINGLE = ('revolute', 'continuous', 'prismatic')
BASES = {'planar': ('x', 'y', 'angle'), 'floating': ('x', 'y', 'z', 'rx', 'ry', 'rz')}
Pose = dict[str, float]     # rad or m by joint coordinate
UNLIMITED = Limits()
ROUNDED = 1e-3     # rad or m: files have positions of followers with few digits


def joint_coordinates(robot: Robot) -> dict[str, Limits]:
    """Limits by joint coordinate, in the order of a model's joints.

    A coordinate has the name of its joint; those of a planar or floating base are `joint/x`, ...
    A joint that follows another one (<mimic>) has none.
    """
    found: dict[str, Limits] = {}
    for joint in robot.joints:
        if joint.type in SINGLE and joint.mimic is None:
            found[joint.name] = joint.limits
        found.update({f'{joint.name}/{axis}': UNLIMITED for axis in BASES.get(joint.type, ())})
    return found


def default_pose(robot: Robot) -> Pose:
    """Position of each joint coordinate: zero where the limits allow it, else the middle of the
    range, as joint_state_publisher chooses them."""
    return _completed(robot, {})


def _completed(robot: Robot, chosen: Mapping[str, float]) -> Pose:
    """The positions chosen, and those of the other coordinates."""
    return {name: chosen.get(name, _default(limits))
            for name, limits in joint_coordinates(robot).items()}


def _default(limits: Limits) -> float:
    if limits.lower <= 0.0 <= limits.upper:
        return 0.0
    middle = 0.5 * limits.lower + 0.5 * limits.upper
    if math.isfinite(middle):
        return middle
    return limits.lower if limits.lower > 0.0 else limits.upper     # limited on one side only


def read_pose(robot: Robot, text: str, named: Mapping[str, Mapping[str, float]] | None = None,
              what: str = 'pose') -> Pose:
    """Position of each joint coordinate of a pose that is given as text.

    Parameters
    ----------
    robot : Robot
    text : str
        One number a joint coordinate (`0 0.5 1`), `joint=value` pairs (`elbow=0.5 wrist=1`) or the
        name of a pose. Commas and brackets may stand between them. Joints that a pair or a named
        pose leaves out take their default; empty text means the default pose. A joint that
        follows another one may be named, at the place where that one has it.
    named : mapping of str to mapping, optional
        Positions by joint of the poses that have a name.
    what : str
        What messages call the pose.

    Raises
    ------
    RobotError
        If the text says something else, or a position is beyond the limits of its joint.
    """
    known = dict(named or {})
    bounds = joint_coordinates(robot)
    given = text.strip()
    if given in known:
        chosen = dict(known[given])
    else:
        words = given.strip('[]').replace(',', ' ').split()
        if '=' in given:
            chosen = _pairs(given, words, what)
        elif all(_is_number(word) for word in words):
            chosen = _numbers(robot, words, bounds, what)
        else:
            raise RobotError(
                f'{what}: expected {len(bounds)} numbers, joint=value pairs or the name of a '
                f'pose, found {quoted(given)}; names of poses: '
                f'{suggestion(given, known) if known else "none (a file in srdf has some)"}')
    followers = {joint.name: joint.mimic for joint in robot.joints if joint.mimic is not None}
    for name, position in chosen.items():
        if name not in followers:
            _check(robot, name, position, bounds, what)
    pose = _completed(robot, chosen)
    for name in followers.keys() & chosen.keys():
        mimic = followers[name]
        there = mimic.multiplier * pose[mimic.joint] + mimic.offset
        if not abs(chosen[name] - there) <= ROUNDED:
            raise RobotError(f'{what}: expected {there:g} for {cut(name)}, which follows '
                             f'{quoted(mimic.joint)} (<mimic>), found {chosen[name]:g}; give '
                             f'{cut(mimic.joint)} its position, or leave {cut(name)} out')
    return pose


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _pairs(given: str, words: list[str], what: str) -> Pose:
    found: Pose = {}
    for word in words:
        name, _, value = word.rpartition('=')
        if not name or not _is_number(value):
            raise RobotError(f'{what}: expected joint=value pairs, without spaces around =, '
                             f'found {quoted(word)} in {quoted(given)}')
        if name in found:
            raise RobotError(f'{what}: expected each joint once, found {quoted(name)} twice')
        found[name] = float(value)
    return found


def _numbers(robot: Robot, words: list[str], bounds: Mapping[str, Limits], what: str) -> Pose:
    if words and len(words) != len(bounds):
        raise RobotError(f'{what}: expected {len(bounds)} numbers, one a joint of '
                         f'{quoted(robot.name)} ({", ".join(map(cut, bounds))}), found '
                         f'{len(words)}')
    return dict(zip(bounds, map(float, words)))


def _check(robot: Robot, name: str, position: float, bounds: Mapping[str, Limits],
           what: str) -> None:
    if name not in bounds:
        kinds: dict[str, Joint] = {joint.name: joint for joint in robot.joints}
        why = (f', which is {kinds[name].type}' if name in kinds else
               f'; {suggestion(name, bounds)}')
        raise RobotError(f'{what}: expected the name of a joint that moves, found '
                         f'{quoted(name)}{why}')
    limits = bounds[name]
    if not (math.isfinite(position) and limits.lower <= position <= limits.upper):
        raise RobotError(f'{what}: expected {limits.lower:g} to {limits.upper:g} for {cut(name)} '
                         f'(its limits), found {position:g}')
