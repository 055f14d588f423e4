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
"""A robot on a base that floats in parts: base, reaction wheels, and the arm on a fixed base."""
from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from flex_control.errors import ControlError
from flex_description import Joint, Robot
from flex_dynamics import Model

OFF_AXIS = 1e-4      # m, of a wheel's centre of mass from its axis
UNEQUAL = 1e-3       # of a wheel's inertia: difference of the two across its axis
LEAST_ANGLE = 0.05   # singular value of the wheels' axes: with less they do not span three axes


@dataclass(frozen=True)
class FreeFlyer:
    """base: the link that floats. base_places (6,), wheel_places (k,), arm_places (m,): joint
    coordinates. axes (3, k): of the wheels, in the base link's axes. arm: the same robot with the
    base and the wheels fixed, or None if it has no joints then; arm_elastic (n - n_joints of it,):
    where its elastic coordinates are among those of the robot."""

    base: str
    base_places: np.ndarray
    wheel_places: np.ndarray
    arm_places: np.ndarray
    axes: np.ndarray
    arm: Model | None
    arm_elastic: np.ndarray


def free_flyer(model: Model, wheels: list[str], thrusters: bool) -> FreeFlyer:
    """Take a robot apart; wheels: names of joints, empty: all that are reaction wheels. thrusters:
    they turn the base, so that no wheels are needed.
    ControlError, with the reason, if attitude control is not for it."""
    robot = model.robot
    root = next((joint for joint in robot.joints if joint.type == 'floating'), None)
    if root is None:
        raise ControlError(f'attitude: expected a base that floats, found none in robot '
                           f'{robot.name}: join its base to a world link by a floating joint, or '
                           'use pid')
    if np.linalg.norm(robot.gravity) > 0.0:
        raise ControlError(f'attitude: expected no gravity, found {robot.gravity} m/s2 in robot '
                           f'{robot.name}, in which a base without thrusters falls: add '
                           '<gravity xyz="0 0 0"/>')
    chosen = _chosen(robot, root.child, wheels)
    names = list(model.joint_names)
    axes = np.array([joint.origin[:3, :3] @ joint.axis for joint in chosen]).reshape(-1, 3).T
    sizes = np.linalg.svd(axes, compute_uv=False) if chosen else np.zeros(0)
    if not thrusters and (len(sizes) < 3 or sizes[2] < LEAST_ANGLE):
        raise ControlError(
            f'attitude: expected reaction wheels about three axes on {root.child}, found '
            f'{", ".join(joint.name for joint in chosen) or "none"}: a reaction wheel is a '
            'continuous joint of the base whose link is balanced and symmetric about its axis, '
            'and carries nothing; for a base with thrusters give thruster_moment')
    wheel_places = np.array([names.index(joint.name) for joint in chosen], dtype=int)
    base_places = np.array([at for at, name in enumerate(names)
                            if name.startswith(f'{root.name}/')])
    arm_places = np.array([at for at in range(model.n_joints)
                           if at not in {*wheel_places, *base_places}], dtype=int)
    held = {root.name, *(joint.name for joint in chosen)}
    arm = None
    if arm_places.size:
        arm = Model(replace(robot, joints=tuple(
            replace(joint, type='fixed') if joint.name in held else joint
            for joint in robot.joints)), order=model.order)
    own = list(model.names)
    elastic = [] if arm is None else [own.index(name) for name in arm.names[arm.n_joints:]]
    return FreeFlyer(root.child, base_places, wheel_places, arm_places, axes, arm,
                     np.array(elastic, dtype=int))


def _chosen(robot: Robot, base: str, wheels: list[str]) -> list[Joint]:
    joints = {joint.name: joint for joint in robot.joints}
    for name in wheels:
        if name not in joints:
            raise ControlError(f'attitude: wheels: expected joints of robot {robot.name}, found '
                               f'{name!r}')
        if why := _no_wheel(robot, joints[name], base):
            raise ControlError(f'attitude: wheels: expected a reaction wheel, found joint {name}: '
                               f'{why}')
    if wheels:
        return [joints[name] for name in wheels]
    return [joint for joint in robot.joints if not _no_wheel(robot, joint, base)]


def _no_wheel(robot: Robot, joint: Joint, base: str) -> str:
    """Why a joint is no reaction wheel; empty if it is one."""
    if joint.type != 'continuous' or joint.passive or joint.mimic or joint.flexible:
        return 'it is no continuous joint with a motor of its own'
    if joint.parent != base:
        return f'it is not on {base}'
    link = next(link for link in robot.links if link.name == joint.child)
    if link.flexible or link.inertia is None or any(
            other.parent == link.name for other in robot.joints):
        return 'its link has no inertia, bends, or carries another one'
    centre, tensor = link.inertia.centre, link.inertia.tensor
    axis = joint.axis
    if np.linalg.norm(centre - axis * (axis @ centre)) > OFF_AXIS:
        return 'its centre of mass is off its axis'
    across = np.eye(3) - np.outer(axis, axis)
    flat = across @ tensor @ across
    mean = 0.5 * np.trace(flat) * across
    if (np.linalg.norm(flat - mean) > UNEQUAL * np.trace(tensor)
            or np.linalg.norm(across @ tensor @ axis) > UNEQUAL * np.trace(tensor)):
        return 'its inertia is not symmetric about its axis'
    return ''
