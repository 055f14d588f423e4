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
"""Shaped motions that take over from each other in mid-motion without any jump."""
from __future__ import annotations

import math

import numpy as np

from flex_control.shaping.delays import Delays, played_out
from flex_control.trajectories.base import Reference, Trajectory
from flex_control.trajectories.splines import Splines
from flex_control.trajectories.stop import Stop

GENTLY = 1.0      # s, in which a motion that is taken over from comes to rest in the sum below
GRID = 2e-3       # s, between the samples that are kept of such a motion


class Interrupted(Trajectory):
    """Follows a trajectory until `time` (s), and then to its end if that is near, or to rest."""

    def __init__(self, trajectory: Trajectory, time: float) -> None:
        self.start = trajectory.start
        self._before, self._time = trajectory, time
        self._after = (trajectory if trajectory.end <= time + GENTLY
                       else Stop(trajectory.sample(time), GENTLY, time))
        self.end = self._after.end

    def sample(self, time: float) -> Reference:
        return (self._before if time < self._time else self._after).sample(time)

    def samples(self, times: np.ndarray) -> np.ndarray:
        before = self._before.samples(times)
        if self._after is self._before:
            return before
        early = (times < self._time)[None, :, None]
        return np.where(early, before, self._after.samples(times))


class ShapedMotion(Trajectory):
    """y(t) = sum A_i x(t_i(t)), a motion x delayed in turns and averaged.

    With constant heights and delays the sum is convex: position, speed and acceleration stay
    within the range of those of x. Delays that follow the modes change speeds by as much as they
    change themselves.

    A motion x that takes over in mid-motion begins with the position, speed and acceleration of
    the shaped motion y_1 before it, and

        y = y_1 + sum A_i e(t_i(t)),     e = x - y_1 from the start of x on, zero before,

    where y_1 comes to rest soon (`interrupted`), without vibration, as it is shaped. e begins
    with zero position, speed and acceleration: y has no jump in either, whatever the delays of
    both motions are, and the vibration of neither is left.

    Parameters
    ----------
    trajectory : Trajectory
        The motion x, from its `start` (s) on.
    delays : Delays
        How it is shaped.
    before : Trajectory, optional
        y_1, from some time before `start` on.
    """

    def __init__(self, trajectory: Trajectory, delays: Delays,
                 before: Trajectory | None = None) -> None:
        self.trajectory, self.delays, self.before = trajectory, delays, before
        self.start = float(trajectory.start)
        last = trajectory.end if before is None else max(trajectory.end, before.end)
        self.end = played_out(delays, last)

    def interrupted(self, time: float, since: float) -> Trajectory:
        """This motion from `since` to `time` (s), and then to rest, shaped in the same way."""
        motion = ShapedMotion(Interrupted(self.trajectory, time), self.delays, self.before)
        end = max(motion.end, time) + GRID
        times = np.linspace(since, end, max(math.ceil((end - since) / GRID), 1) + 1)
        values = motion.samples(times)
        values[1:, -1] = 0.0
        return Splines(times, *values)

    def sample(self, time: float) -> Reference:
        return Reference(*self.samples(np.array([time]))[:, 0])

    def samples(self, times: np.ndarray) -> np.ndarray:
        origins = self.delays.origins(times)
        total = (np.zeros((3, len(times), len(self.trajectory.sample(self.start).position)))
                 if self.before is None else self.before.samples(times))
        for at, height in enumerate(self.delays.heights):
            when, rate, bend = origins[:, :, at]
            value = self.trajectory.samples(when)
            if self.before is not None:
                value = np.where((when >= self.start)[None, :, None],
                                 value - self.before.samples(when), 0.0)
            position, velocity, acceleration = value
            rate, bend = rate[:, None], bend[:, None]
            # Chain rule for x(t_i(t))
            total[0] += height * position
            total[1] += height * velocity * rate
            total[2] += height * (acceleration * rate**2 + velocity * bend)
        return total
