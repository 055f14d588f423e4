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
"""Polynomials that are clamped at x = 0 and orthonormal: x^2 P_k (bending), x P_k (twist)."""
from __future__ import annotations

import numpy as np
from scipy.special import eval_jacobi

from flex_description.math import Array
from flex_description.shapes.base import ModeShapes


class ClampedPolynomials(ModeShapes):
    """phi_k = sqrt(2k + 2p + 1) s^p P_k(2s - 1), s = x/L, P_k Jacobi's polynomial (0, 2p).

    p = 2 for bending, 1 for twist. int phi_i phi_j dx = L for i = j, else 0. Scaled so that a
    Jacobi polynomial is evaluated by its recurrence: powers of x would lose all digits at 20.
    """

    def __init__(self, length: float, count: int, power: int) -> None:
        self.length, self.count, self.power = length, count, power

    def __call__(self, x: Array, derivative: int = 0) -> Array:
        s = np.atleast_1d(np.asarray(x, float)) / self.length
        p, k = self.power, np.arange(self.count)[:, None]
        factor: Array = np.sqrt(2.0 * k + 2.0 * p + 1.0)
        value: Array = eval_jacobi(k, 0.0, 2.0 * p, 2.0 * s - 1.0)
        if derivative == 0:
            return factor * s**p * value
        # d/dt P_k^(a,b) = (k + a + b + 1)/2 P_(k-1)^(a+1,b+1), and dt/ds = 2
        lower: Array = eval_jacobi(np.maximum(k - 1, 0), 1.0, 2.0 * p + 1.0, 2.0 * s - 1.0)
        first = (k + 2.0 * p + 1.0) * np.where(k > 0, lower, 0.0)
        if derivative == 1:
            return factor * (p * s**(p - 1) * value + s**p * first) / self.length
        lowest: Array = eval_jacobi(np.maximum(k - 2, 0), 2.0, 2.0 * p + 2.0, 2.0 * s - 1.0)
        second = (k + 2.0 * p + 1.0) * (k + 2.0 * p + 2.0) * np.where(k > 1, lowest, 0.0)
        bend = 2.0 * value if p == 2 else 0.0
        values: Array = factor * (bend + 2.0 * p * s**(p - 1) * first + s**p * second)
        return values / self.length**2
