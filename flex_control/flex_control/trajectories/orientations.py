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
"""Smooth rotation through given orientations by cubics of vector-parameters (Mladenova 9.2)."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import root

from flex_control.errors import ControlError
from flex_description.math import skew
from flex_dynamics.papers import vector_parameters

ORTHOGONAL = 1e-6
NEAR_HALF_TURN = 1e-6    # of 1 + trace


class Orientation(NamedTuple):
    """rotation (3, 3), body to world; angular velocity (3,) rad/s and acceleration (3,) rad/s2 in
    body axes."""

    rotation: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


class OrientationSpline:
    """A twice differentiable motion through rotations (k, 3, 3) at times (k,) s, k at least 2.

    Between two of them O(t) = O_i O(c), c = x u^3 + y u^2 + z u with u from 0 to 1: (389), in the
    corrected order, and (390). z, y and x follow from the angular velocities at both ends, (393)
    to (397); those between the ends are such that the angular acceleration is continuous, and the
    first and last are given, in body axes, zero if left out. (The paper's own recursion, 9.2.3,
    starts from a given angular acceleration instead and swings out more from piece to piece.)
    The path does not depend on the choice of world or body axes, and needs no trigonometry.
    """

    def __init__(self, times: ArrayLike, rotations: ArrayLike,
                 first_velocity: ArrayLike = (0.0, 0.0, 0.0),
                 last_velocity: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        self._times, self._rotations = _checked(times, rotations)
        self.start, self.end = float(self._times[0]), float(self._times[-1])
        self._spans = np.diff(self._times)
        self._turns = np.array([_turn(one, other, k) for k, (one, other) in
                                enumerate(zip(self._rotations[:-1], self._rotations[1:]))])
        ends = np.array([first_velocity, last_velocity], dtype=float)
        if ends.shape != (2, 3) or not np.isfinite(ends).all():
            raise ControlError('first_velocity and last_velocity: expected 3 finite numbers each')
        self._pieces = self._smooth(ends)

    def _smooth(self, ends: np.ndarray) -> np.ndarray:
        """Coefficients (k - 1, 3, 3), x, y, z of every piece."""
        count = len(self._spans)
        # a first guess: the mean of the angular velocities on both sides of each knot
        mean = 2.0 * self._turns / self._spans[:, None]
        guess = 0.5 * (mean[:-1] + mean[1:])

        def pieces(inner: np.ndarray) -> np.ndarray:
            speeds = np.vstack((ends[:1], inner.reshape(-1, 3), ends[1:]))
            return np.array([_cubic(self._turns[k], speeds[k] * self._spans[k],
                                    speeds[k + 1] * self._spans[k]) for k in range(count)])

        def jumps(inner: np.ndarray) -> np.ndarray:
            made = pieces(inner)
            return np.concatenate([
                self._motion(made[k], 1.0, self._spans[k])[2]
                - self._motion(made[k + 1], 0.0, self._spans[k + 1])[2]
                for k in range(count - 1)])

        if count == 1:
            return pieces(np.zeros(0))
        found = root(jumps, guess.ravel(), tol=1e-12)
        size = np.abs(mean).max(initial=1e-300) / self._spans.min()
        if np.abs(jumps(found.x)).max() > 1e-8 * max(size, 1e-12):
            raise ControlError('orientations: no smooth motion found; take points that are nearer '
                               'to each other, or other times')
        return pieces(found.x)

    @staticmethod
    def _motion(piece: np.ndarray, u: float,
                span: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """c, angular velocity and acceleration in body axes at u of a piece that takes `span`."""
        x, y, z = piece
        c = ((x * u + y) * u + z) * u
        rate = ((3.0 * x * u + 2.0 * y) * u + z) / span
        second = (6.0 * x * u + 2.0 * y) / span**2
        scale = 2.0 / (1.0 + c @ c)
        velocity = scale * (rate - np.cross(c, rate))
        acceleration = scale * (second - np.cross(c, second) - (c @ rate) * velocity)
        return c, velocity, acceleration

    def sample(self, time: float) -> Orientation:
        """The motion at `time` (s); before and after it stands still at its ends."""
        if time < self.start or time > self.end:
            at = 0 if time < self.start else -1
            return Orientation(self._rotations[at].copy(), np.zeros(3), np.zeros(3))
        k = min(int(np.searchsorted(self._times, time, side='right')) - 1, len(self._spans) - 1)
        u = (time - self._times[k]) / self._spans[k]
        c, velocity, acceleration = self._motion(self._pieces[k], u, self._spans[k])
        return Orientation(self._rotations[k] @ vector_parameters.rotation(c), velocity,
                           acceleration)


def _cubic(turn: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """x, y, z (3, 3) of a cubic to c(1) = turn with these angular velocities, per piece."""
    z = 0.5 * first
    end = 0.5 * (1.0 + turn @ turn) * np.linalg.solve(np.eye(3) - skew(turn), last)    # (394)
    x = end - z - 2.0 * (turn - z)
    return np.array([x, turn - z - x, z])


def _turn(one: np.ndarray, other: np.ndarray, at: int) -> np.ndarray:
    """c of the rotation from one orientation to the next, (392)."""
    relative = one.T @ other
    if 1.0 + np.trace(relative) < NEAR_HALF_TURN:
        raise ControlError(f'orientations {at} and {at + 1}: half a turn apart, which may go '
                           'either way; put one more between them')
    return vector_parameters.from_rotation(relative)


def _checked(times: ArrayLike, rotations: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    times, rotations = np.array(times, dtype=float), np.array(rotations, dtype=float)
    if times.ndim != 1 or len(times) < 2 or rotations.shape != (len(times), 3, 3):
        raise ControlError('orientations: expected at least two times and as many rotation '
                           f'matrices, found shapes {times.shape} and {rotations.shape}')
    if not (np.isfinite(times).all() and np.isfinite(rotations).all()):
        raise ControlError('orientations: expected finite numbers')
    if (np.diff(times) <= 0.0).any():
        raise ControlError('orientations: expected times that rise')
    for k, rotation in enumerate(rotations):
        off = np.abs(rotation.T @ rotation - np.eye(3)).max()
        if off > ORTHOGONAL or np.linalg.det(rotation) < 0.0:
            raise ControlError(f'orientation {k}: expected a rotation matrix, found one that is '
                               f'off by {off:.3g} (determinant {np.linalg.det(rotation):.3g})')
    return times, rotations
