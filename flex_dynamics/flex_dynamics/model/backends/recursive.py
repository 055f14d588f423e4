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
"""Orders `first` and `second`: O(n) recursions over the tree, in compiled kernels."""
from __future__ import annotations

import numpy as np
from numba import types

from flex_dynamics.arrays import Array
from flex_dynamics.build import constant_matrices
from flex_dynamics.build.assemble import Assembly
from flex_dynamics.errors import DynamicsError
from flex_dynamics.kernels.base.finite import BAD_INPUT
from flex_dynamics.kernels.base.handle import HANDLE, MATRIX, NUMBERS
from flex_dynamics.kernels.derivatives.equilibrium import NO_EQUILIBRIUM
from flex_dynamics.kernels.derivatives.state_derivatives import (
    EQUILIBRIUM,
    FORWARD,
    INVERSE,
    state_derivatives,
)
from flex_dynamics.kernels.first_call import AtFirstCall
from flex_dynamics.kernels.tree.composite_mass_matrix import mass_and_coriolis
from flex_dynamics.kernels.tree.inverse_dynamics import inverse_dynamics
from flex_dynamics.kernels.tree.state_dynamics import accelerations
from flex_dynamics.model.backends.base import NO_FORCE
from flex_dynamics.model.data import Data

FORWARD_DYNAMICS = AtFirstCall(accelerations, HANDLE, *5 * [NUMBERS])
MASS_AND_CORIOLIS = AtFirstCall(mass_and_coriolis, HANDLE, NUMBERS, NUMBERS, MATRIX, MATRIX,
                                NUMBERS)
DERIVATIVES = AtFirstCall(state_derivatives, types.int64, HANDLE, *6 * [NUMBERS], MATRIX, NUMBERS,
                          HANDLE, *4 * [MATRIX])
NO_SLOPE = np.zeros((0, 0))


def force_derivatives(n: int, q: Array, v: Array, a: Array,
                      data: Data) -> tuple[Array, Array, Array]:
    """What Backend.force_derivatives gives, of a tree with or without followers."""
    work = data.derivatives
    DERIVATIVES.call(INVERSE, data.handle, work.space, q, v, a, work.tau, NO_FORCE, NO_SLOPE,
                     work.force, work.pivots, work.by_q, work.by_v, work.mass, work.solved)
    return work.by_q[:n, :n].copy(), work.by_v[:n, :n].copy(), work.mass[:n, :n].copy()


class RecursiveBackend:
    """The recursive kernels. See Backend for what the methods take and give."""

    name = 'recursive'

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._n = len(assembly.names)

    def rebuilt(self, assembly: Assembly) -> RecursiveBackend:
        return RecursiveBackend(assembly)

    def constant_matrices(self) -> tuple[Array, Array, Array]:
        return constant_matrices.all_matrices(self._assembly.packed)

    def create_scratch(self) -> None:
        return None

    def mass_matrix(self, q: Array, data: Data) -> Array:
        return self.matrices(q, np.zeros(self._n), data)[0]

    def matrices(self, q: Array, v: Array,
                 data: Data) -> tuple[Array, Array, Array]:
        n = self._n
        mass, coriolis, weight = np.empty((n, n)), np.empty((n, n)), np.empty(n)
        MASS_AND_CORIOLIS.call(data.handle, q, v, mass, coriolis, weight)
        return mass, coriolis, weight

    def inertial_force(self, q: Array, v: Array, a: Array,
                       data: Data) -> Array:
        force = np.empty(self._n)
        inverse_dynamics(*self._assembly.arrays, data.work, self._assembly.gravity, q, v, a, force)
        return force

    inverse_dynamics = inertial_force

    def forward_dynamics(self, q: Array, v: Array, tau: Array,
                         external: Array, data: Data) -> Array:
        acceleration = np.empty(self._n)
        status = FORWARD_DYNAMICS.call(data.handle, q, v, tau, external, acceleration)
        if status > 0:
            self._refuse_pivot(status, q, data)
        return acceleration

    def quick_forward_dynamics(self, q: Array, v: Array, tau: Array,
                               data: Data) -> Array | None:
        acceleration, status = np.empty(self._n), BAD_INPUT
        try:
            status = FORWARD_DYNAMICS.call(data.handle, q, v, tau, NO_FORCE, acceleration)
        except Exception:      # numba's, of several kinds, about arrays of other types
            return None
        return None if status else acceleration

    def force_derivatives(self, q: Array, v: Array, a: Array,
                          data: Data) -> tuple[Array, Array, Array]:
        return force_derivatives(self._n, q, v, a, data)

    def quick_forward_derivatives(self, q: Array, v: Array, tau: Array, external: Array,
                                  slope: Array, data: Data) -> tuple[Array, Array] | None:
        work, acceleration = data.derivatives, np.empty(self._n)
        try:
            status = DERIVATIVES.call(FORWARD, data.handle, work.space, q, v, acceleration, tau,
                                      external, slope, work.force, work.pivots, work.by_q,
                                      work.by_v, work.mass, work.solved)
        except Exception:      # numba's, of several kinds, about arrays of other types
            return None
        if status > 0:
            self._refuse_pivot(status, q, data)
        return None if status else (acceleration, work.solved)

    def quick_equilibrium(self, q: Array, data: Data) -> Array | None:
        work, tau = data.derivatives, np.empty(self._assembly.packed.n_joints)
        status = DERIVATIVES.call(EQUILIBRIUM, data.handle, work.space, q, q, work.applied, tau,
                                  NO_FORCE, NO_SLOPE, work.force, work.pivots, work.by_q,
                                  work.by_v, work.mass, work.solved)
        return None if status == NO_EQUILIBRIUM else tau

    def _refuse_pivot(self, status: int, q: Array, data: Data) -> None:
        """Turn a kernel's status at q into an error: 1 + a coordinate without inertia."""
        names = self._assembly.names
        where = f'mass matrix not positive definite at coordinate {names[status - 1]}'
        if q.any() and self._moves_mass_at_rest(data):
            first = self._assembly.packed.first_elastic
            first = first if q[first:].any() else 0      # a joint may turn many times
            largest = first + int(np.argmax(np.abs(q[first:])))
            raise DynamicsError(
                f'{where} in this position: expected positions that the robot can take, found '
                f'{q[largest]:.3g} for {names[largest]}, the largest; at q = 0 every '
                'coordinate moves mass')
        raise DynamicsError(f'{where}: it moves no mass; give the links behind it an inertia')

    def _moves_mass_at_rest(self, data: Data) -> bool:
        """Whether M is positive definite at q = 0, to rounding."""
        mass = self.mass_matrix(np.zeros(self._n), data)
        scale = np.sqrt(np.diag(mass))
        return bool((scale > 0.0).all()) and bool(
            np.linalg.eigvalsh(mass / np.outer(scale, scale))[0] > 1e-14)
