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
"""Slews: smooth changes of attitude about one axis each, one upon another."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flex_description.math import exponential, quaternion_from_rotation

PEAK_RATE, PEAK_ACCELERATION = 1.875, 5.774      # of a quintic from 0 to 1 in unit time
SMALLEST = 1e-9      # rad: less is no slew


class Attitude(NamedTuple):
    """rotation (3, 3) of the body in the world; rate (rad/s) and acceleration (rad/s2), (3,), in
    world axes."""

    rotation: np.ndarray
    rate: np.ndarray
    acceleration: np.ndarray


class _Turn(NamedTuple):
    axis: np.ndarray
    angle: float
    begin: float
    duration: float

    def at(self, time: float) -> Attitude:
        s = min(max((time - self.begin) / self.duration, 0.0), 1.0)
        share = s**3 * (10.0 + s * (6.0 * s - 15.0))
        rate = 30.0 * s**2 * (1.0 - s)**2 / self.duration
        acceleration = 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / self.duration**2
        return Attitude(exponential(share * self.angle * self.axis),
                        self.angle * rate * self.axis, self.angle * acceleration * self.axis)


class Slews:
    """The wanted attitude as a function of time.

    Each new target begins a turn from the last target to the new one, about the axis of the
    rotation between them (d of the second chart of the vector-parameters, so that a half-turn is
    a turn like any other), as a quintic of time. A turn that begins before the last one has ended
    is composed with it: O = O_new O_old, and nothing jumps.
    """

    def __init__(self, start: np.ndarray) -> None:
        self._rest = np.array(start)
        self._turns: list[_Turn] = []
        self.target = np.array(start)

    def turn_to(self, target: np.ndarray, time: float, fastest: float, quickest: float,
                least: float) -> float:
        """Begin at `time` (s) to turn to a rotation (3, 3), with at most `fastest` (rad/s) and
        `quickest` (rad/s2), in `least` (s) at least; returns the time (s) of arrival."""
        *vector, root = quaternion_from_rotation(target @ self.target.T)
        d = np.array(vector)
        angle = 2.0 * float(np.arctan2(np.linalg.norm(d), root))
        self.target = np.array(target)
        if angle < SMALLEST:
            return time
        duration = max(least, PEAK_RATE * angle / fastest,
                       float(np.sqrt(PEAK_ACCELERATION * angle / quickest)))
        self._turns.append(_Turn(d / np.linalg.norm(d), angle, time, duration))
        return time + duration

    def at(self, time: float) -> Attitude:
        """The wanted attitude at `time` (s); times do not go back."""
        while self._turns and time >= self._turns[0].begin + self._turns[0].duration:
            ended = self._turns.pop(0)
            self._rest = exponential(ended.angle * ended.axis) @ self._rest
        R, rate, acceleration = self._rest, np.zeros(3), np.zeros(3)
        for turn in self._turns:
            new = turn.at(time)
            carried = new.rotation @ rate
            acceleration = (new.acceleration + new.rotation @ acceleration
                            + np.cross(new.rate, carried))
            R, rate = new.rotation @ R, new.rate + carried
        return Attitude(R, rate, acceleration)

    @property
    def moving(self) -> bool:
        """Whether a turn is under way."""
        return bool(self._turns)
