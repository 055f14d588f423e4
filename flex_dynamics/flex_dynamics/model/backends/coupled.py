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
"""Orders `first` and `second` of robots with followers (<mimic>): joints share coordinates."""
from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf

from flex_dynamics.arrays import Array
from flex_dynamics.build.assemble import Assembly
from flex_dynamics.errors import DynamicsError
from flex_dynamics.kernels.base.handle import HANDLE, MATRIX, NUMBERS, prepare
from flex_dynamics.kernels.tree.composite_mass_matrix import mass_and_coriolis
from flex_dynamics.kernels.tree.inverse_dynamics import inverse_dynamics
from flex_dynamics.model.backends.dense import DenseBackend
from flex_dynamics.model.backends.recursive import force_derivatives
from flex_dynamics.model.data import Data


class CoupledBackend(DenseBackend):
    """T'M T, T'C T and T'g of composite bodies, solved with Cholesky: the recursion eliminates a
    joint where it is, which a coordinate of several joints does not allow. See Backend for the
    methods."""

    name = 'coupled'

    def __init__(self, assembly: Assembly) -> None:
        super().__init__(assembly)
        prepare(mass_and_coriolis, HANDLE, NUMBERS, NUMBERS, MATRIX, MATRIX, NUMBERS)
        self._full = self._n + int(assembly.packed.size[6])

    def rebuilt(self, assembly: Assembly) -> CoupledBackend:
        return CoupledBackend(assembly)

    def create_scratch(self) -> None:
        return None

    def terms(self, q: Array, v: Array,
              data: Data) -> tuple[Array, Array, Array]:
        n, full = self._n, self._full
        mass, coriolis, weight = np.empty((full, full)), np.empty((full, full)), np.empty(full)
        mass_and_coriolis(data.handle, q, v, mass, coriolis, weight)
        return mass[:n, :n].copy(), coriolis[:n, :n].copy(), weight[:n].copy()

    def matrices(self, q: Array, v: Array,
                 data: Data) -> tuple[Array, Array, Array]:
        return self.terms(q, v, data)

    def mass_matrix(self, q: Array, data: Data) -> Array:
        return self.terms(q, np.zeros(self._n), data)[0]

    def inertial_force(self, q: Array, v: Array, a: Array,
                       data: Data) -> Array:
        force = np.empty(self._n)
        inverse_dynamics(*self._assembly.arrays, data.work, self._assembly.gravity, q, v, a, force)
        return force

    inverse_dynamics = inertial_force

    def force_derivatives(self, q: Array, v: Array, a: Array,
                          data: Data) -> tuple[Array, Array, Array]:
        return force_derivatives(self._n, q, v, a, data)

    def _factor(self, mass: Array, q: Array, data: Data) -> Array:
        factor: Array
        factor, pivot = dpotrf(mass, lower=1)
        if pivot:
            raise DynamicsError(
                'mass matrix not positive definite at coordinate '
                f'{self._assembly.names[pivot - 1]}: it moves no mass, or the robot cannot take '
                'this position; give the links behind it, or behind its followers, an inertia')
        return factor
