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
"""Static end shapes first, then modes with the end held (Craig and Bampton 1968), uniform beam."""
from __future__ import annotations

import numpy as np

from flex_description.math import Array
from flex_description.shapes.base import ModeShapes, StackedShapes
from flex_description.shapes.clamped import clamped_clamped
from flex_description.shapes.torsion import torsion_clamped_clamped

# coefficients of s, s^2, s^3 with s = x/L
END_DISPLACEMENT = (0.0, 3.0, -2.0)    # unit displacement, no rotation of the end
END_ROTATION = (0.0, -1.0, 1.0)        # times L: unit rotation, no displacement of the end
END_FORCE = (0.0, 1.5, -0.5)           # unit displacement, no moment at the end
END_TWIST = (1.0, 0.0, 0.0)


class StaticShapes(ModeShapes):
    """Cubics of x/L that vanish at x = 0; coefficients (n, 3) of s, s^2, s^3."""

    def __init__(self, length: float, coefficients: Array) -> None:
        self.length = length
        self.coefficients = np.asarray(coefficients, float)
        self.count = len(self.coefficients)

    def __call__(self, x: Array, derivative: int = 0) -> Array:
        s = np.atleast_1d(np.asarray(x, float)) / self.length
        powers = (np.array([s, s**2, s**3]),
                  np.array([np.ones_like(s), 2.0 * s, 3.0 * s**2]),
                  np.array([np.zeros_like(s), np.full_like(s, 2.0), 6.0 * s]))[derivative]
        values: Array = self.coefficients @ powers / self.length**derivative
        return values


def craig_bampton_bending(length: float, count: int, raw: bool = False) -> ModeShapes:
    """One shape: the end force's, since a lone shape that forbids the end to rotate would be four
    times too stiff. From two on: unit end displacement, unit end rotation, clamped-clamped modes.
    """
    if count == 1:
        return StaticShapes(length, np.array([END_FORCE]))
    static = StaticShapes(length, np.array([END_DISPLACEMENT, np.multiply(length, END_ROTATION)]))
    if count == 2:
        return static
    held = clamped_clamped(length, count - 2)
    return StackedShapes([static, held if raw else held.mass_normalised()])


def craig_bampton_twist(length: float, count: int, raw: bool = False) -> ModeShapes:
    """Unit end twist, linear in x, then sines with the end held."""
    static = StaticShapes(length, np.array([END_TWIST]))
    if count == 1:
        return static
    held = torsion_clamped_clamped(length, count - 1)
    return StackedShapes([static, held if raw else held.mass_normalised()])
