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
"""What every backend of a model can do."""
from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from flex_dynamics.arrays import Array
from flex_dynamics.build.assemble import Assembly
from flex_dynamics.model.data import Data

NO_FORCE = np.zeros(0)


class Backend(Protocol):
    """M, C, g and accelerations of one model.

    Vectors have been checked: contiguous float64 arrays (n,) of finite numbers, tau (n_joints,).
    data: scratch memory of the calling thread. Arrays that are returned are new.
    """

    name: str                  # 'recursive', 'coupled', 'linear' or 'exported'

    def rebuilt(self, assembly: Assembly) -> Backend:
        """The same kind of backend for other payloads, gravity or sections."""

    def constant_matrices(self) -> tuple[Array, Array, Array]:
        """K (n, n), D (n, n) and B (n, n_joints), once the damping is in the arrays."""

    def create_scratch(self) -> Any:
        """What Data.backend_scratch holds for this backend."""

    def mass_matrix(self, q: Array, data: Data) -> Array:
        """M (n, n)."""

    def matrices(self, q: Array, v: Array,
                 data: Data) -> tuple[Array, Array, Array]:
        """M (n, n), C (n, n) and g (n,)."""

    def inertial_force(self, q: Array, v: Array, a: Array,
                       data: Data) -> Array:
        """M a + C v + g (n,), whether or not M is positive definite."""

    def inverse_dynamics(self, q: Array, v: Array, a: Array,
                         data: Data) -> Array:
        """M a + C v + g (n,); DynamicsError where M must be positive definite and is not."""

    def forward_dynamics(self, q: Array, v: Array, tau: Array,
                         external: Array, data: Data) -> Array:
        """Accelerations (n,). external: generalised forces (n,), or empty."""

    def quick_forward_dynamics(self, q: Array, v: Array, tau: Array,
                               data: Data) -> Array | None:
        """Accelerations of arrays that have not been checked; None if they have to be."""

    def force_derivatives(self, q: Array, v: Array, a: Array,
                          data: Data) -> tuple[Array, Array, Array]:
        """d(M a + C v + g) by q and by v, and M, (n, n) each."""

    def quick_forward_derivatives(self, q: Array, v: Array, tau: Array, external: Array,
                                  slope: Array, data: Data) -> tuple[Array, Array] | None:
        """Accelerations (n,) and (n, 2 n + n_joints or more) their derivatives by q, v and tau,
        side by side, in scratch memory; None of a backend without such a kernel, and of arrays
        that have to be checked. slope (n, n): derivative of the external forces by q, or empty.
        """

    def quick_equilibrium(self, q: Array, data: Data) -> Array | None:
        """Efforts (n_joints,) that hold the joints, with motors and amplitudes of q at their
        equilibrium; None if there is no kernel, or if it finds none."""
