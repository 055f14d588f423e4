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
"""Deformation fields of a beam, polynomials of second degree in its elastic amplitudes.

A section at x has, in the beam's frame,

    position  r = (x, 0, 0) + r1 eta + eta' r2 eta
    rotation  R = exp(theta),  theta = t1 eta + eta' t2 eta

With theta1 = (alpha, -w', v') and the curvature kappa = theta1', Piedboeuf's rotation (16) is
R1 = [theta1], R2 = int [theta1][kappa] (13), (14). Its logarithm has the second-order part
theta2 = 1/2 int theta1 x kappa, so exp(theta1 + theta2) is a proper rotation that equals (16) to
second order. The position (18) is the integral of R e_x to second order. For a basis with a slope
at x = 0 (pinned) the same formulae hold, theta1(0) being the first turn.

Order `first` drops r2 and t2; order `second` keeps them.
"""
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.polynomial import legendre

from flex_description import FlexibleLink
from flex_description.math import gauss_legendre

LEVI_CIVITA = np.zeros((3, 3, 3))                      # the cross product as a tensor
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    LEVI_CIVITA[_i, _j, _k] = 1.0
    LEVI_CIVITA[_i, _k, _j] = -1.0


@dataclass(frozen=True)
class Products:
    """Which products of two amplitudes a vector field has: component, first and second amplitude,
    (p,) each, in rising order of the component. A field's coefficients are then (k, p)."""

    component: np.ndarray
    first: np.ndarray
    second: np.ndarray

    def dense(self, coefficients: np.ndarray, modes: int) -> np.ndarray:
        """Symmetric (k, 3, m, m), so that eta' (...) eta is the sum of the products."""
        out = np.zeros((len(coefficients), 3, modes, modes))
        half = np.where(self.first == self.second, 1.0, 0.5) * coefficients
        out[:, self.component, self.first, self.second] = half
        out[:, self.component, self.second, self.first] = half
        return out


@dataclass(frozen=True)
class SectionFields:
    """Coefficients at k stations of one beam with m amplitudes; units of m and rad.

    r0 (k, 3), r1 (k, 3, m), r2 (k, 3, m, m) symmetric; t1, t2 likewise for the rotation vector.
    """

    x: np.ndarray
    r0: np.ndarray
    r1: np.ndarray
    r2: np.ndarray
    t1: np.ndarray
    t2: np.ndarray


class BeamFields:
    """Fields of one flexible link at any station, for order `first` or `second`."""

    def __init__(self, flexible: FlexibleLink, order: str) -> None:
        self.flexible = flexible
        self.second = order == 'second'
        shapes = (flexible.bend_y, flexible.bend_z, flexible.twist)
        points = set(flexible.breakpoints)
        for shape in shapes:
            points.update(shape.breakpoints)
        ordered = np.array(sorted(p for p in points if 0.0 <= p <= flexible.length))
        keep = np.concatenate(([True], np.diff(ordered) > 1e-9 * flexible.length))
        self.breakpoints = ordered[keep]
        self.breakpoints[-1] = flexible.length
        self.counts = tuple(shape.count for shape in shapes)
        # Gauss stations in each smooth interval that integrate products of four shapes to
        # rounding: the shapes' waves are shared by the intervals.
        share = np.diff(self.breakpoints) / flexible.length
        self.resolution = 28 + 4 * np.ceil(max(self.counts) * share).astype(int)
        self.turns, self.moves = self._products()
        self.packed_sections: dict[float, np.ndarray] = {}     # of pack_fields.pack_section

    def _products(self) -> tuple[Products, Products]:
        """The products of theta2 and of r2: no others are in (13) to (18)."""
        y, z, x = np.split(np.arange(sum(self.counts)), np.cumsum(self.counts)[:2])

        def pairs(component: int, one: np.ndarray, two: np.ndarray) -> np.ndarray:
            first, second = np.meshgrid(one, two, indexing='ij')
            return np.stack((np.full(first.size, component), first.ravel(), second.ravel()))

        def squares(group: np.ndarray) -> np.ndarray:
            rows, columns = np.triu_indices(len(group))
            return np.stack((np.zeros_like(rows), group[rows], group[columns]))

        return (Products(*np.hstack((pairs(0, y, z), pairs(1, y, x), pairs(2, z, x)))),
                Products(*np.hstack((squares(y), squares(z), pairs(1, z, x), pairs(2, y, x)))))

    @property
    def n_modes(self) -> int:
        return sum(self.counts)

    def rotation_first(self, x: np.ndarray, derivative: int = 0) -> np.ndarray:
        """theta1 = (alpha, -w', v') or its derivative, the curvature: (k, 3, m)."""
        n_y, n_z, _ = self.counts
        link = self.flexible
        out = np.zeros((len(x), 3, self.n_modes))
        out[:, 0, n_y + n_z:] = link.twist(x, derivative).T
        out[:, 1, n_y:n_y + n_z] = -link.bend_z(x, derivative + 1).T
        out[:, 2, :n_y] = link.bend_y(x, derivative + 1).T
        return out

    def displacement_first(self, x: np.ndarray) -> np.ndarray:
        """(0, v, w) per amplitude: (k, 3, m)."""
        n_y, n_z, _ = self.counts
        out = np.zeros((len(x), 3, self.n_modes))
        out[:, 1, :n_y] = self.flexible.bend_y(x).T
        out[:, 2, n_y:n_y + n_z] = self.flexible.bend_z(x).T
        return out

    def at(self, x: np.ndarray) -> SectionFields:
        """Fields at stations x (k,), in any order, each within [0, length]."""
        x = np.asarray(x, dtype=float)
        m = self.n_modes
        r0 = np.zeros((len(x), 3))
        r0[:, 0] = x
        r1 = self.displacement_first(x)
        t1 = self.rotation_first(x)
        turns, moves = self.second_order(x)
        return SectionFields(x, r0, r1, self.moves.dense(moves, m), t1, self.turns.dense(turns, m))

    def second_order(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of theta2 (k, turns) and r2 (k, moves) at x; zero in order `first`."""
        turns = np.zeros((len(x), len(self.turns.first)))
        moves = np.zeros((len(x), len(self.moves.first)))
        if self.second and self.n_modes:
            for part in self._intervals:
                inside = (x >= part.left) & (x <= part.right)
                if inside.any():
                    turns[inside], moves[inside] = part.at(x[inside])
        return turns, moves

    @cached_property
    def _intervals(self) -> list[_Interval]:
        """The smooth intervals, each with its integrands at Gauss-Legendre nodes."""
        turns, moves = np.zeros(len(self.turns.first)), np.zeros(len(self.moves.first))
        intervals = []
        for left, right, count in zip(self.breakpoints[:-1], self.breakpoints[1:],
                                      self.resolution, strict=True):
            nodes, _ = gauss_legendre(count)
            half = 0.5 * (right - left)
            turn_rate, bend_rate = self._rates(left + half * (nodes + 1.0))
            turned = turns + half * (integral_weights(count, nodes) @ turn_rate)
            # The tangent: theta2 x e_x + 1/2 theta1 x (theta1 x e_x), theta2 of y and z.
            _, about_y, about_z = np.split(turned, np.searchsorted(self.turns.component, (1, 2)),
                                           axis=1)
            squares, along_y, along_z = np.split(
                bend_rate, np.searchsorted(self.moves.component, (1, 2)), axis=1)
            tangent = np.hstack((squares, along_y + about_z, along_z - about_y))
            part = _Interval(left, right, turns, moves, turn_rate, tangent)
            (turns,), (moves,) = part.at(np.array([right]))
            intervals.append(part)
        return intervals

    def _rates(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """1/2 theta1 x kappa and 1/2 theta1 x (theta1 x e_x) at x, coefficients of their products.
        """
        link = self.flexible
        v1, v2 = link.bend_y(x, 1).T, link.bend_y(x, 2).T
        w1, w2 = link.bend_z(x, 1).T, link.bend_z(x, 2).T
        a0, a1 = link.twist(x).T, link.twist(x, 1).T

        def products(one: np.ndarray, two: np.ndarray) -> np.ndarray:
            return (one[:, :, None] * two[:, None, :]).reshape(len(x), -1)

        def squares(slope: np.ndarray) -> np.ndarray:
            rows, columns = np.triu_indices(slope.shape[1])
            return np.where(rows == columns, -0.5, -1.0) * slope[:, rows] * slope[:, columns]

        turn = (products(v1, w2) - products(v2, w1), products(v1, a1) - products(v2, a0),
                products(w1, a1) - products(w2, a0))
        bend = (squares(v1), squares(w1), -0.5 * products(w1, a0), 0.5 * products(v1, a0))
        return 0.5 * np.hstack(turn), np.hstack(bend)


@dataclass(frozen=True)
class _Interval:
    """Second-order integrands of one smooth interval and the integrals up to its left end."""

    left: float
    right: float
    turns: np.ndarray
    moves: np.ndarray
    turn_rate: np.ndarray
    tangent: np.ndarray

    def at(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """theta2 and r2 at stations of this interval, coefficients of their products."""
        half = 0.5 * (self.right - self.left)
        weights = half * integral_weights(len(self.tangent), (x - self.left) / half - 1.0)
        return self.turns + weights @ self.turn_rate, self.moves + weights @ self.tangent


@lru_cache
def _to_integrated(count: int) -> np.ndarray:
    """From values at `count` Legendre nodes to the series of the integral from -1."""
    to_coefficients = np.linalg.inv(legendre.legvander(gauss_legendre(count)[0], count - 1))
    return legendre.legint(np.eye(count), lbnd=-1.0) @ to_coefficients


def integral_weights(count: int, points: np.ndarray) -> np.ndarray:
    """Weights (points, count) that integrate values at Legendre nodes from -1 to each point."""
    return legendre.legvander(points, count) @ _to_integrated(count)
