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
"""Sums of cos, sin and two decaying exponentials: the closed forms of a uniform beam.

cosh and sinh of a high mode overflow or cancel; e^(-bx) and e^(-b(L - x)) span the same space and
stay between 0 and 1.
"""
from __future__ import annotations

import numpy as np

from flex_description.math import Array, gauss_stations
from flex_description.shapes.base import ModeShapes


class BeamFunctions(ModeShapes):
    """phi_i(x) = a cos(b x) + s sin(b x) + c e^(-b x) + d e^(-b (L - x)).

    wavenumbers (n,): b, 1/m. coefficients (n, 4): a, s, c, d.
    """

    def __init__(self, length: float, wavenumbers: Array, coefficients: Array) -> None:
        self.length = length
        self.wavenumbers = np.asarray(wavenumbers, float)
        self.coefficients = np.asarray(coefficients, float)
        self.count = self.wavenumbers.size

    def __call__(self, x: Array, derivative: int = 0) -> Array:
        x = np.atleast_1d(np.asarray(x, float))
        b = self.wavenumbers[:, None]
        a, s, c, d = self.coefficients.T[:, :, None]
        cos, sin = np.cos(b * x), np.sin(b * x)
        decay, growth = np.exp(-b * x), np.exp(-b * (self.length - x))
        if derivative == 0:
            values: Array = a * cos + s * sin + c * decay + d * growth
        elif derivative == 1:
            values = b * (s * cos - a * sin - c * decay + d * growth)
        else:
            values = b**2 * (c * decay + d * growth - a * cos - s * sin)
        return values

    def mass_normalised(self, mass: float = 0.0, coupling: float = 0.0,
                        inertia: float = 0.0) -> BeamFunctions:
        """Scaled to int phi^2 dx + tip terms = length.

        mass, coupling, inertia: the tip's m, m c, J divided by rho A (torsion: only `mass`,
        meaning J / rho Ip).
        """
        x, w = gauss_stations((0.0, 1.0), 100)
        end = np.array([self.length])
        tip, slope = self(end)[:, 0], self(end, 1)[:, 0]
        norm = (self(x * self.length)**2 @ w * self.length + mass * tip**2
                + 2.0 * coupling * tip * slope + inertia * slope**2)
        scale = np.sqrt(self.length / norm)
        return BeamFunctions(self.length, self.wavenumbers, self.coefficients * scale[:, None])
