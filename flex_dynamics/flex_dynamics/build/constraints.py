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
"""Loops, wheels and supports of a robot as rows of the kernels' arrays."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from flex_description import Attachment, Loop, Robot, Support, Wheel
from flex_dynamics.kernels.constraints.constraint_arrays import (
    ALONG,
    DISTANCE,
    EDGE,
    HEIGHT,
    NUMBERS_WIDTH,
    POINT,
    ROLL,
    SIDE,
    TURN,
    Constraints,
    make_constraints,
)

AXES = tuple(np.eye(3))
# Pairs of axes that are perpendicular in frames of equal orientation: first end, second end
TURNS = ((1, 2), (2, 0), (0, 1))
Place = Callable[[Attachment], tuple[int, np.ndarray]]


@dataclass(frozen=True)
class ConstraintRows:
    """Rows of one constraint: `start` to `stop` of all rows, and its two ends."""

    record: Loop | Wheel | Support
    start: int
    stop: int
    first: int
    second: int


@dataclass(eq=False)
class ConstraintSet:
    """All constraints of a robot: arrays as kernels/constraints/constraint_arrays.py has them.

    names (m,): of the rows, such as 'pin/x' or 'pin/turn_1'. angular (m,): rows whose error is an
    angle (rad), the others are in m.
    """

    parts: list[ConstraintRows] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    end_nodes: list[int] = field(default_factory=list)
    end_poses: list[np.ndarray] = field(default_factory=list)
    rows: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    numbers: list[np.ndarray] = field(default_factory=list)

    @property
    def angular(self) -> np.ndarray:
        return np.array([row[0] == TURN for row in self.rows], dtype=bool)

    @property
    def holonomic(self) -> np.ndarray:
        """Rows (m,) that positions keep, not speeds alone."""
        return np.array([bool(row[3]) for row in self.rows], dtype=bool)

    def arrays(self, parents: np.ndarray, n: int) -> Constraints:
        """Arrays with scratch memory for a tree of nodes with these parents, and n coordinates.
        """
        return make_constraints(np.array(self.end_nodes), np.array(self.end_poses),
                                np.array(self.rows), np.array(self.numbers), parents, n)

    def add_end(self, node: int, pose: np.ndarray) -> int:
        self.end_nodes.append(node)
        self.end_poses.append(np.concatenate((pose[:3, :3].ravel(), pose[:3, 3])))
        return len(self.end_nodes) - 1

    def add_rows(self, record: Loop | Wheel | Support, first: int, second: int,
                 rows: list[tuple[str, int, np.ndarray]], active: bool = True) -> None:
        start = len(self.rows)
        for name, kind, numbers in rows:
            self.names.append(f'{record.name}/{name}')
            self.rows.append((kind, first, second, int(kind not in (ROLL, SIDE, EDGE)),
                              int(active)))
            self.numbers.append(numbers)
        self.parts.append(ConstraintRows(record, start, len(self.rows), first, second))


def constraint_set(robot: Robot, place: Place,
                   home: Callable[[int], np.ndarray]) -> ConstraintSet:
    """Rows of all constraints; place: node (-1: the world) that carries an attachment, and its
    pose (4, 4) there; home: pose (4, 4) of a node in the world at q = 0."""
    found = ConstraintSet()
    world = found.add_end(-1, np.eye(4)) if robot.constraints else -1
    for loop in robot.loops:
        first, second = found.add_end(*place(loop.first)), found.add_end(*place(loop.second))
        found.add_rows(loop, first, second, _loop_rows(loop))
    for wheel in robot.wheels:
        found.add_rows(wheel, world, found.add_end(*place(wheel.centre)), _wheel_rows(wheel))
    for support in robot.supports:
        node, offset = place(support.point)
        anchor = home(node) @ offset if support.at is None else support.at
        found.add_rows(support, found.add_end(-1, anchor), found.add_end(node, offset),
                       _points() + (_welded() if support.type == 'flat' else []), support.active)
    return found


def _numbers(a: np.ndarray, b: np.ndarray | None = None, radius: float = 0.0,
             height: float = 0.0) -> np.ndarray:
    numbers = np.zeros(NUMBERS_WIDTH)
    numbers[:3] = a
    numbers[3:6] = 0.0 if b is None else b
    numbers[6:] = radius, height
    return numbers


def _points() -> list[tuple[str, int, np.ndarray]]:
    return [(name, POINT, _numbers(axis)) for name, axis in zip('xyz', AXES, strict=True)]


def _welded() -> list[tuple[str, int, np.ndarray]]:
    return [(f'turn_{name}', TURN, _numbers(AXES[a], AXES[b]))
            for name, (a, b) in zip('xyz', TURNS, strict=True)]


def _across(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors perpendicular to an axis and to each other."""
    helper = AXES[int(np.argmin(np.abs(axis)))]
    one = np.cross(axis, helper)
    one /= np.linalg.norm(one)
    return one, np.cross(axis, one)


def _loop_rows(loop: Loop) -> list[tuple[str, int, np.ndarray]]:
    if loop.type == 'distance':
        assert loop.length is not None
        return [('distance', DISTANCE, _numbers(np.zeros(3), None, loop.length))]
    if loop.type == 'ball':
        return _points()
    if loop.type == 'weld':
        return _points() + _welded()
    assert loop.axis is not None
    if loop.type == 'universal':
        assert loop.axis2 is not None
        return [*_points(), ('turn', TURN, _numbers(loop.axis, loop.axis2))]
    one, two = _across(loop.axis)
    if loop.type == 'revolute':
        return [*_points(), ('turn_1', TURN, _numbers(one, loop.axis)),
                ('turn_2', TURN, _numbers(two, loop.axis))]
    return [('across_1', ALONG, _numbers(one)), ('across_2', ALONG, _numbers(two)), *_welded()]


def _wheel_rows(wheel: Wheel) -> list[tuple[str, int, np.ndarray]]:
    numbers = _numbers(wheel.axis, wheel.normal, wheel.radius, wheel.height)
    if wheel.type == 'knife_edge':
        return [('height', HEIGHT, numbers), ('side', EDGE, numbers)]
    if wheel.type == 'castor':
        return [('height', HEIGHT, numbers)]
    return [('height', HEIGHT, numbers), ('roll', ROLL, numbers), ('side', SIDE, numbers)]
