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
"""The fewest sections of a beam that have its rotary inertia, each turning by exp(theta).

Sections turn by an exponential, so their integrals are no polynomials of the amplitudes that could
be integrated once and for all; but they are smooth in x, and few Gauss stations in each smooth
interval give them to rounding. Where there are many intervals (tables, finite elements, stepped
tubes) a rule with fewer sections is found by nonnegative least squares.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from flex_description.math import gauss_legendre
from flex_dynamics.build.beam_fields import BeamFields
from flex_dynamics.build.quadrature import BeamStations, section_inertia
from flex_dynamics.kernels.base.layout import LANES

TOLERANCE = 5e-12         # of the energy of motions in which every coordinate has its share
SAMPLES = 16              # deflections and speeds at which a rule is tried
FEW = 3                   # smooth intervals, up to which a Gauss rule in each is the best


@dataclass(frozen=True)
class RotarySections:
    """k sections at x (k,) m with rotation vectors of coefficients t1 (k, 3, m), t2 (k, 3, m, m)
    and roots (k, 3) of the inertia about their own axes, kg m2; k fills vector registers."""

    x: np.ndarray
    roots: np.ndarray
    t1: np.ndarray
    t2: np.ndarray


def rotary_sections(beam: BeamFields, stations: BeamStations) -> RotarySections:
    """Sections whose rotary inertia is the beam's to TOLERANCE, for large deflections too."""
    spin = np.sqrt(np.sum(stations.weights * (stations.mass * stations.x ** 2
                                              + stations.inertia.sum(axis=1))) + 1e-300)
    trial = _Trial(beam, stations.largest, stations.root_inertia, spin)
    intervals = list(zip(beam.breakpoints[:-1], beam.breakpoints[1:], strict=True))
    parts = [_gauss_rule(trial, left, right, int(most), len(intervals))
             for (left, right), most in zip(intervals, beam.resolution, strict=True)]
    x, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    if len(intervals) > FEW and len(x) > LANES:
        x, weights = _fewer(trial, x, weights)
    spare = -len(x) % LANES
    x, weights = np.append(x, np.full(spare, x[-1])), np.append(weights, np.zeros(spare))
    fields = beam.at(x)
    return RotarySections(x, np.sqrt(weights[:, None] * section_inertia(beam, x)), fields.t1,
                          fields.t2)


class _Trial:
    """Products of angular velocities of sections at random deflections and speeds."""

    def __init__(self, beam: BeamFields, largest: np.ndarray, root_inertia: np.ndarray,
                 spin: float) -> None:
        rng = np.random.default_rng(1)
        shape = SAMPLES, beam.n_modes
        self._beam = beam
        # The shapes of a group share what is largest: the deflection of a plane, the twist.
        share = rng.exponential(size=shape) * rng.choice([-1.0, 1.0], shape)
        start = 0
        for count in beam.counts:
            group = slice(start, start + count)
            share[:, group] /= np.abs(share[:, group]).sum(axis=1, keepdims=True)
            start += count
        self._eta = share * largest
        self._eta[0] = 0.0
        share = 1.0 / np.sqrt(beam.n_modes + 3)
        self._rate = share * rng.normal(size=shape) / root_inertia
        self._spin = share * rng.normal(size=(SAMPLES, 3)) / spin
        one, two = beam.turns.first, beam.turns.second
        self._products = self._eta[:, one] * self._eta[:, two]
        self._product_rates = (self._eta[:, one] * self._rate[:, two]
                               + self._rate[:, one] * self._eta[:, two])
        self._ends = np.searchsorted(beam.turns.component, (1, 2))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Energy densities (pairs of samples, k), scaled by the samples' inertia."""
        first = self._beam.rotation_first(x)
        theta, rate = (np.tensordot(amplitudes, first, (1, 2))
                       for amplitudes in (self._eta, self._rate))
        if self._beam.second:
            turns = self._beam.second_order(x)[0]
            for field, products in ((theta, self._products), (rate, self._product_rates)):
                parts = zip(np.split(products, self._ends, axis=1),
                            np.split(turns, self._ends, axis=1), strict=True)
                for c, (product, coefficients) in enumerate(parts):
                    field[..., c] += product @ coefficients.T
        omega = _angular_velocity(theta, rate, self._spin[:, None, :])
        weighted = omega * np.sqrt(section_inertia(self._beam, x))
        one, two = np.triu_indices(SAMPLES)
        return np.einsum('pkc,pkc->pk', weighted[one], weighted[two])


def _angular_velocity(theta: np.ndarray, rate: np.ndarray, spin: np.ndarray) -> np.ndarray:
    """R'spin + Jr(theta) rate for rotation vectors (..., 3)."""
    t2 = np.sum(theta * theta, axis=-1, keepdims=True)
    t = np.sqrt(np.maximum(t2, 1e-8))
    s = np.where(t2 < 1e-8, 1.0 - t2 / 6.0, np.sin(t) / t)
    b = np.where(t2 < 1e-8, 0.5 - t2 / 24.0, 2.0 * np.square(np.sin(0.5 * t) / t))
    c = np.where(t2 < 1e-2, 1.0 / 6.0 - t2 / 120.0 + t2 ** 2 / 5040.0 - t2 ** 3 / 362880.0,
                 (1.0 - s) / np.maximum(t2, 1e-8))
    spin = np.broadcast_to(spin, theta.shape)
    turned, moved = np.cross(theta, spin), np.cross(theta, rate)
    return (spin - s * turned + b * np.cross(theta, turned)
            + rate - b * moved + c * np.cross(theta, moved))


def _gauss_rule(trial: _Trial, left: float, right: float, most: int,
                intervals: int) -> tuple[np.ndarray, np.ndarray]:
    """The shortest Gauss rule of one smooth interval that integrates what `trial` gives."""
    half = 0.5 * (right - left)

    def rule(count: int) -> tuple[np.ndarray, np.ndarray]:
        nodes, weights = gauss_legendre(count)
        return left + half * (nodes + 1.0), half * weights

    def integral(count: int) -> np.ndarray:
        x, weights = rule(count)
        return trial(x) @ weights

    # A single interval fills whole registers: no other rules need be tried there.
    pace, tolerance = (LANES if intervals == 1 else 2), TOLERANCE / np.sqrt(intervals)
    exact = integral(2 * most)

    def enough(count: int) -> bool:
        return bool(np.abs(integral(count) - exact).max() < tolerance)

    count = 4 * pace
    if enough(count):
        while count > pace and enough(count - pace):
            count -= pace
    else:
        count += pace
        while count < 2 * most and not enough(count):
            count += pace * max(1, count // (10 * pace))
    return rule(min(count, 2 * most))


def _fewer(trial: _Trial, x: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A rule on some of the stations x with the same integrals, if there is one; else x itself."""
    values = trial(x) * weights                       # so that all weights to be found are near 1
    basis, sizes, _ = np.linalg.svd(values, full_matrices=False)
    rank = int(np.sum(sizes > 0.1 * TOLERANCE))
    if rank + LANES > len(x):
        return x, weights
    rows = basis[:, :rank].T @ values
    share, residual = nnls(rows, rows.sum(axis=1), maxiter=20 * len(x))
    if residual > TOLERANCE or np.count_nonzero(share) >= len(x):
        return x, weights
    used = share > 0.0
    return x[used], (share * weights)[used]
