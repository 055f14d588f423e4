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
"""Reactions of constraints, as wrenches on the frames that they join."""
from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from flex_description import Loop, Support, Wheel
from flex_dynamics import checks
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.kernels.constraints.constraint_arrays import LINE_WIDTH
from flex_dynamics.model.backends.base import NO_FORCE
from flex_dynamics.model.backends.constrained import ConstrainedBackend
from flex_dynamics.model.loads import Loads, generalised_force

if TYPE_CHECKING:
    from flex_dynamics.model.data import Data
    from flex_dynamics.model.model import Model

DEPENDENT = 1e-9


class Reaction(NamedTuple):
    """What a constraint does to the links that it joins, in world axes.

    frames: the names of both, '' for the ground. first, second (6,): force (N) and moment (N m)
    on each, at the origin of its end (a wheel's centre), which first_point, second_point (3,) m
    say. The sum of the work of both is zero.
    """

    frames: tuple[str, str]
    first: Array
    second: Array
    first_point: Array
    second_point: Array


class ConstrainedAcceleration(NamedTuple):
    """acceleration (n,); multipliers (m,) of the rows, N or N m; rank: independent rows."""

    acceleration: Array
    multipliers: Array
    rank: int


def solve(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Loads | None,
          data: Data) -> tuple[ConstrainedAcceleration, Array]:
    """Acceleration and multipliers, with the lines (m, LINE_WIDTH) of the rows.

    Of redundant rows the multipliers are those of the least sum of squares: A' multipliers, the
    force on the robot, is the same for all.
    """
    backend = model.backend
    if not isinstance(backend, ConstrainedBackend):
        free = model.forward_dynamics(q, v, tau, wrenches, data)
        return ConstrainedAcceleration(free, np.zeros(0), 0), np.zeros((0, LINE_WIDTH))
    q, v = checks.state(model, q, v)
    tau = model.finite_vector(tau, 'tau', model.n_joints)
    external = NO_FORCE if wrenches is None else generalised_force(model, q, wrenches, data)
    solved = backend.solve(q, v, tau, external, data)
    multipliers = solved.multipliers.copy()
    if solved.rank < len(multipliers):
        vectors, values, _ = np.linalg.svd(backend.terms(q, v, data).A)
        size = values.max(initial=0.0)
        silent = vectors[:, int((values > DEPENDENT * size).sum()):]
        multipliers -= silent @ (silent.T @ multipliers)
    return (ConstrainedAcceleration(solved.acceleration, multipliers, solved.rank),
            solved.lines.copy())


def _frames(record: Loop | Wheel | Support) -> tuple[str, str]:
    if isinstance(record, Loop):
        return record.first.frame, record.second.frame
    return '', (record.centre if isinstance(record, Wheel) else record.point).frame


def reactions(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Loads | None,
              data: Data) -> dict[str, Reaction]:
    """Reactions by the name of the constraint."""
    solved, lines = solve(model, q, v, tau, wrenches, data)
    found: dict[str, Reaction] = {}
    if not len(lines):
        return found
    ends = data.backend_scratch.arrays.poses[:, 9:].copy()      # of this very state
    for part in model.assembly.constraints.parts:
        rows = slice(part.start, part.stop)
        alpha, first, second = (solved.multipliers[rows] @ lines[rows, k:k + 3] for k in (0, 3, 6))
        record = part.record
        found[record.name] = Reaction(_frames(record), np.concatenate((-alpha, first)),
                                      np.concatenate((alpha, second)), ends[part.first],
                                      ends[part.second])
    return found
