"""Rest to rest along a straight line in joint space with the least integral of squared jerk."""
from __future__ import annotations

import numpy as np

from flex_control.errors import ControlError
from flex_control.trajectories.base import Reference, Trajectory


class MinimumJerk(Trajectory):
    """From `first` to `last` (n_joints,), beginning at `start` (s), taking `duration` (s).

    With s = (t - start) / duration the path is 10 s^3 - 15 s^4 + 6 s^5: the quintic whose speed
    and acceleration vanish at both ends (Flash and Hogan).
    """

    def __init__(self, first, last, duration: float, start: float = 0.0) -> None:
        self.first, self.last = np.array(first, dtype=float), np.array(last, dtype=float)
        if self.first.ndim != 1 or self.first.shape != self.last.shape:
            raise ControlError(f'ends: expected two vectors of one length, found shapes '
                               f'{self.first.shape} and {self.last.shape}')
        if not (np.isfinite(self.first).all() and np.isfinite(self.last).all()):
            raise ControlError('ends: expected finite positions')
        if not (np.isfinite(duration) and duration > 0.0):
            raise ControlError(f'duration: expected a positive time in s, found {duration:g}')
        self.start, self.end = float(start), float(start + duration)

    def sample(self, time: float) -> Reference:
        duration = self.end - self.start
        s = min(max((time - self.start) / duration, 0.0), 1.0)
        span = self.last - self.first
        return Reference(
            self.first + span * (s**3 * (10.0 - 15.0 * s + 6.0 * s**2)),
            span * (30.0 * s**2 * (1.0 - s)**2 / duration),
            span * (60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / duration**2))
