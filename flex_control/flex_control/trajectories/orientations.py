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

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_banded

from flex_control.errors import ControlError
from flex_description.math import skew
from flex_dynamics.papers import vector_parameters

ORTHOGONAL = 1e-6
NEAR_HALF_TURN = 1e-6    # of 1 + trace
NEWTON_STEPS = 50
SMALLEST_STEP = 1e-3     # share of a step of Newton's method
TINY = 1e-30             # complex step: exact to rounding


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
        spans = self._spans[:, None]
        # a first guess: the mean of the angular velocities on both sides of each knot
        mean = 2.0 * self._turns / spans
        guess = 0.5 * (mean[:-1] + mean[1:])

        def pieces(inner: np.ndarray) -> np.ndarray:
            speeds = np.concatenate((ends[:1], inner, ends[1:]))
            return _cubics(self._turns, speeds[:-1] * spans, speeds[1:] * spans)

        def jumps(inner: np.ndarray) -> np.ndarray:
            made = pieces(inner)
            before = _motion(made[:-1], 1.0, spans[:-1])[2]
            off: np.ndarray = before - _motion(made[1:], 0.0, spans[1:])[2]
            return off

        size = np.abs(mean).max(initial=1e-300) / self._spans.min()
        inner = _root_by_neighbours(jumps, guess, 1e-14 * size) if len(guess) else guess
        if not np.abs(jumps(inner)).max(initial=0.0) <= 1e-8 * max(size, 1e-12):
            raise ControlError('orientations: no smooth motion found; take points that are nearer '
                               'to each other, or other times')
        return pieces(inner)

    def sample(self, time: float) -> Orientation:
        """The motion at `time` (s); before and after it stands still at its ends."""
        if time < self.start or time > self.end:
            at = 0 if time < self.start else -1
            return Orientation(self._rotations[at].copy(), np.zeros(3), np.zeros(3))
        k = min(int(np.searchsorted(self._times, time, side='right')) - 1, len(self._spans) - 1)
        u = (time - self._times[k]) / self._spans[k]
        c, velocity, acceleration = _motion(self._pieces[k], u, self._spans[k])
        return Orientation(self._rotations[k] @ vector_parameters.rotation(c), velocity,
                           acceleration)


def _cubics(turns: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """x, y, z (k, 3, 3) of cubics to c(1) = turns (k, 3) with these angular velocities (k, 3), per
    piece."""
    z = 0.5 * first
    sides = np.eye(3) - np.array([skew(turn) for turn in turns])
    end = 0.5 * (1.0 + (turns * turns).sum(-1, keepdims=True)) * np.linalg.solve(
        sides, last[..., None])[..., 0]                                                  # (394)
    x = end - z - 2.0 * (turns - z)
    return np.stack([x, turns - z - x, z], axis=1)


def _motion(pieces: np.ndarray, u: float,
            span: np.ndarray | float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """c, angular velocity and acceleration (..., 3) in body axes at u of pieces (..., 3, 3) that
    take `span` (..., 1)."""
    x, y, z = pieces[..., 0, :], pieces[..., 1, :], pieces[..., 2, :]
    c = ((x * u + y) * u + z) * u
    rate = ((3.0 * x * u + 2.0 * y) * u + z) / span
    second = (6.0 * x * u + 2.0 * y) / span**2
    scale = 2.0 / (1.0 + (c * c).sum(-1, keepdims=True))
    velocity = scale * (rate - np.cross(c, rate))
    acceleration = (scale * (second - np.cross(c, second))
                    - scale * (c * rate).sum(-1, keepdims=True) * velocity)
    return c, velocity, acceleration


def _root_by_neighbours(function: Callable[[np.ndarray], np.ndarray], guess: np.ndarray,
                        tolerance: float) -> np.ndarray:
    """A root (k, 3) of a function whose rows (k, 3) depend on the same and the neighbouring rows
    of its argument: Newton's method with a banded matrix, so that the cost is linear in k.

    The derivatives are complex steps: every third row is changed at once.
    """
    at, count = guess, guess.size
    value = function(at)
    for _ in range(NEWTON_STEPS):
        if not np.abs(value).max() > tolerance:
            break
        banded = np.zeros((11, count))
        for row, column in np.ndindex(3, 3):
            change = np.zeros(guess.shape, dtype=complex)
            change[row::3, column] = TINY * 1j
            derivative = function(at + change).imag / TINY
            for k in range(row, len(guess), 3):
                low, high = 3 * max(k - 1, 0), min(3 * (k + 2), count)
                banded[5 + np.arange(low, high) - (3 * k + column), 3 * k + column] = (
                    derivative.ravel()[low:high])
        try:
            step = solve_banded((5, 5), banded, value.ravel()).reshape(guess.shape)
        except (ValueError, np.linalg.LinAlgError):        # no number, or singular
            break
        share = 1.0
        while share > SMALLEST_STEP:
            tried = function(at - share * step)
            if np.abs(tried).max() < np.abs(value).max():
                break
            share *= 0.5
        else:
            break
        at, value = at - share * step, tried
    return at


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
