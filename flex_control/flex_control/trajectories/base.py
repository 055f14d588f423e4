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
"""The base class of trajectories: joint motion as a function of time."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from flex_control.errors import ControlError

DERIVATIVES = 5        # position, velocity, acceleration, jerk and snap
SAMPLES = 2001         # for peaks of motions without a formula


class Feedforward(NamedTuple):
    """Elastic motion and efforts of a planned motion at one instant.

    position, velocity, acceleration (n - n_joints,): of the elastic coordinates. effort, rate
    (n_joints,): joint efforts, N m or N, and their derivatives, per s.
    """

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    effort: np.ndarray
    rate: np.ndarray


@dataclass(frozen=True)
class Reference:
    """Desired joint motion at one instant, each (n_joints,), rad or m and per s, s2, s3, s4.

    jerk and snap, the third and fourth derivatives, are needed for elastic joints; left out they
    are zero. A motion that was computed with the deflection of the robot (`TipTrajectory`) also
    has a feedforward, which controllers take in place of their own.
    """

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    jerk: np.ndarray = None     # type: ignore[assignment]     # __post_init__ makes it an array
    snap: np.ndarray = None     # type: ignore[assignment]
    feedforward: Feedforward | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name in ('jerk', 'snap'):
            if getattr(self, name) is None:
                object.__setattr__(self, name, np.zeros_like(self.position))

    @classmethod
    def at_rest(cls, position: ArrayLike) -> Reference:
        """Joints held at a position (n_joints,)."""
        position = np.array(position, dtype=float)
        return cls(position, np.zeros_like(position), np.zeros_like(position))

    def derivative(self, order: int) -> np.ndarray:
        """Position for 0, velocity for 1, ... snap for 4."""
        return (self.position, self.velocity, self.acceleration, self.jerk, self.snap)[order]


class Trajectory:
    """Joint motion from `start` to `end` (s); before and after it the joints rest at its ends.

    A subclass sets `start` and `end` and defines `sample`.
    """

    start: float
    end: float

    def sample(self, time: float) -> Reference:
        """The motion at `time` (s)."""
        raise TypeError(f'{type(self).__name__} has no sample')

    def samples(self, times: np.ndarray) -> np.ndarray:
        """Position, velocity and acceleration (3, k, n_joints) at `times` (k,) s."""
        found = [self.sample(time) for time in times.tolist()]
        return np.array([[one.derivative(order) for one in found] for order in range(3)])

    def extremes(self, order: int) -> tuple[np.ndarray, np.ndarray]:
        """Least and largest value, each (n_joints,), of a derivative (0: position, 1: velocity,
        ...) during the motion; from many samples, unless a subclass has a formula."""
        values = [self.sample(time).derivative(order)
                  for time in np.linspace(self.start, self.end, SAMPLES)]
        return np.min(values, axis=0), np.max(values, axis=0)

    def peak(self, order: int) -> np.ndarray:
        """Largest magnitude (n_joints,) of a derivative during the motion."""
        low, high = self.extremes(order)
        peak: np.ndarray = np.maximum(np.abs(low), np.abs(high))
        return peak


def checked_points(times: ArrayLike, positions: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """times (k,) rising and positions (k, n_joints), finite; else ControlError."""
    times, positions = np.array(times, dtype=float), np.array(positions, dtype=float)
    if times.ndim != 1 or not times.size:
        raise ControlError(f'times: expected at least one, found shape {times.shape}')
    if positions.ndim != 2 or len(positions) != len(times):
        raise ControlError(f'positions: expected {len(times)} rows, one a time, found shape '
                           f'{positions.shape}')
    if not (np.isfinite(times).all() and np.isfinite(positions).all()):
        raise ControlError('times and positions: expected finite numbers')
    if (np.diff(times) <= 0.0).any():
        at = int(np.flatnonzero(np.diff(times) <= 0.0)[0])
        raise ControlError(f'times: expected to rise, found {times[at + 1]:g} s after '
                           f'{times[at]:g} s')
    return times, positions


def checked_ends(first: ArrayLike, last: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Two finite positions (n_joints,) of one length; else ControlError."""
    first, last = np.array(first, dtype=float), np.array(last, dtype=float)
    if first.ndim != 1 or first.shape != last.shape:
        raise ControlError(f'ends: expected two vectors of one length, found shapes '
                           f'{first.shape} and {last.shape}')
    if not (np.isfinite(first).all() and np.isfinite(last).all()):
        raise ControlError('ends: expected finite positions')
    return first, last


def checked_duration(duration: float) -> float:
    """A positive, finite time in s; else ControlError."""
    if not (np.isfinite(duration) and duration > 0.0):
        raise ControlError(f'duration: expected a positive time in s, found {duration:g}')
    return float(duration)
