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
"""Limits of joint motion: keep them by taking more time, or refuse with the reason."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flex_control.errors import ControlError
from flex_control.trajectories.base import Trajectory
from flex_control.trajectories.time_scaling import TimeScaled
from flex_description import Limits, Robot

RATES = ('velocity', 'acceleration', 'jerk')
SHORTEST = 1e-3            # s; of a motion that leads nowhere
SLACK = 1e-9               # of a limit, for rounding


@dataclass(frozen=True)
class MotionLimits:
    """Ranges and largest rates of joints, each (n_joints,), infinite where there is none.

    rad or m, per s, s2 and s3. `names` are those of the joints, for error messages.
    """

    names: tuple[str, ...]
    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    jerk: np.ndarray

    @classmethod
    def of(cls, robot: Robot, names: Sequence[str], velocity: ArrayLike = (),
           acceleration: ArrayLike = (), jerk: ArrayLike = ()) -> MotionLimits:
        """The limits of a robot for the named joints.

        velocity, acceleration, jerk: additional limits, (n_joints,), one number for all joints, or
        empty for none. The lower one of two limits holds; an acceleration is held to the lower one
        of the acceleration and deceleration limits of its joint, whether the speed rises or falls.
        """
        known = {joint.name: joint.limits for joint in robot.joints}
        of = [known.get(name, Limits()) for name in names]
        ranges = np.array([(one.lower, one.upper, one.velocity,
                            min(one.acceleration, one.deceleration), one.jerk) for one in of])
        ranges = ranges.reshape(-1, 5)
        own = [_rates(given, what, len(names)) for given, what in
               ((velocity, 'velocity'), (acceleration, 'acceleration'), (jerk, 'jerk'))]
        return cls(tuple(names), ranges[:, 0], ranges[:, 1],
                   *(np.minimum(ranges[:, 2 + at], rate) for at, rate in enumerate(own)))

    def of_some(self, places: Sequence[int]) -> MotionLimits:
        """The same for the joints at these places, none for the others, which only follow."""
        kept = np.isin(np.arange(len(self.names)), places)
        return MotionLimits(self.names, np.where(kept, self.lower, -np.inf), *(
            np.where(kept, one, np.inf) for one in (self.upper, self.velocity, self.acceleration,
                                                    self.jerk)))

    def rate(self, order: int) -> np.ndarray:
        """The largest (n_joints,) of a derivative: 1 velocity, 2 acceleration, 3 jerk."""
        return (self.velocity, self.acceleration, self.jerk)[order - 1]

    def duration(self, first: np.ndarray, last: np.ndarray, peaks: Sequence[float]) -> float:
        """The shortest time (s) from `first` to `last` (n_joints,) along a path from 0 to 1 in
        u = t / duration whose velocity, acceleration and jerk have these peaks."""
        self.check_range(np.array([first, last]))
        span = np.abs(last - first)
        needed = [(peak * span / self.rate(order))**(1.0 / order)
                  for order, peak in enumerate(peaks, 1)]
        free = (span > 0.0) & (np.max(needed, axis=0) == 0.0)
        if free.any():
            name = self.names[int(np.flatnonzero(free)[0])]
            raise ControlError(f'{name}: expected a limit of velocity, acceleration or jerk to '
                               'find its time from, found none')
        return max(float(np.max(needed, initial=0.0)), SHORTEST)

    def check_range(self, positions: np.ndarray, joints: Sequence[int] | None = None,
                    slack: float = 0.0) -> None:
        """ControlError if one of the positions (k, n_joints) is outside by more than slack (rad or
        m); joints: those that the columns are, if not all."""
        which = np.arange(len(self.names)) if joints is None else np.array(joints)
        outside = ((positions < self.lower[which] - slack)
                   | (positions > self.upper[which] + slack))
        if outside.any():
            row, column = (int(k) for k in np.argwhere(outside)[0])
            at = int(which[column])
            raise ControlError(f'{self.names[at]}: expected {self.lower[at]:g} to '
                               f'{self.upper[at]:g} (its limits), found '
                               f'{positions[row, column]:g}')

    def check(self, trajectory: Trajectory, slack: float = SLACK,
              accelerations: np.ndarray | None = None, range_slack: float = 0.0) -> None:
        """ControlError with the joint, limit and value, if the motion leaves the limits.

        slack: share of a limit by which a rate may exceed it. accelerations (k, n_joints): what a
        planner stated at its points, see `factor`. range_slack (rad or m): by how much it may
        leave the range of a joint.
        """
        self._check_path(trajectory, range_slack)
        for order, what in enumerate(RATES, 1):
            limit = self.rate(order)
            if np.isinf(limit).all():
                continue
            peak = self._peak(trajectory, order, what, accelerations)
            if (peak > limit * (1.0 + slack)).any():
                at = int(np.argmax(np.where(np.isfinite(limit), peak / limit, 0.0)))
                factor = math.ceil(1e3 * self.factor(trajectory, accelerations)) / 1e3
                raise ControlError(
                    f'{self.names[at]}, {what}: expected at most {limit[at]:g} (its limit), found '
                    f'{peak[at]:g} on the way; {factor:g} times the duration would do')

    def _peak(self, trajectory: Trajectory, order: int, what: str,
              accelerations: np.ndarray | None) -> np.ndarray:
        """Largest rates (n_joints,), to be compared with the limit; ControlError if one jumps."""
        peak = trajectory.peak(order)
        self._check_jumps(peak, self.rate(order), what)
        if order == 2 and accelerations is not None:
            jump = np.abs(np.diff(accelerations, axis=0)).max(axis=0, initial=0.0)
            peak = np.maximum(np.abs(accelerations).max(axis=0), peak - 0.5 * jump)
        return peak

    def _check_jumps(self, peak: np.ndarray, limit: np.ndarray, what: str) -> None:
        jumps = np.isinf(peak) & np.isfinite(limit)
        if jumps.any():
            at = int(np.flatnonzero(jumps)[0])
            raise ControlError(f'{self.names[at]}, {what}: expected at most {limit[at]:g} (its '
                               'limit), found a corner on the way, which no time makes round; '
                               'give velocities and accelerations at the points, or use a '
                               'smoother interpolation')

    def factor(self, trajectory: Trajectory, accelerations: np.ndarray | None = None) -> float:
        """How many times its duration the motion needs to keep all rates, reaching one; 0 if it
        leads nowhere. ControlError if a rate jumps that must not.

        accelerations (k, n_joints): what a planner stated at its points, with that of the start.
        Samples of a time-optimal motion lie on both sides of a jump from full acceleration to full
        braking, beyond which the polynomial between them swings: half of the largest jump from one
        point to the next is allowed there.
        """
        factor = 0.0
        for order, what in enumerate(RATES, 1):
            limit = self.rate(order)
            limited = np.isfinite(limit)
            if limited.any():
                peak = self._peak(trajectory, order, what, accelerations)
                needed = (peak[limited] / limit[limited])**(1.0 / order)
                factor = max(factor, float(needed.max()))
        return factor

    def stretched(self, trajectory: Trajectory, slack: float = SLACK,
                  accelerations: np.ndarray | None = None,
                  range_slack: float = 0.0) -> Trajectory:
        """The motion itself if it keeps the limits, else a slower one along the same path. slack,
        accelerations and range_slack: as for `check`.

        ControlError if the path leaves the range of a joint, or begins in motion: slower, it
        would begin with a jump of speed.
        """
        self._check_path(trajectory, range_slack)
        factor = self.factor(trajectory, accelerations)
        if factor <= 1.0 + slack:
            return trajectory
        speed = np.abs(trajectory.sample(trajectory.start).velocity)
        if (speed > SLACK * trajectory.peak(1)).any():
            raise ControlError(f'the motion needs {factor:.3g} times its duration to keep its '
                               'limits, and can not be slowed down, as it begins at speed; stop '
                               'first')
        return TimeScaled(trajectory, factor)

    def _check_path(self, trajectory: Trajectory, slack: float) -> None:
        low, high = trajectory.extremes(0)
        rounding = SLACK * np.maximum(1.0, np.maximum(np.abs(low), np.abs(high)))
        self.check_range(np.array([low + rounding, high - rounding]), slack=slack)


def _rates(given: ArrayLike, what: str, count: int) -> np.ndarray:
    given = np.atleast_1d(np.array(given, dtype=float))
    if given.size not in (0, 1, count):
        raise ControlError(f'{what} limits: expected none, 1 or {count} numbers (one a joint), '
                           f'found {given.size}')
    if not (given > 0.0).all():
        raise ControlError(f'{what} limits: expected positive numbers, found {given}')
    return np.full(count, given[0] if given.size else np.inf) if given.size < 2 else given
