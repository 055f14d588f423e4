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
"""Twists that a platform is sent, checked and limited: it stops when they cease.

Without ROS: times are s of one clock, whichever it is.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.simulation.command_limits import LARGEST, CommandError

NAMES = ('linear.x', 'linear.y', 'angular.z')


@dataclass(frozen=True)
class TwistLimits:
    """Largest speed (m/s), turning rate (rad/s) and their rates; inf: none but the wheels'."""

    speed: float = np.inf
    turn: float = np.inf
    acceleration: float = np.inf
    turn_acceleration: float = np.inf


class TwistDriver:
    """The twist (3,) to drive by now: speed ahead, to the left (m/s) and turning rate (rad/s).

    timeout (s): age at which a twist no longer counts and the platform stops. `engaged`: a twist
    has come, and the platform has not come to its stop since.
    """

    def __init__(self, limits: TwistLimits, timeout: float) -> None:
        self._limits, self._timeout = limits, timeout
        self.stops = 0           # how often twists ceased while the platform was driven
        self.reset()

    def reset(self) -> None:
        """Nothing was sent."""
        self._wanted, self._now = np.zeros(3), np.zeros(3)
        self._sent = -np.inf
        self.engaged = self._stopping = False

    def accept(self, twist: ArrayLike, time: float) -> None:
        """Take a twist (3,) sent at a time, or raise CommandError and go on as before."""
        values = np.asarray(twist, dtype=float)
        for name, value in zip(NAMES, values, strict=True):
            if not abs(value) <= LARGEST:
                expected = f'at most {LARGEST:g}' if np.isfinite(value) else 'a finite number'
                raise CommandError(f'{name}: expected {expected}, found {value:g}')
        self._wanted, self._sent = values, time
        self.engaged, self._stopping = True, False

    def twist(self, time: float, period: float) -> Array | None:
        """What to drive by for a period (s); None if nobody drives by twists: at the end of a stop
        once more zero, then None."""
        if not self.engaged:
            return None
        if time - self._sent > self._timeout:
            self.stops += not self._stopping
            self._stopping = True
            self._wanted = np.zeros(3)
        limits = self._limits
        wanted = self._wanted.copy()
        # The path is kept: both are reduced by one factor.
        speed = float(np.hypot(*wanted[:2]))
        wanted /= max(1.0, speed / limits.speed, abs(wanted[2]) / limits.turn)
        most = period * np.array([limits.acceleration, limits.acceleration,
                                  limits.turn_acceleration])
        off = wanted - self._now
        near = np.abs(off) <= most * (1.0 + 1e-9)      # a last step by rounding is none
        self._now = np.where(near, wanted, self._now + np.clip(off, -most, most))
        if self._stopping and not self._now.any():
            self.engaged = False
        return self._now.copy()
