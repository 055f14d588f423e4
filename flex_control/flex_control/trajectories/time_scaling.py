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
"""The same path in another time."""
from __future__ import annotations

import numpy as np

from flex_control.errors import ControlError
from flex_control.trajectories.base import DERIVATIVES, Reference, Trajectory


class Shifted(Trajectory):
    """A trajectory that begins `delay` s later."""

    def __init__(self, trajectory: Trajectory, delay: float) -> None:
        if not np.isfinite(delay):
            raise ControlError(f'delay: expected a finite time in s, found {delay:g}')
        self.trajectory, self.delay = trajectory, float(delay)
        self.start, self.end = trajectory.start + self.delay, trajectory.end + self.delay

    def sample(self, time: float) -> Reference:
        return self.trajectory.sample(time - self.delay)

    def extremes(self, order: int) -> tuple[np.ndarray, np.ndarray]:
        return self.trajectory.extremes(order)


class TimeScaled(Trajectory):
    """A trajectory that takes `factor` times its duration, from the same start on."""

    def __init__(self, trajectory: Trajectory, factor: float) -> None:
        if not (np.isfinite(factor) and factor > 0.0):
            raise ControlError(f'factor: expected a positive number, found {factor:g}')
        self.trajectory, self.factor = trajectory, float(factor)
        self.start = trajectory.start
        self.end = self.start + factor * (trajectory.end - trajectory.start)

    def sample(self, time: float) -> Reference:
        inner = self.trajectory
        past = self.start + (time - self.start) / self.factor if time < self.end else inner.end
        wanted = inner.sample(past)
        return Reference(*(wanted.derivative(order) / self.factor**order
                           for order in range(DERIVATIVES)))

    def extremes(self, order: int) -> tuple[np.ndarray, np.ndarray]:
        low, high = self.trajectory.extremes(order)
        return low / self.factor**order, high / self.factor**order
