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
"""Motion in polynomial pieces, with all its derivatives and their exact extremes."""
from __future__ import annotations

import bisect
import math

import numpy as np

from flex_control.trajectories.base import DERIVATIVES, Reference, Trajectory

GRID = 33              # instants in a piece where an extreme is looked for, before it is polished
POLISH = 8             # steps of Newton's method, or halvings where it leaves the interval
BLOCK = 256            # pieces that are looked at together: what fits into a cache
MANY = 20_000          # instants that are sampled together, 20 MB
JUMP = 1e-6            # of the largest coefficient: what is less is rounding


class PiecewisePolynomial(Trajectory):
    """Pieces between `times` (k,) s; rests at the first and last of `positions` (k, n_joints).

    coefficients (k - 1, degree + 1, n_joints): of each piece in u = (t - times[i]) / duration,
    which runs from 0 to 1, lowest power first.
    """

    def __init__(self, times: np.ndarray, positions: np.ndarray,
                 coefficients: np.ndarray) -> None:
        self.times, self.positions = times, positions
        self.start, self.end = float(times[0]), float(times[-1])
        self._rests = Reference.at_rest(positions[0]), Reference.at_rest(positions[-1])
        self._instants = times.tolist()
        self._powers = np.arange(coefficients.shape[1])
        scale = 1.0 / np.diff(times)[:, None, None]
        # (k - 1, DERIVATIVES, degree + 1, n_joints)
        self._derivatives = np.stack([_derived(coefficients, order) * scale**order
                                      for order in range(DERIVATIVES)], axis=1)

    def sample(self, time: float) -> Reference:
        if not self.start <= time < self.end:
            return self._rests[0 if time < self.start else 1]
        at = bisect.bisect_right(self._instants, time) - 1
        u = (time - self._instants[at]) / (self._instants[at + 1] - self._instants[at])
        return Reference(*(u**self._powers @ self._derivatives[at]))

    def samples(self, times: np.ndarray) -> np.ndarray:
        out = np.zeros((3, len(times), self.positions.shape[1]))
        out[0] = np.where((times < self.start)[:, None], self.positions[0], self.positions[-1])
        inside = (self.start <= times) & (times < self.end)
        for some in np.array_split(np.flatnonzero(inside), -(-int(inside.sum()) // MANY) or 1):
            at = np.searchsorted(self.times, times[some], 'right') - 1
            u = (times[some] - self.times[at]) / (self.times[at + 1] - self.times[at])
            powers = u[:, None]**self._powers
            for order in range(3):
                out[order, some] = np.einsum('kp,kpj->kj', powers, self._derivatives[at, order])
        return out

    def extremes(self, order: int) -> tuple[np.ndarray, np.ndarray]:
        if len(self.times) == 1:
            value = self.sample(self.start).derivative(order)
            return value, value
        every = self._derivatives[:, order]
        # A piece lies within the hull of its Bernstein coefficients, the first and last of which
        # are its ends: only pieces whose hull reaches beyond all ends can hold an extreme.
        hull = _bernstein(every.shape[1]) @ every
        least, most = hull[:, [0, -1]].min(axis=(0, 1)), hull[:, [0, -1]].max(axis=(0, 1))
        beyond = ((hull.min(axis=1) < least) | (hull.max(axis=1) > most)).any(axis=1)
        for some in np.array_split(every[beyond], -(-int(beyond.sum()) // BLOCK) or 1):
            if len(some):
                low, high = self._inner_extremes(some)
                least, most = np.minimum(least, low), np.maximum(most, high)
        return least, most

    def _inner_extremes(self, pieces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of some pieces (k, degree + 1, n_joints), by Newton's method from a grid."""
        grid = np.linspace(0.0, 1.0, GRID)
        values = grid[:, None]**self._powers @ pieces                   # (k - 1, GRID, n_joints)
        first, second = _derived(pieces, 1), _derived(pieces, 2)
        ends = []
        for sign, choose, arg in ((1.0, np.min, np.argmin), (-1.0, np.max, np.argmax)):
            u = grid[arg(values, axis=1)]                              # (k - 1, n_joints)
            left, right = np.maximum(u - grid[1], 0.0), np.minimum(u + grid[1], 1.0)
            for _ in range(POLISH):
                slope, bend = _at(first, u), _at(second, u)
                left = np.where(sign * slope > 0.0, left, u)
                right = np.where(sign * slope > 0.0, u, right)
                newton = u - np.divide(slope, bend, out=np.full_like(u, np.inf),
                                       where=np.abs(bend) > 0.0)
                u = np.where((left <= newton) & (newton <= right), newton, 0.5 * (left + right))
            found = np.stack((_at(pieces, u), choose(values, axis=1)))
            ends.append(choose(found, axis=(0, 1)))
        return ends[0], ends[1]

    def peak(self, order: int) -> np.ndarray:
        """Infinite where the derivative before it jumps from piece to piece, or at the end."""
        peak = super().peak(order)
        if order and len(self.times) > 1:
            before = self._derivatives[:, order - 1]
            begins, ends = before[:, 0], before.sum(axis=1)      # at u = 0 and at u = 1
            following = np.vstack((begins[1:], self.positions[-1:] if order == 1
                                   else np.zeros_like(ends[:1])))
            size = np.abs(before).max(axis=(0, 1))
            peak[(np.abs(following - ends) > JUMP * size).any(axis=0)] = np.inf
        return peak


def _bernstein(size: int) -> np.ndarray:
    """(size, size): from coefficients of powers of u to those of Bernstein's polynomials."""
    return np.array([[math.comb(row, column) / math.comb(size - 1, column)
                      for column in range(size)] for row in range(size)])


def _at(pieces: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Values (k, n_joints) of pieces (k, degree + 1, n_joints) at u (k, n_joints), by Horner."""
    value = np.zeros_like(u)
    for power in range(pieces.shape[1] - 1, -1, -1):
        value = value * u + pieces[:, power]
    return value


def _derived(coefficients: np.ndarray, order: int) -> np.ndarray:
    """Coefficients (k, degree + 1, n_joints) of a derivative by u, filled up with zeros."""
    size = coefficients.shape[1]
    out = np.zeros_like(coefficients)
    for power in range(order, size):
        out[:, power - order] = math.perm(power, order) * coefficients[:, power]
    return out
