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
"""Terms by the exported function of a symbolic derivation."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dpotrf

from flex_dynamics.arrays import Array
from flex_dynamics.build.assemble import Assembly
from flex_dynamics.errors import DynamicsError
from flex_dynamics.model.backends.dense import DenseBackend
from flex_dynamics.model.data import Data

Terms = Callable[[Array, Array], tuple[Array, Array, Array]]


class ExportedBackend(DenseBackend):
    """M, C and g of a function (q, v); K and B of its derivation. See Backend for the methods;
    who exports the function also knows how to derive it for another assembly (rebuilt)."""

    name = 'exported'

    def __init__(self, assembly: Assembly, function: Terms, stiffness: Array,
                 inputs: Array) -> None:
        super().__init__(assembly)
        self._function = function
        self._stiffness, self._inputs = stiffness, inputs

    def constant_matrices(self) -> tuple[Array, Array, Array]:
        return self._stiffness.copy(), super().constant_matrices()[1], self._inputs.copy()

    def create_scratch(self) -> None:
        return None

    def terms(self, q: Array, v: Array,
              data: Data) -> tuple[Array, Array, Array]:
        return self._function(q, v)

    def mass_matrix(self, q: Array, data: Data) -> Array:
        mass = self._function(q, np.zeros(self._n))[0]
        self._factor(mass, q, data)
        return mass

    def inverse_dynamics(self, q: Array, v: Array, a: Array,
                         data: Data) -> Array:
        return self.inertial_force(q, v, a, data)

    def _factor(self, mass: Array, q: Array, data: Data) -> Array:
        if not np.isfinite(mass).all():
            raise DynamicsError('mass matrix: expected finite numbers; the state is not finite')
        factor: Array
        factor, pivot = dpotrf(mass, lower=1)
        if pivot:
            reason = ("the deflections are too large for order 'linear', or it moves no mass"
                      if self._assembly.order == 'linear' else 'it moves no mass')
            raise DynamicsError('mass matrix not positive definite at coordinate '
                                f'{self._assembly.names[pivot - 1]}: {reason}')
        return factor
