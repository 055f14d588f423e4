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
"""Beams and measures shared by the tests of mode shapes."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_description.robot import BeamProperties
from flex_description.shapes import ModeShapes


@dataclass(frozen=True)
class UniformBeam:
    """rho A, rho Iy, rho Iz, E Iy, E Iz, G J all constant."""

    length: float = 2.0
    mass: float = 3.0
    inertia: tuple[float, float] = (0.01, 0.02)
    stiffness: tuple[float, float, float] = (50.0, 70.0, 20.0)

    @property
    def breakpoints(self) -> tuple[float, ...]:
        return (0.0, self.length)

    def properties(self, x: np.ndarray) -> BeamProperties:
        one = np.ones(np.size(x))
        return BeamProperties(self.mass * one, self.inertia[0] * one, self.inertia[1] * one,
                              self.stiffness[0] * one, self.stiffness[1] * one,
                              self.stiffness[2] * one, 1e6 * one)


@dataclass(frozen=True)
class TaperedBeam:
    """Solid square section whose side shrinks linearly to `ratio` of it; unit root properties."""

    length: float = 1.0
    ratio: float = 0.5

    @property
    def breakpoints(self) -> tuple[float, ...]:
        return (0.0, self.length)

    def properties(self, x: np.ndarray) -> BeamProperties:
        side = 1.0 + (self.ratio - 1.0) * np.asarray(x) / self.length
        return BeamProperties(side**2, side**4, side**4, side**4, side**4, side**4, side**2)


def stations(shapes: ModeShapes, points: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Gauss stations and weights over all smooth intervals of the shapes."""
    xi, weights = np.polynomial.legendre.leggauss(points)
    edges = np.array(shapes.breakpoints)
    half = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half * (xi + 1.0)).ravel(), (half * weights).ravel()


def gram(shapes: ModeShapes, mass: float = 0.0, coupling: float = 0.0,
         inertia: float = 0.0) -> np.ndarray:
    """(n, n): int phi_i phi_j dx and the tip's terms (over rho A), divided by the length."""
    x, weights = stations(shapes)
    values = shapes(x)
    tip, slope = (shapes(np.array([shapes.length]), d)[:, 0] for d in (0, 1))
    cross = np.outer(tip, slope)
    return ((values * weights) @ values.T + mass * np.outer(tip, tip)
            + coupling * (cross + cross.T) + inertia * np.outer(slope, slope)) / shapes.length
