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
"""Constrained motion in pseudo-velocities (Mladenova, section 6.3).

A system H qdd + h = Q + D has constraints A2 qd = 0 and reactions D = A2' Lambda. Its
pseudo-velocities are pid = A qd with A = [A1; A2]: the first m are free, the others zero. B = A^-1
= [B1, B2], its first m columns and the others ((239) prints a stack).
"""
from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from flex_dynamics.arrays import Array
from flex_dynamics.errors import DynamicsError


@dataclass(frozen=True)
class PseudoVelocities:
    """Coordinates of speeds on the constraints, at one state.

    A1 (m, n): the pseudo-velocities are A1 qd; A2 (n - m, n): the constraints are A2 qd = 0, rows
    independent; A1_rate and A2_rate: their time derivatives.
    """

    A1: Array
    A2: Array
    A1_rate: Array
    A2_rate: Array
    B1: Array = field(init=False)
    B2: Array = field(init=False)

    def __post_init__(self) -> None:
        A = np.vstack((self.A1, self.A2))
        if A.shape[0] != A.shape[1] or np.linalg.matrix_rank(A) < len(A):
            raise DynamicsError(f'pseudo-velocities: expected rows of A1 ({len(self.A1)}) and A2 '
                                f'({len(self.A2)}) that are independent, {A.shape[1]} in all')
        inverse = np.linalg.inv(A)
        object.__setattr__(self, 'B1', inverse[:, :len(self.A1)])
        object.__setattr__(self, 'B2', inverse[:, len(self.A1):])

    def velocity(self, pseudo: Array) -> Array:
        """qd (n,) of pseudo-velocities (m,): (245)."""
        return self.B1 @ pseudo

    def acceleration(self, pseudo: Array, pseudo_rate: Array) -> Array:
        """qdd (n,): (246)."""
        return self.B1 @ pseudo_rate - self._turning(pseudo)

    def motion(self, H: Array, h: Array, Q: Array, pseudo: Array) -> Array:
        """Rates of the pseudo-velocities (m,): (249), from (247)."""
        right = self.B1.T @ (H @ self._turning(pseudo) + Q - h)
        return np.asarray(np.linalg.solve(self.B1.T @ H @ self.B1, right), dtype=np.float64)

    def multipliers(self, H: Array, h: Array, Q: Array, acceleration: Array) -> Array:
        """Lambda (n - m,): (248)."""
        return self.B2.T @ (H @ acceleration + h - Q)

    def reactions(self, H: Array, h: Array, Q: Array, acceleration: Array) -> Array:
        """D (n,) of (242), which is what (250) gives."""
        return self.A2.T @ self.multipliers(H, h, Q, acceleration)

    def compatibility(self, H: Array, h: Array, Q: Array, U: Array, pseudo: Array) -> Array:
        """G U + g (n - m,), zero if and only if forces U keep the constraints (Theorem 5, (252);
        (253) with A2_rate qd for the printed A2 qdd)."""
        rate = self.A2_rate @ self.velocity(pseudo)
        return self.A2 @ np.linalg.solve(H, U + Q - h) + rate

    def _turning(self, pseudo: Array) -> Array:
        speed = self.velocity(pseudo)
        return self.B1 @ (self.A1_rate @ speed) + self.B2 @ (self.A2_rate @ speed)
