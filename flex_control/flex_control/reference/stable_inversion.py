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
"""Stable inversion: the bounded elastic motion that carries a frame along its path.

The internal dynamics of the tip of a flexible arm are unstable: started from rest and integrated
forward they diverge. Bounded is the one solution whose unstable part vanishes in the future and
whose stable part vanishes in the past (Chen and Paden 1996; Devasia, Chen and Paden 1996). It
begins to move before the frame does.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eig, qr
from scipy.linalg.lapack import dgbtrf, dgbtrs

from flex_control.errors import ControlError
from flex_control.reference.internal_dynamics import InternalDynamics

RESOLVED = 0.15          # of the time constant of the slowest unstable zero, from knot to knot
FEWEST = 200             # knots on a path
STEPS = 5e-4, 2e-2       # s, least and largest time between knots
FORGOTTEN = 1e-4         # share of an unstable motion that is left at the start of the preview
HIGHEST = np.sqrt(10.0)   # rad from knot to knot: no quintic spline oscillates faster
SAME = 1e-3              # relative difference of magnitudes that count as one
UNDAMPED = 1e-4          # of its magnitude: the real part of a zero that counts as oscillation
MOST_TIME = 3.0          # s, before and after the path
STATIONS = 24            # instants at which the slope of the internal dynamics is taken
MOST_STATIONS = 192
MOST_SLOPES = 12         # times that slopes are taken anew
CLOSE = 1e-9             # change of amplitudes at which the search ends, m or rad
SLOW = 0.6               # change over the one before, from which on new slopes are taken
LEAST_SHARE = 1e-3       # of a step of Newton's method
# Quintic B-splines with knots one apart, at a knot: the five of them that are not zero there, and
# their first three derivatives
BASIS = np.array([[1.0, 26.0, 66.0, 26.0, 1.0], [-5.0, -50.0, 0.0, 50.0, 5.0],
                  [20.0, 40.0, -120.0, 40.0, 20.0], [-60.0, 120.0, 0.0, -120.0, 60.0]]) / 120.0


@dataclass(frozen=True)
class Inverse:
    """times (k,) s; q, v, a (k, n): motion of the whole robot; zeros: of the internal dynamics at
    the start, 1/s; preview: time before the path from which on the robot moves, s."""

    times: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    zeros: np.ndarray
    preview: float


def invert(dynamics: InternalDynamics, step: float | None = None) -> Inverse:
    """The bounded motion on a grid of about `step` (s), from rest to rest; left out: as the zeros
    and the path ask for.

    The two-point boundary value problem is solved by collocation with quintic splines, which do
    not ring where modes are faster than the grid, and by Newton's method with slopes taken at some
    instants only. ControlError if there is no such motion, or none was found.
    """
    path, size = dynamics.path, dynamics.elastic
    first, last = (_rest(dynamics, time) for time in (path.start, path.end))
    slopes = [dynamics.slope(time, *at) for time, at in ((path.start, first), (path.end, last))]
    zeros, others = (_zeros(slope) for slope in slopes)
    if step is None:
        step = _step(zeros, path.end - path.start)
    fast = _fast((zeros, others), step)
    kept, vanishing = _start_rows(slopes[0], fast), _end_rows(slopes[1], fast)
    if len(kept) + len(vanishing) != 2 * size:
        raise ControlError(
            f'{dynamics.frame}: expected as many unstable zeros at the end of the path as at its '
            f'start, found {_unstable(others).sum()} and {_unstable(zeros).sum()}; shorten the '
            'path')
    before = _time(zeros[_unstable(zeros)].real)
    after = _time(-others[others.real < -UNDAMPED * np.abs(others)].real)
    count = int(np.ceil((path.end - path.start + before + after) / step))
    times = np.linspace(path.start - before, path.end + after, count + 1)
    x = (_solved(dynamics, times, (kept, first[0]), (vanishing, last[0])) if size
         else np.zeros((count + 1, 0)))
    q, v, a = (np.empty((count + 1, dynamics.model.n)) for _ in range(3))
    for k, time in enumerate(times):
        guess = dynamics.posture.sample(time).position if k == 0 else q[k - 1, :dynamics.joints]
        q[k], v[k], a[k] = dynamics.accelerated(time, x[k, :size], x[k, size:], guess)
    return Inverse(times, q, v, a, zeros, before)


def _rest(dynamics: InternalDynamics, time: float) -> tuple[np.ndarray, np.ndarray]:
    """Internal state (2 m,) at rest in the posture of that time, and its joints (n_joints,)."""
    joints = dynamics.posture.sample(time).position
    q = dynamics.model.statics(joints)[0]
    return np.concatenate((q[dynamics.joints:], np.zeros(dynamics.elastic))), joints


def _unstable(zeros: np.ndarray) -> np.ndarray:
    found: np.ndarray = zeros.real > UNDAMPED * np.abs(zeros)
    return found


def _zeros(slope: np.ndarray) -> np.ndarray:
    """Eigenvalues, slowest first."""
    zeros = np.linalg.eigvals(slope)
    ordered: np.ndarray = zeros[np.argsort(np.abs(zeros))]
    return ordered


def _step(zeros: np.ndarray, duration: float) -> float:
    """Time (s) between knots that resolves the slowest unstable zero and the path."""
    unstable = zeros[_unstable(zeros)]
    slowest = float(np.abs(unstable).min()) if unstable.size else 0.0
    return float(np.clip(min(RESOLVED / max(slowest, 1e-6), duration / FEWEST), *STEPS))


def _fast(ends: tuple[np.ndarray, np.ndarray], step: float) -> int:
    """How many zeros the grid does not resolve: those beyond the highest frequency of splines, at
    one of both ends. An even number; pairs, and fours, of one magnitude stay together."""
    sizes = [np.abs(zeros) * step for zeros in ends]
    total = len(sizes[0])
    count = max(int((size > HIGHEST).sum()) for size in sizes)
    while 0 < count < total and (count % 2 or any(
            size[-count] < (1.0 + SAME) * size[-count - 1] for size in sizes)):
        count += 1
    return count


def _rows(slope: np.ndarray, chosen: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Orthonormal rows W with W x = 0 where x has no part in the chosen eigenvalues."""
    zeros, vectors = eig(slope.T)
    order = np.argsort(np.abs(zeros))
    basis = vectors[:, order][:, chosen(zeros[order])]
    if not basis.size:
        return np.zeros((0, len(slope)))
    rows: np.ndarray = qr(np.hstack((basis.real, basis.imag)), mode='economic', pivoting=True)[0]
    return rows[:, :basis.shape[1]].T


def _start_rows(slope: np.ndarray, fast: int) -> np.ndarray:
    """Conditions at the start: no part in zeros that are not unstable."""
    return np.vstack((_fast_rows(slope, fast), _rows(slope, lambda zeros: ~_unstable(zeros) & (
        np.arange(len(zeros)) < len(zeros) - fast))))


def _end_rows(slope: np.ndarray, fast: int) -> np.ndarray:
    """Conditions at the end: no part in unstable zeros."""
    return np.vstack((_rows(slope, lambda zeros: _unstable(zeros) & (
        np.arange(len(zeros)) < len(zeros) - fast)), _fast_rows(slope, fast)))


def _fast_rows(slope: np.ndarray, fast: int) -> np.ndarray:
    """Conditions at either end for the fast zeros: positions at rest, whatever the speed. On the
    grid their motions decay from both ends inwards, half of them from each."""
    if not fast:
        return np.zeros((0, len(slope)))
    rows = _rows(slope, lambda zeros: np.arange(len(zeros)) >= len(zeros) - fast)
    size = len(slope) // 2
    speeds = np.linalg.svd(rows[:, size:])[0]
    positions: np.ndarray = speeds[:, fast - fast // 2:].T @ rows
    return positions


def _time(rates: np.ndarray) -> float:
    """Time (s) until the slowest of these rates (1/s) has decayed."""
    if not rates.size:
        return 0.0
    return float(min(-np.log(FORGOTTEN) / rates.min(), MOST_TIME))


def _solved(dynamics: InternalDynamics, times: np.ndarray, first: tuple[np.ndarray, np.ndarray],
            last: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Internal states (k, 2 m) at `times` (k,) of the spline that solves the internal dynamics
    there, with conditions (rows, state) at both ends.

    Newton's method, damped by the natural monotonicity test (Deuflhard): a step is taken as far as
    the next one, with the same slopes, is shorter.
    """
    size, count = dynamics.elastic, len(times)
    basis = BASIS / ((times[-1] - times[0]) / (count - 1))**np.arange(4)[:, None]
    joints = np.array([dynamics.posture.sample(time).position for time in times])
    rest = np.array([_rest(dynamics, time)[0][:size] for time in times])
    weights = rest[np.clip(np.arange(-2, count + 2), 0, count - 1)]      # of the B-splines

    def left(weights: np.ndarray) -> np.ndarray:
        x, second = _states(weights, basis), _derivative(weights, basis[2])
        rates = np.empty((count, size))
        for k, time in enumerate(times):
            rate, joints[k] = dynamics.rate(time, x[k], joints[k])
            rates[k] = rate[size:]
        return np.concatenate((
            first[0] @ (x[0] - first[1]), basis[3] @ weights[:5], (second - rates).ravel(),
            last[0] @ (x[-1] - last[1]), basis[3] @ weights[-5:]))

    stations = STATIONS
    for _ in range(MOST_SLOPES):
        slopes = _slopes(dynamics, times, _states(weights, basis), joints, stations)
        factors = _Factored(slopes, basis, first[0], last[0])
        step = factors.solve(left(weights)).reshape(weights.shape)
        better = True
        while better:
            change, share = float(np.abs(step).max()), 1.0
            if change < CLOSE:
                return _states(weights - step, basis)
            while True:
                tried = weights - share * step
                try:
                    following = factors.solve(left(tried)).reshape(weights.shape)
                    ratio = float(np.abs(following).max()) / change
                except ControlError:         # so far away that no joints hold the frame
                    ratio = np.inf
                if ratio <= 1.0 - 0.25 * share:
                    break
                share *= 0.5
                if share < LEAST_SHARE:
                    raise _no_motion(dynamics)
            weights, step = tried, following
            better = share == 1.0 and ratio < SLOW
        stations = min(2 * stations, MOST_STATIONS)
    raise _no_motion(dynamics)


def _no_motion(dynamics: InternalDynamics) -> ControlError:
    return ControlError(f'{dynamics.frame}: no bounded elastic motion was found that carries it '
                        'along the path in this time; allow more time, or describe the links by '
                        'other mode shapes (craig-bampton)')


def _derivative(weights: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Values (k, m) at the knots of a spline with weights (k + 4, m), of the derivative whose
    row (5,) of B-splines this is."""
    count = len(weights) - 4
    total: np.ndarray = sum(row[j] * weights[j:j + count] for j in range(5))
    return total


def _states(weights: np.ndarray, basis: np.ndarray) -> np.ndarray:
    return np.hstack((_derivative(weights, basis[0]), _derivative(weights, basis[1])))


def _slopes(dynamics: InternalDynamics, times: np.ndarray, x: np.ndarray, joints: np.ndarray,
            stations: int) -> np.ndarray:
    """df/dx (k, 2 m, 2 m) at the times, interpolated linearly between stations."""
    at = np.unique(np.linspace(0, len(times) - 1, stations).round().astype(int))
    known = np.array([dynamics.slope(times[k], x[k], joints[k]) for k in at])
    place = np.clip(np.searchsorted(at, np.arange(len(times)), side='right') - 1, 0, len(at) - 2)
    share = ((np.arange(len(times)) - at[place]) / (at[place + 1] - at[place]))[:, None, None]
    interpolated: np.ndarray = known[place] + share * (known[place + 1] - known[place])
    return interpolated


class _Factored:
    """LU factors of the linearised collocation with conditions at both ends, a band matrix."""

    def __init__(self, slopes: np.ndarray, basis: np.ndarray, first: np.ndarray,
                 last: np.ndarray) -> None:
        size, count = slopes.shape[1] // 2, len(slopes)
        one = np.eye(size)
        value, speed, second, third = (np.kron(row, one) for row in basis)     # (m, 5 m)
        self._width = 5 * size - 1
        band = np.zeros((3 * self._width + 1, (count + 4) * size))
        columns = np.arange(5 * size)

        def put(block: np.ndarray, row: int, column: int) -> None:
            rows = np.arange(len(block))[:, None] + row
            band[2 * self._width + rows - columns - column, columns + column] = block

        state = np.vstack((value, speed))
        put(first @ state, 0, 0)
        put(third, len(first), 0)
        begin = len(first) + size
        for k, slope in enumerate(slopes):
            put(second - slope[size:] @ state, begin + k * size, k * size)
        end = begin + count * size
        put(last @ state, end, (count - 1) * size)
        put(third, end + len(last), (count - 1) * size)
        self._factors, self._pivots, info = dgbtrf(band, self._width, self._width)
        if info:
            raise ControlError('tip path: the internal dynamics have no unique bounded motion')

    def solve(self, right: np.ndarray) -> np.ndarray:
        solved: np.ndarray = dgbtrs(self._factors, self._width, self._width, right,
                                    self._pivots)[0]
        return solved
