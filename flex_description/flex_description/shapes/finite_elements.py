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
"""Beam finite elements of high degree: shapes of non-uniform, tapered and lumped beams.

Few elements, split where properties jump, each with Legendre-hierarchic functions: the vertex
functions carry end values (and slopes), the rest are repeated integrals of Legendre polynomials,
orthonormal in the stiffness of a uniform element (Szabo and Babuska 1991). Lengths inside are
in units of the beam's: s = x / L.
"""
from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.polynomial import legendre
from scipy.linalg import LinAlgWarning, eigh, solve

from flex_description.math import Array, gauss_legendre, gauss_stations
from flex_description.shapes.base import ModeShapes, ShapeError

DEGREE = 15
STATIONS = DEGREE + 6     # Gauss stations an element


class PiecewisePolynomials(ModeShapes):
    """edges (m + 1,) m; coefficients (n, m, degree + 1) of Legendre series on each interval."""

    def __init__(self, edges: Array, coefficients: Array) -> None:
        self.edges = np.asarray(edges, float)
        self.coefficients = np.asarray(coefficients, float)
        self.count = len(self.coefficients)
        self.length = float(self.edges[-1])

    @property
    def breakpoints(self) -> tuple[float, ...]:
        return tuple(self.edges)

    def __call__(self, x: Array, derivative: int = 0) -> Array:
        x = np.atleast_1d(np.asarray(x, float))
        of_x = np.clip(np.searchsorted(self.edges, x, side='right') - 1, 0, len(self.edges) - 2)
        values = np.empty((self.count, x.size))
        for k in np.unique(of_x):
            here = of_x == k
            left, right = self.edges[k:k + 2]
            series = self.coefficients[:, k].T
            if derivative:
                series = legendre.legder(series, derivative, scl=2.0 / (right - left))
            values[:, here] = legendre.legval((2.0 * x[here] - left - right) / (right - left),
                                              series)
        return values


@dataclass(frozen=True)
class Lump:
    """A rigid body at s = x / L: mass, mass * offset / L and inertia / L^2 about the section."""

    s: float
    mass: float
    coupling: float = 0.0
    inertia: float = 0.0


@cache
def _element(order: int) -> tuple[Array, Array, Array, Array, Array]:
    """Series (functions, degree + 1) on [-1, 1], Gauss stations, weights, values and order-th
    derivatives of the functions there. order 2: C1, first four functions value and slope at
    left, then right. order 1: C0, first two the values."""
    if order == 2:
        vertex = [[0.5, -0.6, 0.0, 0.1], [1 / 6, -0.1, -1 / 6, 0.1],
                  [0.5, 0.6, 0.0, -0.1], [-1 / 6, -0.1, 1 / 6, 0.1]]
    else:
        vertex = [[0.5, -0.5], [0.5, 0.5]]
    functions = np.zeros((DEGREE + 1, DEGREE + 1))
    for row, series in enumerate(vertex):
        functions[row, :len(series)] = series
    for degree in range(2 * order, DEGREE + 1):
        bubble = legendre.legint(np.eye(degree - order + 1)[-1], order, lbnd=-1)
        functions[degree] = np.resize(np.r_[bubble, np.zeros(DEGREE)], DEGREE + 1)
        functions[degree] *= np.sqrt(degree - order + 0.5)
    xi, weights = gauss_legendre(STATIONS)
    values = np.asarray(legendre.legval(xi, functions.T), float)
    derivatives = np.asarray(legendre.legval(xi, legendre.legder(functions.T, order)), float)
    return functions, xi, weights, values, derivatives


class FiniteElements:
    """Stiffness and mass matrices of a beam's bending in one plane (order 2) or twist (order 1).

    stiffness, mass: functions of s (k,) giving E I or G J, and rho A or rho Ip. Degrees of
    freedom: per node the value (and the slope d/ds), then the inner functions element by element.
    """

    def __init__(self, order: int, length: float, edges: Array, lumps: Sequence[Lump],
                 stiffness: Callable[[Array], Array],
                 mass: Callable[[Array], Array]) -> None:
        self.order, self.length, self.edges = order, length, edges
        _, xi, weights, values, curvatures = _element(order)
        intervals = len(edges) - 1
        inner = DEGREE + 1 - 2 * order
        self.end = intervals * order
        size = self.end + order + intervals * inner
        self.stiffness, self.mass = np.zeros((size, size)), np.zeros((size, size))
        self.places, self.scales = [], []
        for k in range(intervals):
            left, right = edges[k:k + 2]
            half = 0.5 * (right - left)
            s = left + half * (xi + 1.0)
            first = self.end + order + k * inner
            place = np.r_[k * order:(k + 2) * order, first:first + inner]
            scale = np.ones(DEGREE + 1)
            if order == 2:
                scale[[1, 3]] = half
            self.places.append(place)
            self.scales.append(scale)
            block, outer = np.ix_(place, place), np.outer(scale, scale)
            bend = (curvatures * (weights * stiffness(s))) @ curvatures.T / half**(2 * order - 1)
            self.stiffness[block] += outer * bend
            self.mass[block] += outer * ((values * (weights * half * mass(s))) @ values.T)
        self.beam_mass = self._integral(mass)
        for lump in lumps:
            node = order * int(np.argmin(np.abs(edges - lump.s)))
            self.mass[node, node] += lump.mass / length
            if order == 2:
                self.mass[node, node + 1] += lump.coupling / length
                self.mass[node + 1, node] += lump.coupling / length
                self.mass[node + 1, node + 1] += lump.inertia / length

    def _integral(self, density: Callable[[Array], Array]) -> float:
        s, weights = gauss_stations(self.edges, STATIONS)
        return float(np.sum(weights * density(s)))

    def modes(self, held: Sequence[int], count: int, rigid: int = 0) -> PiecewisePolynomials:
        """The first `count` modes with the `held` degrees of freedom fixed, `rigid` ones left
        out, scaled to int rho A phi^2 dx + lumps = the beam's own mass."""
        free = np.setdiff1d(np.arange(len(self.mass)), held)
        stiffness, mass = self.stiffness[np.ix_(free, free)], self.mass[np.ix_(free, free)]
        # The stiffness is the well conditioned one of the two, so the inverse problem is solved;
        # a second, small one then makes high modes as orthogonal as low ones.
        shift = np.trace(stiffness) / np.trace(mass) * 1e-3 if rigid else 0.0
        last = len(free) - 1
        _, vectors = eigh(mass, stiffness + shift * mass,
                          subset_by_index=[last - count - rigid + 1, last])
        vectors /= np.sqrt(np.sum(vectors * (mass @ vectors), axis=0))
        _, turn = eigh(vectors.T @ stiffness @ vectors, vectors.T @ mass @ vectors)
        amplitudes = np.zeros((len(self.mass), count))
        amplitudes[free] = (vectors @ turn)[:, rigid:] * np.sqrt(self.beam_mass)
        return self._oriented(amplitudes, 2 if self.order == 2 and 1 in held else 1)

    def static(self, prescribed: dict[int, float]) -> PiecewisePolynomials:
        """The unloaded beam's shape under prescribed values of some degrees of freedom."""
        free = np.setdiff1d(np.arange(len(self.mass)), list(prescribed))
        amplitudes = np.zeros((len(self.mass), 1))
        amplitudes[list(prescribed), 0] = list(prescribed.values())
        load = -(self.stiffness @ amplitudes)[free]
        with warnings.catch_warnings():
            warnings.simplefilter('error', LinAlgWarning)
            try:
                amplitudes[free] = solve(self.stiffness[np.ix_(free, free)], load, assume_a='pos')
            except LinAlgWarning:
                raise ShapeError('expected a stiffness that varies by less than 16 digits along '
                                 'the beam, found more') from None
        return self._shapes(amplitudes)

    def _shapes(self, amplitudes: Array) -> PiecewisePolynomials:
        functions = _element(self.order)[0]
        series = [(amplitudes[place] * scale[:, None]).T @ functions
                  for place, scale in zip(self.places, self.scales, strict=True)]
        return PiecewisePolynomials(self.edges * self.length, np.stack(series, axis=1))

    def _oriented(self, amplitudes: Array, derivative: int) -> PiecewisePolynomials:
        """Positive curvature at a clamped root, positive slope at any other."""
        at_root = self._shapes(amplitudes)(np.zeros(1), derivative)[:, 0]
        return self._shapes(amplitudes * np.where(at_root < 0.0, -1.0, 1.0))
