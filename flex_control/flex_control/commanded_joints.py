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
"""The joints that commands are for, where loops or supports make the others follow them."""
from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from flex_control.errors import ControlError
from flex_description import default_pose
from flex_dynamics import DynamicsError, Model
from flex_dynamics.simulation.command_limits import driven_places

FAR = 10.0        # rad or m by which joints that follow may move to close a loop
STEP = 0.1        # rad or m of a commanded joint between two closings

# What is found once for each model, as closing loops takes long.
_PLACES: WeakKeyDictionary[Model, list[int]] = WeakKeyDictionary()
_POSES: WeakKeyDictionary[Model, dict[int, list[np.ndarray]]] = WeakKeyDictionary()


def commanded_places(model: Model) -> list[int]:
    """Which joint coordinates are commanded, in order: those with a motor; with constraints, as
    many of them as determine all others. ControlError, with the reason, if they do not."""
    if not model.robot.constraints:
        return driven_places(model)
    if model not in _PLACES:
        _PLACES[model] = _determining_places(model)
    return list(_PLACES[model])


def _determining_places(model: Model) -> list[int]:
    names = model.independent_joints(start_pose(model))
    driven = {model.joint_names[place] for place in driven_places(model)}
    rolling = [name for name, kept in zip(model.constraint_names,
                                          model.assembly.constraints.holonomic) if not kept]
    if rolling:
        raise ControlError(
            f'robot {model.robot.name}: expected constraints that its joints fulfil at every '
            f'position, found {rolling[0]}, one of speeds alone: where wheels roll to depends on '
            'the way there; drive the wheels by joint_commands, without a control node')
    free = [name for name in names if name not in driven]
    if free:
        raise ControlError(f'robot {model.robot.name}: expected motors that determine all joints, '
                           f'found {free[0]}, which is free to move with all of '
                           f'{", ".join(sorted(driven)) or "no joint"} held')
    return sorted(model.names.index(name) for name in names)


def start_pose(model: Model) -> np.ndarray:
    """Coordinates (n,) with constraints closed at the default pose, links straight."""
    start = default_pose(model.robot)
    q = np.zeros(model.n)
    q[:model.n_joints] = [start[name] for name in model.joint_names]
    try:
        return np.asarray(model.close(q, FAR, model.names[model.n_joints:]).q)
    except DynamicsError as error:
        raise ControlError(f'robot {model.robot.name}: {error}') from None


class ClosedPoses:
    """Coordinates with straight links for positions of the commanded joints, by small steps from
    one to the next: of several ways to close a loop, the one that the robot can reach."""

    def __init__(self, model: Model) -> None:
        self._model, self.places = model, commanded_places(model)
        self._held = [model.names[k] for k in (*self.places, *range(model.n_joints, model.n))]
        self.start = start_pose(model)
        self._q = self.start.copy()

    def at(self, joints: np.ndarray) -> np.ndarray:
        """Coordinates (n,) at joints (n_joints,), of which the commanded ones count;
        DynamicsError if the constraints do not allow them."""
        begin = self._q[self.places]
        way = np.asarray(joints, dtype=float)[self.places] - begin
        count = max(1, int(np.ceil(np.abs(way).max(initial=0.0) / STEP)))
        q = self._q.copy()
        for k in range(1, count + 1):
            q[self.places] = begin + way * (k / count)
            q = np.asarray(self._model.close(q, FAR, self._held).q)
        self._q = q
        return q.copy()


def rigid_motion(model: Model, q: np.ndarray, places: list[int]) -> np.ndarray:
    """Speeds (n, k) of all coordinates per speed of each commanded joint, links not bending."""
    joints, motion = model.n_joints, np.zeros((model.n, len(places)))
    motion[places, range(len(places))] = 1.0
    others = np.setdiff1d(np.arange(joints), places)
    if model.robot.constraints and len(others):
        A = model.constraint_jacobian(q)
        motion[others] = -np.linalg.lstsq(A[:, others], A[:, places], rcond=1e-9)[0]
    return motion


def moved_inertia(model: Model, count: int) -> np.ndarray:
    """Largest inertia (n_joints,) that each commanded joint moves with all that follows it, kg m2
    or kg, over `count` poses within the limits; zero for the other joints."""
    places, largest = commanded_places(model), np.zeros(model.n_joints)
    for joints in closed_poses(model, count):
        q = np.zeros(model.n)
        q[:model.n_joints] = joints
        motion = rigid_motion(model, q, places)
        largest[places] = np.maximum(largest[places],
                                     np.diag(motion.T @ model.mass_matrix(q) @ motion))
    return largest


def closed_poses(model: Model, count: int) -> list[np.ndarray]:
    """Joint positions (n_joints,): the default pose, and up to `count` others within the limits
    that the constraints allow; drawn once for all with a fixed seed."""
    if count not in _POSES.get(model, {}):
        _POSES.setdefault(model, {})[count] = _drawn_poses(model, count)
    return [pose.copy() for pose in _POSES[model][count]]


def _drawn_poses(model: Model, count: int) -> list[np.ndarray]:
    closed, limits = ClosedPoses(model), model.joint_limits
    first = closed.start[:model.n_joints]
    lower, upper = np.maximum(limits.lower, first - np.pi), np.minimum(limits.upper, first + np.pi)
    found = [first.copy()]
    for draw in np.random.default_rng(0).uniform(0.0, 1.0, (count, model.n_joints)):
        try:
            q = closed.at(lower + draw * (upper - lower))[:model.n_joints]
        except DynamicsError:
            continue
        if (q >= limits.lower).all() and (q <= limits.upper).all():
            found.append(q)
    return found
