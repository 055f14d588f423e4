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
"""Constraints of loops, wheels and supports as rows of the speeds, A2(q) v = 0, on a tape.

The rows are those of kernels/constraints/constraint_rows.py, so that their multipliers are the
numeric model's.
"""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flex_dynamics.kernels.constraints.constraint_arrays import (
    ALONG,
    DISTANCE,
    EDGE,
    HEIGHT,
    POINT,
    ROLL,
    TURN,
)
from flex_dynamics.symbolic.expressions.compact import Compact
from flex_dynamics.symbolic.expressions.vectors import clean, scalars, times, to_child
from flex_dynamics.symbolic.methods.lagrange import node_motion
from flex_dynamics.symbolic.methods.problem import Problem


class Frames:
    """Poses in the world and Jacobians of all nodes of a problem."""

    def __init__(self, problem: Problem, compact: Compact) -> None:
        self.problem, self._compact = problem, compact
        self._poses: list[tuple[np.ndarray, np.ndarray]] = []
        self._columns: list[dict[int, np.ndarray]] = []
        for body in problem.bodies:
            R, p, own = node_motion(problem, body)
            above = ((np.eye(3).astype(object), scalars(3)) if body.parent < 0
                     else self._poses[body.parent])
            inherited = self._columns[body.parent] if body.parent >= 0 else {}
            self._poses.append((compact(above[0] @ R), compact(above[1] + above[0] @ p)))
            self._columns.append({**{k: compact(to_child(R, p, column))
                                     for k, column in inherited.items()}, **own})

    def pose(self, node: int, offset: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """R (3, 3) and p (3,) in the world of a frame at `offset` (4, 4) in a node; -1: world."""
        turn, move = clean(offset[:3, :3]).astype(object), clean(offset[:3, 3]).astype(object)
        if node < 0:
            return turn, move
        R, p = self._poses[node]
        return self._compact(R @ turn), self._compact(p + R @ move)

    def twists(self, node: int, offset: np.ndarray, world: bool) -> np.ndarray:
        """Jacobian (6, n) of such a frame, linear rows first; in world axes or in its own."""
        out = scalars((6, self.problem.n))
        if node < 0:
            return out
        turn, move = clean(offset[:3, :3]).astype(object), clean(offset[:3, 3]).astype(object)
        axes = self._poses[node][0] if world else turn.T
        for k, column in self._columns[node].items():
            out[:3, k] = axes @ (column[3:] + times(column[:3], move))
            out[3:, k] = axes @ column[:3]
        return self._compact(out)


def constraint_rows(frames: Frames, rows: Sequence[int], compact: Compact) -> np.ndarray:
    """A2 (len(rows), n): rows of the model's constraints, by number."""
    problem = frames.problem
    found = problem.model.assembly.constraints
    out = scalars((len(rows), problem.n))
    for at, row in enumerate(rows):
        kind, *ends = found.rows[row][:3]
        places = []
        for end in ends:
            pose = np.eye(4)
            pose[:3, :3] = np.reshape(found.end_poses[end][:9], (3, 3))
            pose[:3, 3] = found.end_poses[end][9:]
            places.append((found.end_nodes[end], pose))
        (R1, p1), (R2, p2) = (frames.pose(*place) for place in places)
        J1, J2 = (frames.twists(*place, world=True) for place in places)
        force, first, second = _line(problem.tape, kind, clean(found.numbers[row]), R1, p1, R2, p2,
                                     compact)
        out[at] = force @ (J2[:3] - J1[:3]) + first @ J1[3:] + second @ J2[3:]
    return compact(out)


def _line(tape, kind: int, numbers: np.ndarray, R1, p1, R2, p2, compact: Compact):
    """Factors (3,) of the relative speed of the ends and of their angular velocities."""
    a, b, zero = numbers[:3].astype(object), numbers[3:6].astype(object), scalars(3)
    if kind == POINT:
        return a, zero, zero
    if kind == ALONG:
        along = compact(R1 @ a)
        return along, times(along, p2 - p1), zero
    if kind == TURN:
        moment = times(R1 @ a, R2 @ b)
        return zero, moment, -moment
    if kind == DISTANCE:
        return (p2 - p1) * (1.0 / numbers[6]), zero, zero
    return _wheel_line(tape, kind, numbers, R2, compact)


def _wheel_line(tape, kind: int, numbers: np.ndarray, R, compact: Compact):
    axis, normal, radius = compact(R @ numbers[:3]), numbers[3:6].astype(object), numbers[6]
    lean = compact.element(axis @ normal)
    by = tape.reciprocal(tape.sqrt(compact.element(1.0 - lean * lean)))
    heading = by * (axis - lean * normal) if kind == EDGE else by * times(axis, normal)
    if kind == HEIGHT:
        along = normal
    else:
        along = compact(heading if kind == ROLL else times(normal, heading))
    upward = by * (normal - lean * axis)         # from the ground to the centre of the wheel
    return along, scalars(3), -float(radius) * times(upward, along)
