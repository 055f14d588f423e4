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
"""What backends share that have M, C and g in full and solve with Cholesky."""
from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.linalg.lapack import dpotrs

from flex_dynamics.arrays import Array
from flex_dynamics.build import constant_matrices
from flex_dynamics.build.assemble import Assembly
from flex_dynamics.kernels.tree.applied_forces import applied_forces
from flex_dynamics.model.backends.stencils import STEP, by_position, by_speed, turns
from flex_dynamics.model.data import Data


class DenseBackend(ABC):
    """Terms in full. See Backend for what the methods take and give."""

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._n = len(assembly.names)

    @abstractmethod
    def terms(self, q: Array, v: Array,
              data: Data) -> tuple[Array, Array, Array]:
        """M (n, n), C (n, n) and g (n,), whether or not M is positive definite."""

    @abstractmethod
    def _factor(self, mass: Array, q: Array, data: Data) -> Array:
        """Lower Cholesky factor of M at q; DynamicsError where there is none."""

    def constant_matrices(self) -> tuple[Array, Array, Array]:
        return constant_matrices.all_matrices(self._assembly.packed)

    def matrices(self, q: Array, v: Array,
                 data: Data) -> tuple[Array, Array, Array]:
        mass, coriolis, _ = self.terms(q, v, data)
        self._factor(mass, q, data)
        still = np.zeros(self._n)
        return mass, coriolis, self.inertial_force(q, still, still, data)

    def inertial_force(self, q: Array, v: Array, a: Array,
                       data: Data) -> Array:
        mass, coriolis, force = self.terms(q, v, data)
        return mass @ a + coriolis @ v + force

    def forward_dynamics(self, q: Array, v: Array, tau: Array,
                         external: Array, data: Data) -> Array:
        applied = np.empty(self._n)
        applied_forces(*self._assembly.arrays[:3], q, v, tau, applied)
        if external.size:
            applied = applied + external
        mass, coriolis, force = self.terms(q, v, data)
        factor = self._factor(mass, q, data)
        solved: Array = dpotrs(factor, applied - coriolis @ v - force, lower=1)[0]
        return solved

    def force_derivatives(self, q: Array, v: Array, a: Array,
                          data: Data) -> tuple[Array, Array, Array]:
        """By differences of eighth order, good to 1e-9: only exported functions come here."""
        scales = turns(self._assembly)

        def force(q: Array, v: Array, a: Array) -> Array:
            return self.inertial_force(q, v, a, data)

        return (by_position(force, q, v, a, STEP / scales), by_speed(force, q, v, 1.0 / scales),
                self.terms(q, v, data)[0])

    def quick_forward_derivatives(self, q: Array, v: Array, tau: Array, external: Array,
                                  slope: Array, data: Data) -> None:
        return None

    def quick_equilibrium(self, q: Array, data: Data) -> None:
        return None

    def quick_forward_dynamics(self, q: Array, v: Array, tau: Array,
                               data: Data) -> Array | None:
        return None
