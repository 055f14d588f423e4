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
"""The cycloidal motion of Mohan and Saha (44), and the cycloid that comes to rest."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from flex_control.errors import ControlError
from flex_control.trajectories.base import Reference, Trajectory, checked_ends
from flex_control.trajectories.motion_limits import MotionLimits

PEAKS = (2.0, 2.0 * np.pi, 4.0 * np.pi**2)       # of u - sin(2 pi u) / (2 pi)


class Cycloidal(Trajectory):
    """From `first` to `last` (n_joints,), beginning at `start` (s), in `duration` (s).

    q = first + k [t - T / w sin(w t / T)], k = (last - first) / T, T the duration: one for all
    joints, or one a joint as Mohan and Saha have it; a joint that arrives early waits. With
    w = 2 pi each joint starts and ends at rest.

    as_printed takes w = pi, as (44) is printed: each joint arrives with the speed 2 k. It is
    stopped there, which no arm can follow: use it to compare with the paper.
    """

    def __init__(self, first: ArrayLike, last: ArrayLike, duration: ArrayLike,
                 start: float = 0.0, as_printed: bool = False) -> None:
        self.first, self.last = checked_ends(first, last)
        durations = np.array(duration, dtype=float)
        if durations.shape not in ((), self.first.shape) or not (
                np.isfinite(durations).all() and (durations > 0.0).all()):
            raise ControlError(f'duration: expected a positive time in s, or one a joint, found '
                               f'{duration!r}')
        self.durations = np.broadcast_to(durations, self.first.shape)
        self.start = float(start)
        self.end = self.start + float(self.durations.max(initial=0.0))
        self._printed = as_printed
        self._w = np.pi if as_printed else 2.0 * np.pi

    @classmethod
    def within(cls, limits: MotionLimits, first: ArrayLike, last: ArrayLike,
               start: float = 0.0) -> Cycloidal:
        """The quickest one that keeps the limits; ControlError if an end is outside them."""
        return cls(first, last, limits.duration(*checked_ends(first, last), PEAKS), start)

    def sample(self, time: float) -> Reference:
        w, duration = self._w, self.durations
        u = (time - self.start) / duration
        moving = (u >= 0.0) & (u < 1.0)
        u = np.clip(u, 0.0, 1.0)
        span = self.last - self.first
        rate = w / duration
        speed = np.where(moving, span / duration, 0.0)                         # k
        sine, cosine = np.sin(w * u), np.cos(w * u)
        return Reference(self.first + span * (u - sine / w), speed * (1.0 - cosine),
                         speed * rate * sine, speed * rate**2 * cosine, -speed * rate**3 * sine)

    def extremes(self, order: int) -> tuple[np.ndarray, np.ndarray]:
        if order == 0:
            return np.minimum(self.first, self.last), np.maximum(self.first, self.last)
        half = 0.0 if self._printed else 1.0           # half a period has no second half wave
        low, high = ((0.0, 2.0), (-half, 1.0), (-1.0, 1.0), (-1.0, half))[order - 1]
        scale = (self.last - self.first) / self.durations * (self._w / self.durations)**(order - 1)
        return np.minimum(scale * low, scale * high), np.maximum(scale * low, scale * high)

    def peak(self, order: int) -> np.ndarray:
        peak = super().peak(order)
        if self._printed and order > 1:                # the stop at the end is a jump of speed
            peak[self.first != self.last] = np.inf
        return peak
