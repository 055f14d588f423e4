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
"""Joint motions as finite Fourier series within the limits of a robot (Swevers et al. 1997).

With s = t / T and a window w that rises and falls by quintics, so that the motion begins and ends
at rest,

    q_j(t) = start_j + w(s) (sum_k a_jk sin(2 pi k s) + b_jk (cos(2 pi k s) - 1)).
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_control import CubicSpline, MotionLimits, QuinticSpline, Trajectory
from flex_dynamics.arrays import Array

POINTS = 50            # a second, of the trajectory that is sent
USED = 0.9             # of a limit
FASTEST = 2.0          # rad/s or m/s, of joints without a limit
EDGE = 0.15            # of the duration, in which the window rises, and falls
DIFFERENCE = 1e-4      # of the duration


@dataclass(frozen=True)
class FourierMotion:
    """coefficients (2, n_joints, K): a and b. start (n_joints,); duration s."""

    start: Array
    coefficients: Array
    duration: float

    def positions(self, time: Array) -> Array:
        """Joints (k, n_joints) at times (k,), s; at rest before and after."""
        s = np.clip(np.asarray(time) / self.duration, 0.0, 1.0)
        edge = np.clip(np.minimum(s, 1.0 - s) / EDGE, 0.0, 1.0)
        window = edge**3 * (10.0 - 15.0 * edge + 6.0 * edge**2)
        harmonics = 2.0 * np.pi * np.arange(1, self.coefficients.shape[2] + 1)
        waves = np.sin(s[:, None] * harmonics), np.cos(s[:, None] * harmonics) - 1.0
        moved = sum(wave @ part.T for wave, part in zip(waves, self.coefficients, strict=True))
        found: Array = self.start + window[:, None] * moved
        return found

    def scaled_to(self, limits: MotionLimits) -> FourierMotion:
        """The same with each joint's amplitude as large as the limits allow."""
        time = np.linspace(0.0, self.duration, 801)
        h = DIFFERENCE * self.duration
        at, before, after = (self.positions(one) - self.start for one in (
            time, time - h, time + h))
        speed, acceleration = (after - before) / (2.0 * h), (after - 2.0 * at + before) / h**2
        with np.errstate(divide='ignore', invalid='ignore'):
            room = np.min([
                (limits.upper - self.start) / at.max(axis=0),
                (self.start - limits.lower) / (-at).max(axis=0),
                np.minimum(limits.velocity, FASTEST) / np.abs(speed).max(axis=0),
                limits.acceleration / np.abs(acceleration).max(axis=0)], axis=0)
        room = USED * np.where(np.isfinite(room), np.maximum(room, 0.0), 0.0)
        return FourierMotion(self.start, self.coefficients * np.minimum(
            room, 1e6)[None, :, None], self.duration)

    def points(self) -> tuple[Array, Array, Array, Array]:
        """Times (k,), positions, velocities and accelerations (k, n_joints) of a trajectory; at
        rest at both ends."""
        count = max(3, round(POINTS * self.duration)) + 1
        time = np.linspace(0.0, self.duration, count)
        h = DIFFERENCE * self.duration
        at, before, after = (self.positions(one) for one in (time, time - h, time + h))
        velocity, acceleration = (after - before) / (2.0 * h), (after - 2.0 * at + before) / h**2
        for one in (velocity, acceleration):
            one[[0, -1]] = 0.0
        return time, at, velocity, acceleration

    def trajectory(self) -> Trajectory:
        """What a controller follows."""
        time, positions, *_ = self.points()
        spline = QuinticSpline if len(time) > 3 else CubicSpline
        return spline(time, positions)
