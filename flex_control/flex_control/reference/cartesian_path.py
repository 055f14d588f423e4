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
"""Paths of a frame in space: lines, circles, and motions through poses."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from flex_control.errors import ControlError
from flex_control.trajectories.base import checked_duration
from flex_control.trajectories.interpolating_splines import QuinticSpline
from flex_control.trajectories.minimum_jerk import MinimumJerk
from flex_control.trajectories.orientations import OrientationSpline


class FrameTarget(NamedTuple):
    """Desired motion of a frame at one instant, in the world.

    position (3,) m, velocity (3,) m/s, acceleration (3,) m/s2; rotation (3, 3), frame to world,
    spin (3,) rad/s and spin_rate (3,) rad/s2 in world axes, or None: the orientation is free.
    """

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    rotation: np.ndarray | None = None
    spin: np.ndarray | None = None
    spin_rate: np.ndarray | None = None


class CartesianPath:
    """Motion of a frame from `start` to `end` (s); before and after it the frame rests.

    A subclass sets `start` and `end` and defines `sample`. `rows` is 3 where only the position is
    given, 6 with the orientation.
    """

    start: float
    end: float
    rows: int = 3

    def sample(self, time: float) -> FrameTarget:
        """The motion at `time` (s)."""
        raise TypeError(f'{type(self).__name__} has no sample')


class TipLine(CartesianPath):
    """A straight line from `first` to `last` (3,) m in the world, in minimum jerk time."""

    def __init__(self, first: ArrayLike, last: ArrayLike, duration: float,
                 start: float = 0.0) -> None:
        self._motion = MinimumJerk(_point(first, 'first'), _point(last, 'last'), duration, start)
        self.start, self.end = self._motion.start, self._motion.end

    def sample(self, time: float) -> FrameTarget:
        at = self._motion.sample(time)
        return FrameTarget(at.position, at.velocity, at.acceleration)


class TipCircle(CartesianPath):
    """A circle about `centre` (3,) m in the world, from `first` (3,) m on it.

    It turns about `normal` (3,), right-handed, by `angle` (rad; default: once around), in minimum
    jerk time. ControlError if `first` is not in the plane of the circle.
    """

    def __init__(self, first: ArrayLike, centre: ArrayLike, normal: ArrayLike, duration: float,
                 angle: float = 2.0 * np.pi, start: float = 0.0) -> None:
        self._centre, axis = _point(centre, 'centre'), _point(normal, 'normal')
        self._arm = _point(first, 'first') - self._centre
        length, radius = np.linalg.norm(axis), np.linalg.norm(self._arm)
        if length == 0.0 or radius == 0.0:
            raise ControlError('circle: expected a normal that is not zero, and a first point '
                               'away from the centre')
        axis = axis / length
        off = float(axis @ self._arm)
        if abs(off) > 1e-6 * radius:
            raise ControlError('circle: expected the first point in the plane through the centre '
                               f'across the normal, found it {off:.3g} m away')
        self._arm -= off * axis
        self._side = np.cross(axis, self._arm)
        if not np.isfinite(angle):
            raise ControlError(f'angle: expected a finite angle in rad, found {angle}')
        self._angle = MinimumJerk([0.0], [angle], checked_duration(duration), start)
        self.start, self.end = self._angle.start, self._angle.end

    def sample(self, time: float) -> FrameTarget:
        at = self._angle.sample(time)
        (angle,), (rate,), (second,) = at.position, at.velocity, at.acceleration
        radial = np.cos(angle) * self._arm + np.sin(angle) * self._side
        along = np.cos(angle) * self._side - np.sin(angle) * self._arm
        return FrameTarget(self._centre + radial, rate * along,
                           second * along - rate**2 * radial)


class HeldOrientation(CartesianPath):
    """A path of positions on which the frame keeps the orientation rotation (3, 3)."""

    rows = 6

    def __init__(self, path: CartesianPath, rotation: ArrayLike) -> None:
        self._path, self._rotation = path, np.array(rotation, dtype=float)
        self.start, self.end = path.start, path.end

    def sample(self, time: float) -> FrameTarget:
        at = self._path.sample(time)
        return FrameTarget(at.position, at.velocity, at.acceleration, self._rotation, np.zeros(3),
                           np.zeros(3))


class TipPoses(CartesianPath):
    """Through positions (k, 3) m and, if given, rotations (k, 3, 3) at times (k,) s.

    It rests at both ends. Positions are joined by a quintic spline, rotations by cubics of
    vector-parameters (`OrientationSpline`).
    """

    def __init__(self, times: ArrayLike, positions: ArrayLike,
                 rotations: ArrayLike | None = None) -> None:
        positions = np.array(positions, dtype=float)
        if positions.ndim != 2 or positions.shape[1] != 3 or len(positions) < 2:
            raise ControlError('positions: expected at least two rows of x, y, z, found shape '
                               f'{positions.shape}')
        self._positions = QuinticSpline(times, positions)
        self.start, self.end = self._positions.start, self._positions.end
        self._rotations: OrientationSpline | None = None
        if rotations is not None:
            self._rotations, self.rows = OrientationSpline(times, rotations), 6

    def sample(self, time: float) -> FrameTarget:
        at = self._positions.sample(time)
        if self._rotations is None:
            return FrameTarget(at.position, at.velocity, at.acceleration)
        turn = self._rotations.sample(time)
        return FrameTarget(at.position, at.velocity, at.acceleration, turn.rotation,
                           turn.rotation @ turn.velocity, turn.rotation @ turn.acceleration)


def _point(value: ArrayLike, name: str) -> np.ndarray:
    point = np.array(value, dtype=float)
    if point.shape != (3,) or not np.isfinite(point).all():
        raise ControlError(f'{name}: expected three finite numbers, found {value!r}')
    return point
