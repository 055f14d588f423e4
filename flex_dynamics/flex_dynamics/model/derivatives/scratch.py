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
"""Scratch memory of the derivatives: made when a Data is first asked for one of them."""
from __future__ import annotations

import numpy as np

from flex_dynamics.build.assemble import Assembly
from flex_dynamics.kernels.base.workspace import up_to_lanes
from flex_dynamics.kernels.derivatives.derivative_space import derivative_length


class DerivativeWork:
    """Arrays that the kernels of kernels/derivatives take beside their results."""

    def __init__(self, assembly: Assembly) -> None:
        packed, n = assembly.packed, len(assembly.names)
        full = n + int(packed.size[6])
        self.space = np.zeros(derivative_length(packed.size))
        self.force, self.applied = np.zeros(n), np.zeros(n)
        self.tau = np.zeros(packed.n_joints)
        self.by_q, self.by_v, self.mass = (np.zeros((full, full)) for _ in range(3))
        self.pivots = np.zeros(n, dtype=np.int64)
        self.columns, self.places = np.zeros((full, 6)), np.zeros((full, 2), dtype=np.int64)
        self.solved = np.zeros((n, up_to_lanes(2 * n + packed.n_joints)))
