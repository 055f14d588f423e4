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
"""Orders `first` and `second` of robots with loops, wheels or supports."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from flex_dynamics.arrays import Array
from flex_dynamics.build.assemble import Assembly
from flex_dynamics.kernels.base.finite import BAD_INPUT
from flex_dynamics.kernels.base.handle import HANDLE, MATRIX, NUMBERS
from flex_dynamics.kernels.base.layout import PARENT
from flex_dynamics.kernels.constraints.constrained_dynamics import constrained_accelerations
from flex_dynamics.kernels.constraints.constraint_arrays import (
    Constraints,
    constraint_addresses,
)
from flex_dynamics.kernels.constraints.constraint_rows import constraint_terms
from flex_dynamics.kernels.derivatives.constraint_derivatives import (
    CHANGES,
    END_WIDTH,
    PULL,
    constraint_derivatives,
)
from flex_dynamics.kernels.first_call import AtFirstCall
from flex_dynamics.model.backends.base import NO_FORCE, Backend
from flex_dynamics.model.backends.recursive import RecursiveBackend
from flex_dynamics.model.data import Data

CONSTRAINED_DYNAMICS = AtFirstCall(constrained_accelerations, HANDLE, HANDLE, *5 * [NUMBERS])
CONSTRAINT_TERMS = AtFirstCall(constraint_terms, HANDLE, HANDLE, NUMBERS, NUMBERS)
CONSTRAINT_DERIVATIVES = AtFirstCall(constraint_derivatives, HANDLE, HANDLE, *5 * [NUMBERS],
                                     MATRIX, MATRIX, types.Array(types.float64, 3, 'C'),
                                     *3 * [MATRIX])


class ConstraintWork(NamedTuple):
    """What Data.backend_scratch holds: the arrays of the constraints, and their handle."""

    arrays: Constraints
    handle: Array


class Solved(NamedTuple):
    """Accelerations (n,), multipliers (m,) and lines (m, LINE_WIDTH), the last two in scratch
    memory; rank: number of independent rows; order (m,): rows by their pivots, the dependent ones
    last."""

    acceleration: Array
    multipliers: Array
    lines: Array
    rank: int
    order: Array


class ConstraintSlopes(NamedTuple):
    """Derivatives of A a + A_rate v by q and by v (m, n), and of A'l by q (n, n) but for what the
    change of the ends' own Jacobians does: pulls (ends, 6), force and moment on each, are for it.
    """

    by_q: Array
    by_v: Array
    force: Array
    pulls: Array


class ConstrainedBackend(RecursiveBackend):
    """The tree's recursions, with the forces that keep the constraints in forward dynamics alone:
    all other terms are those of the tree. See Backend for the methods."""

    name = 'constrained'

    def rebuilt(self, assembly: Assembly) -> ConstrainedBackend:
        return ConstrainedBackend(assembly)

    def create_scratch(self) -> ConstraintWork:  # type: ignore[override]
        parents = self._assembly.packed.table[:, PARENT]
        arrays = self._assembly.constraints.arrays(parents, self._n)
        return ConstraintWork(arrays, np.array(constraint_addresses(arrays), dtype=np.int64))

    def solve(self, q: Array, v: Array, tau: Array, external: Array, data: Data) -> Solved:
        """Accelerations with what keeps the constraints."""
        work: ConstraintWork = data.backend_scratch
        acceleration = np.empty(self._n)
        status, rank = CONSTRAINED_DYNAMICS.call(data.handle, work.handle, q, v, tau, external,
                                                 acceleration)
        if status > 0:
            self._refuse_pivot(status, q, data)
        c = work.arrays
        return Solved(acceleration, c.multiplier, c.lines, rank, c.order)

    def terms(self, q: Array, v: Array, data: Data) -> Constraints:
        """Arrays whose error, A, A_rate and lines are those at q and v; in scratch memory."""
        work: ConstraintWork = data.backend_scratch
        CONSTRAINT_TERMS.call(data.handle, work.handle, q, v)
        return work.arrays

    def slopes(self, q: Array, v: Array, a: Array, multipliers: Array,
               data: Data) -> ConstraintSlopes:
        """What constraints add to derivatives at accelerations a (n,) and multipliers (m,)."""
        work: ConstraintWork = data.backend_scratch
        n, ends, m = self._n, len(work.arrays.end_nodes), len(multipliers)
        motion, second = np.empty((ends, END_WIDTH)), np.empty((ends, 6, n))
        found = np.empty((m, n)), np.empty((m, n)), np.empty((n, n))
        CONSTRAINT_DERIVATIVES.call(data.handle, work.handle, data.derivatives.space, q, v, a,
                                    multipliers, np.empty((CHANGES, 4)), motion, second, *found)
        return ConstraintSlopes(*found, motion[:, PULL:PULL + 6])

    def forward_dynamics(self, q: Array, v: Array, tau: Array,
                         external: Array, data: Data) -> Array:
        return self.solve(q, v, tau, external, data).acceleration

    def quick_forward_dynamics(self, q: Array, v: Array, tau: Array,
                               data: Data) -> Array | None:
        acceleration, status = np.empty(self._n), BAD_INPUT
        try:
            status, _ = CONSTRAINED_DYNAMICS.call(data.handle, data.backend_scratch.handle, q, v,
                                                  tau, NO_FORCE, acceleration)
        except Exception:      # numba's, of several kinds, about arrays of other types
            return None
        return None if status else acceleration

    def quick_forward_derivatives(self, q: Array, v: Array, tau: Array, external: Array,
                                  slope: Array, data: Data) -> None:
        return None


def support_poses(backend: Backend, q: Array, data: Data) -> dict[str, Array]:
    """Where the points of all supports are at q, poses (4, 4) in the world by name."""
    assert isinstance(backend, ConstrainedBackend)
    arrays, found = backend.terms(q, np.zeros(len(q)), data), {}
    for part in data.assembly.constraints.parts:
        pose = np.eye(4)
        pose[:3, :3] = arrays.poses[part.second, :9].reshape(3, 3)
        pose[:3, 3] = arrays.poses[part.second, 9:]
        found[part.record.name] = pose
    return found
