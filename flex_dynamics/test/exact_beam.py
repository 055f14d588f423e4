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
"""The exact displacement field of one beam, in plain numpy, for complex amplitudes.

With theta1 = (alpha, -w', v') a section at x has

    rotation  R = exp(theta),  theta = theta1 + theta2,  theta2 = 1/2 int theta1 x theta1' ds
    position  r = (x, v, w) + int [theta2 x e + 1/2 theta1 x (theta1 x e)] ds,  e = (1, 0, 0)

(Piedboeuf 16, 18). Order `first` has neither theta2 nor the integral in r. The double integral in
r is a single one, int_0^x theta2 ds = int_0^x (x - s) theta2'(s) ds. All integrals are Gauss sums
between neighbouring stations, none across a breakpoint of properties or shapes.
"""
from __future__ import annotations

import numpy as np

from flex_description.robot import FlexibleLink

E_X = np.array([1.0, 0.0, 0.0])
GAP_POINTS = 8                 # Gauss points between two neighbouring stations
# sin(t)/t and (1 - cos t)/t^2 as power series of t^2, which hold for complex rotation vectors too.
_FACTORIALS = np.cumprod(np.arange(1.0, 53.0))
_SIGNS = (-1.0) ** np.arange(25)
SINE, COSINE = _SIGNS / _FACTORIALS[0:50:2], _SIGNS / _FACTORIALS[1:51:2]


def turned(theta: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """exp([theta]) vector for theta (..., 3), complex; vector (..., 3)."""
    square = (theta * theta).sum(axis=-1)
    sine, cosine = (np.zeros_like(square) for _ in range(2))
    for s, c in zip(SINE[::-1], COSINE[::-1], strict=True):
        sine, cosine = sine * square + s, cosine * square + c
    first = np.cross(theta, vector)
    return vector + sine[..., None] * first + cosine[..., None] * np.cross(theta, first)


def cross_x(field: np.ndarray) -> np.ndarray:
    """field x (1, 0, 0) for fields (k, 3, ...)."""
    return np.stack((np.zeros_like(field[:, 0]), field[:, 2], -field[:, 1]), axis=1)


def exponential(theta: np.ndarray) -> np.ndarray:
    """exp([theta]) (..., 3, 3)."""
    return np.stack([turned(theta, axis) for axis in np.eye(3)], axis=-1)


def gauss(left: np.ndarray, right: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Stations and weights (intervals, count)."""
    node, weight = np.polynomial.legendre.leggauss(count)
    half = 0.5 * (np.asarray(right) - left)[:, None]
    return np.asarray(left)[:, None] + half * (node + 1.0), half * weight


def smooth_intervals(link: FlexibleLink) -> np.ndarray:
    """Ends of the stretches on which properties and all shapes are smooth."""
    points = np.sort(np.concatenate([link.breakpoints, *(
        shapes.breakpoints for shapes in (link.bend_y, link.bend_z, link.twist))]))
    inner = points[(points > 1e-9 * link.length) & (points < (1.0 - 1e-9) * link.length)]
    inner = inner[np.diff(inner, prepend=-np.inf) > 1e-9 * link.length]
    return np.concatenate(([0.0], inner, [link.length]))


class ExactBeam:
    """Fields of a flexible link at Gauss stations and at the sections that carry something.

    sections: stations x (m). fine: factor of the number of Gauss stations.
    """

    def __init__(self, link: FlexibleLink, order: str, sections, fine: float = 1.0) -> None:
        self.link = link
        self.counts = link.bend_y.count, link.bend_z.count, link.twist.count
        edges = smooth_intervals(link)
        stations = []
        for left, right in zip(edges[:-1], edges[1:], strict=True):
            share = (right - left) / link.length
            count = int(np.ceil(fine * (12 + (28 + 8 * max(self.counts)) * share)))
            x, w = gauss([left], [right], count)
            stations.append((x[0], w[0]))
        x, weights = (np.concatenate(parts) for parts in zip(*stations, strict=True))
        self.n_gauss, self.weights = len(x), weights
        self.x = np.concatenate((x, np.asarray(sections, dtype=float)))
        self.properties = link.properties(x)
        self.r1, self.t1 = self._displacement(self.x), self._rotation(self.x)
        m = link.n_modes
        self.r2 = self.t2 = np.zeros((len(self.x), 3, m, m))
        if order == 'second':
            self._integrate(edges)

    def _rotation(self, x: np.ndarray, derivative: int = 0) -> np.ndarray:
        """theta1 or theta1' per amplitude (k, 3, m)."""
        y, z, _ = self.counts
        out = np.zeros((len(x), 3, self.link.n_modes))
        out[:, 2, :y] = self.link.bend_y(x, derivative + 1).T
        out[:, 1, y:y + z] = -self.link.bend_z(x, derivative + 1).T
        out[:, 0, y + z:] = self.link.twist(x, derivative).T
        return out

    def _displacement(self, x: np.ndarray) -> np.ndarray:
        """(0, v, w) per amplitude (k, 3, m)."""
        y, z, _ = self.counts
        out = np.zeros((len(x), 3, self.link.n_modes))
        out[:, 1, :y] = self.link.bend_y(x).T
        out[:, 2, y:y + z] = self.link.bend_z(x).T
        return out

    def _integrate(self, edges: np.ndarray) -> None:
        """r2 and t2 (k, 3, m, m): what r and theta have of second order."""
        grid = np.unique(np.concatenate((edges, self.x)))
        s, ds = (part.ravel() for part in gauss(grid[:-1], grid[1:], GAP_POINTS))
        theta, kappa = self._rotation(s), self._rotation(s, 1)
        turn = 0.5 * np.cross(theta[:, :, :, None], kappa[:, :, None, :], axis=1)
        shorter = 0.5 * np.cross(theta[:, :, :, None], cross_x(theta)[:, :, None, :], axis=1)

        def from_root(values: np.ndarray) -> np.ndarray:
            """Integrals from 0 to every station x."""
            gaps = np.add.reduceat(ds[:, None, None, None] * values,
                                   np.arange(0, len(s), GAP_POINTS), axis=0)
            totals = np.concatenate((np.zeros((1, *gaps.shape[1:])), np.cumsum(gaps, axis=0)))
            totals = totals[np.searchsorted(grid, self.x)]
            return 0.5 * (totals + np.swapaxes(totals, 2, 3))

        self.t2 = from_root(turn)
        area = self.x[:, None, None, None] * self.t2 - from_root(s[:, None, None, None] * turn)
        self.r2 = cross_x(area) + from_root(shorter)

    def fields(self, eta: np.ndarray, at: slice = slice(None)) -> tuple[np.ndarray, np.ndarray]:
        """theta and r (b, k, 3) of the stations `at` for amplitudes (b, m), complex."""
        theta, r = (np.einsum('kcm,bm->bkc', first[at], eta, optimize=True)
                    + np.einsum('bkcm,bm->bkc', np.tensordot(eta, second[at], (1, 3)), eta,
                                optimize=True)
                    for first, second in ((self.t1, self.t2), (self.r1, self.r2)))
        return theta, r + self.x[at][:, None] * E_X

    def section(self, x: float) -> int:
        """Index of the carrying section at x."""
        return self.n_gauss + int(np.argmin(np.abs(self.x[self.n_gauss:] - x)))

    def stiffness(self) -> np.ndarray:
        """K (m, m) = int E Iz v''v'' + E Iy w''w'' + G J alpha'alpha'."""
        kappa, p = self._rotation(self.x[:self.n_gauss], 1), self.properties
        rigidity = np.stack((p.torsion_stiffness, p.bending_stiffness_y, p.bending_stiffness_z))
        return np.einsum('k,ck,kci,kcj->ij', self.weights, rigidity, kappa, kappa, optimize=True)

    def sizes(self) -> np.ndarray:
        """Largest turn (rad), or deflection as a share of the length, per unit amplitude (m,)."""
        return np.maximum(np.abs(self.t1).max(axis=(0, 1)),
                          np.abs(self.r1).max(axis=(0, 1)) / self.link.length)
