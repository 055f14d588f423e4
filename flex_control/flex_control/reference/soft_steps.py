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
"""Steps of a reference as smooth motions, for control laws that are linear about it."""
from __future__ import annotations

import numpy as np

from flex_control.commanded_joints import commanded_places
from flex_control.design.gains import SLOWEST_STIFF, first_frequency, joint_inertia
from flex_control.trajectories.base import Reference
from flex_control.trajectories.splines import Splines
from flex_dynamics import Model

LEAST = 0.01              # rad or m: less than this is no step
MARGIN = 1.5              # of the way that the speed explains
PERIODS = 2.0             # of the first mode: a quintic as long as this hardly shakes it
SHARE_OF_LIMIT = 0.5      # of the efforts, for the acceleration alone
MOST_SPEED = 1.875        # of a quintic from 0 to 1 in unit time
MOST_ACCELERATION = 5.774


class SoftSteps:
    """Follows a reference, and makes steps of its position smooth, over a time T.

    Subtracted from the reference is the quintic that begins with the jump (and what was left of
    one before, with its speed and acceleration) and ends in nothing. T is `duration` (s), or if
    that is 0 what the jump takes: two periods of the first mode, the speed limits, and half of the
    effort limits for the largest inertia. With constraints only the commanded joints count.
    """

    def __init__(self, model: Model, duration: float = 0.0) -> None:
        self.duration = duration
        speed, effort = model.joint_limits.velocity, model.joint_limits.effort
        self._speed = np.where(speed > 0.0, speed, np.inf)
        self._counts = np.ones(model.n_joints, dtype=bool)
        if model.robot.constraints:
            self._counts[:] = False
            self._counts[commanded_places(model)] = True
        self._acceleration = np.where(effort > 0.0, SHARE_OF_LIMIT * effort
                                      / joint_inertia(model), np.inf)
        self._least = PERIODS * 2.0 * np.pi / min(first_frequency(model), SLOWEST_STIFF)
        self.reset()

    def reset(self) -> None:
        """Forget the motion: the next reference follows none."""
        self._last: Reference | None = None
        self._step: Splines | None = None
        self._since = 0.0

    def follow(self, reference: Reference, joints: np.ndarray, period: float) -> Reference:
        """The motion to follow, `period` (s) after the last one; the first begins where the
        robot's joints (n_joints,) are."""
        last, self._last = self._last, reference
        self._since += period
        if self._step is not None and self._since >= self._step.end:
            self._step = None
        if last is None:
            jump, room = reference.position - joints, LEAST
        else:
            jump = reference.position - last.position
            speed = np.maximum(np.abs(reference.velocity), np.abs(last.velocity))
            room = LEAST + MARGIN * speed * period
        if (np.abs(jump) > room)[self._counts].any():
            left = self._left()
            begin = left.position + jump, left.velocity, left.acceleration
            self._step = Splines([0.0, self._time(begin[0])],
                                 *(np.array([one, np.zeros_like(one)]) for one in begin))
            self._since = 0.0
        if self._step is None:
            return reference
        left = self._left()
        return Reference(*(reference.derivative(k) - left.derivative(k) for k in range(5)))

    @property
    def step(self) -> object:
        """The step that is being taken, or None: another one is another object."""
        return self._step

    def ahead(self, reference: Reference, delay: float) -> Reference:
        """The motion to follow `delay` (s) from now, if the reference then comes without a step.
        """
        after = self._since + delay
        if self._step is None or after >= self._step.end:
            return reference
        left = self._step.sample(after)
        return Reference(*(reference.derivative(k) - left.derivative(k) for k in range(5)))

    def _left(self) -> Reference:
        assert self._last is not None
        return (Reference.at_rest(np.zeros_like(self._last.position)) if self._step is None
                else self._step.sample(self._since))

    def _time(self, jump: np.ndarray) -> float:
        if self.duration > 0.0:
            return self.duration
        size = np.where(self._counts, np.abs(jump), 0.0)
        return float(max(self._least, np.max(MOST_SPEED * size / self._speed),
                         np.sqrt(np.max(MOST_ACCELERATION * size / self._acceleration))))
