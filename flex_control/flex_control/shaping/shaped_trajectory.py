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
"""A trajectory shaped so that it leaves no residual vibration."""
from __future__ import annotations

import bisect
import math

import numpy as np
from scipy.interpolate import CubicSpline, make_interp_spline

from flex_control.incremental import Pieces, finish
from flex_control.shaping.delays import ORDERS, MotionDelays
from flex_control.shaping.impulses import heights_of
from flex_control.shaping.shaper import Shaper
from flex_control.trajectories.base import DERIVATIVES, Reference, Trajectory

GRID = 0.05              # s, between instants of the plan
FEWEST_INSTANTS, MOST_INSTANTS = 8, 400
POSE_STEP = 0.05         # rad or m, between poses at which the modes are computed
MOST_POSES = 64
DENSER = 20              # instants for the phase of a mode, per instant of the plan
AT_ONCE = 20             # samples of a trajectory that are one piece of the planning
DEGREE = 5               # of the splines of time: smooth enough for snap


class Shaped(Trajectory):
    """y(t) = sum A_i x(t_i(t)): a trajectory x, delayed in turns and averaged.

    The delays follow the modes: from t_i to t each mode turns through i half periods, whatever its
    frequency does on the way, integral of w(pose) dt = i pi. With a constant frequency this is
    the convolution of x with the impulses of the shaper. It is causal, as smooth as x, stays
    within the range of x, begins where x begins and rests at its end from `end` on, `delay` (s)
    after the end of x.

    `in_pieces` plans the same beside a running loop.

    Parameters
    ----------
    trajectory : Trajectory
        The motion x to shape.
    shaper : Shaper
        Which modes are shaped, and how.
    previous : Shaped, optional
        The shaped trajectory that this one takes over from, at `trajectory.start`; the delayed
        parts of its motion are then completed. The new one has to begin where
        `previous.unshaped(start)` is, not where the shaped motion is.
    """

    def __init__(self, trajectory: Trajectory, shaper: Shaper,
                 previous: Shaped | None = None) -> None:
        finish(self._build(trajectory, shaper, previous))

    @classmethod
    def in_pieces(cls, trajectory: Trajectory, shaper: Shaper,
                  previous: Shaped | None = None) -> Pieces[Shaped]:
        """The shaped trajectory, in pieces of less than a millisecond, some hundred at most."""
        made = cls.__new__(cls)
        yield from made._build(trajectory, shaper, previous)
        return made

    def _build(self, trajectory: Trajectory, shaper: Shaper,
               previous: Shaped | None) -> Pieces[None]:
        self.trajectory, self.shaper = trajectory, shaper
        self.start = float(trajectory.start)
        last = trajectory.sample(trajectory.end).position
        self._groups = shaper.groups_at(last)
        yield
        at_end = shaper.impulses_at(last)
        # Poses on the way may be slower than the last one; twice its delay is room enough.
        reach = 2.0 * float(at_end.delays[-1]) + GRID
        self._past: list[tuple[float, Trajectory]] = []       # (end, trajectory), newest first
        self._mean_delay = float(at_end.heights @ at_end.delays)
        if previous is not None:
            # The past must not be delayed anew.
            self._mean_delay = previous._mean_delay
            if previous.shaper.modes == shaper.modes:
                self._groups = previous._groups
            followed = [(self.start, previous.trajectory), *previous._past]
            self._past = [old for old in followed if old[0] > self.start - reach]
        yield
        self._modes = shaper.modes_at(last, self._groups)
        begin, horizon = self.start - reach, float(trajectory.end) + reach
        count = int(np.clip(math.ceil((horizon - begin) / GRID), FEWEST_INSTANTS,
                            MOST_INSTANTS))
        times = np.linspace(begin, horizon, count)
        yield
        rates = yield from self._rates(times)
        self._heights, origins = yield from self._plan(times, rates)
        yield from self._set_splines(times, origins)
        self._last_instant = float(times[-1])
        self.end = float(np.interp(trajectory.end, origins.min(axis=0), times))
        self.delay = self.end - float(trajectory.end)

    def _rates(self, times: np.ndarray) -> Pieces[np.ndarray]:
        """Frequencies (k, m) rad/s of the modes at the poses of `times` (m,)."""
        places = []
        for at, time in enumerate(times):
            # The arm is where the shaped motion is, which is behind x by the mean delay.
            places.append(self.unshaped(time - self._mean_delay).position)
            if at % AT_ONCE == AT_ONCE - 1:
                yield
        # Modes change with the pose, not with time.
        way = np.insert(np.cumsum(np.abs(np.diff(places, axis=0)).max(axis=1)), 0, 0.0)
        step = max(POSE_STEP, way[-1] / MOST_POSES)
        _, chosen = np.unique(np.floor(way / step), return_index=True)
        if way[-1] > way[chosen[-1]]:
            chosen = np.append(chosen, len(way) - 1)
        found = []
        for at in chosen:
            modes = self.shaper.modes_at(places[at], self._groups) or self._modes
            found.append([rate for rate, _ in modes])
            yield
        known = np.array(found).T.reshape(len(self._modes), len(chosen))
        if len(chosen) < 2:
            return np.repeat(known, len(times), axis=1)
        rates: np.ndarray = CubicSpline(way[chosen], known, axis=1)(way)
        return rates

    def _plan(self, times: np.ndarray,
              rates: np.ndarray) -> Pieces[tuple[np.ndarray, np.ndarray]]:
        """Heights (k,), and for each the times (k, m) of x that are played at `times` (m,)."""
        heights, origins = np.ones(1), times[None, :]
        dense = np.linspace(times[0], times[-1], DENSER * (len(times) - 1) + 1)
        for rate, (_, ratio) in zip(rates, self._modes):
            phase = CubicSpline(times, rate).antiderivative()(dense)
            shape = heights_of(self.shaper.name, ratio)
            parts = []
            yield
            turned = np.interp(origins, dense, phase)
            for impulse in range(len(shape)):
                yield
                wanted = turned - impulse * np.pi
                # Before the grid begins the mode turned as at its beginning.
                wanted += np.minimum(origins - times[0], 0.0) * rate[0]
                parts.append(np.interp(wanted, phase, dense)
                             + np.minimum(wanted, 0.0) / rate[0])
            origins = np.vstack(parts)
            heights = np.multiply.outer(shape, heights).ravel()
        return heights, origins

    def _set_splines(self, times: np.ndarray, origins: np.ndarray) -> Pieces[None]:
        """Splines of the origins: knots, and per piece the coefficients of all derivatives."""
        spline = make_interp_spline(times, origins.T, k=DEGREE)
        knots = np.unique(spline.t)[:-1]
        self._knots = knots.tolist()
        self._pieces = np.zeros((len(knots), DERIVATIVES, DEGREE + 1, len(origins)))
        for total in range(DEGREE + 1):
            value = spline(knots, total)                      # that derivative at each knot
            for order in range(min(total + 1, DERIVATIVES)):
                self._pieces[:, order, total - order] = value / math.factorial(total - order)
            yield
        self._powers = np.arange(DEGREE + 1)

    def delays(self) -> MotionDelays:
        """The delays of this plan, to shape other motions along the same path."""
        return MotionDelays(self._heights, np.array(self._knots), self._last_instant,
                            self._pieces[:, :ORDERS])

    def unshaped(self, time: float) -> Reference:
        """The motion before shaping at `time` (s)."""
        source = self.trajectory
        for end, older in self._past:
            if time >= end:
                break
            source = older
        return source.sample(time)

    def sample(self, time: float) -> Reference:
        if time >= self.end:
            return Reference.at_rest(self.trajectory.sample(self.trajectory.end).position)
        if not self._past and time <= self.start:
            return self.trajectory.sample(time)
        at = max(bisect.bisect_right(self._knots, time) - 1, 0)
        origin, a, b, c, d = (time - self._knots[at])**self._powers @ self._pieces[at]
        played = [self.unshaped(when) for when in origin.tolist()]
        x = np.array([[r.position, r.velocity, r.acceleration, r.jerk, r.snap] for r in played])
        # Chain rule for x(t_i(t)), to the fourth derivative (Faa di Bruno).
        chain = np.zeros((DERIVATIVES, DERIVATIVES, len(played)))
        chain[0, 0] = 1.0
        chain[1, 1] = a
        chain[2, 1], chain[2, 2] = b, a**2
        chain[3, 1], chain[3, 2], chain[3, 3] = c, 3.0 * a * b, a**3
        chain[4, 1], chain[4, 2] = d, 4.0 * a * c + 3.0 * b**2
        chain[4, 3], chain[4, 4] = 6.0 * a**2 * b, a**4
        return Reference(*np.tensordot(chain * self._heights, x, axes=([2, 1], [0, 1])))
