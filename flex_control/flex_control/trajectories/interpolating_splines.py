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
"""Smooth motion through points, from rest to rest, of which only times and positions are given."""
from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import make_interp_spline

from flex_control.trajectories.base import Reference, checked_points
from flex_control.trajectories.motion_limits import MotionLimits
from flex_control.trajectories.polynomials import PiecewisePolynomial

GUESSED_PEAKS = (1.5, 6.0, 60.0)      # from point to point; the whole is scaled afterwards


class InterpolatingSpline(PiecewisePolynomial):
    """A spline of odd `DEGREE` through points, from rest or the motion `present` to rest."""

    DEGREE: ClassVar[int] = 3

    def __init__(self, times: ArrayLike, positions: ArrayLike,
                 present: Reference | None = None) -> None:
        times, positions = checked_points(times, positions)
        size = self.DEGREE + 1
        if len(times) == 1:
            super().__init__(times, positions, np.zeros((0, size, positions.shape[1])))
            return
        still = [(order, np.zeros(positions.shape[1])) for order in range(1, size // 2)]
        begin = still if present is None else [(order, present.derivative(order))
                                               for order, _ in still]
        spline = make_interp_spline(times, positions, self.DEGREE, bc_type=(begin, still))
        # Taylor's series of each piece about its beginning, in u from 0 to 1
        duration = np.diff(times)[:, None]
        pieces = [spline(times[:-1], nu=order) * duration**order / math.factorial(order)
                  for order in range(size)]
        super().__init__(times, positions, np.stack(pieces, axis=1))

    @classmethod
    def within(cls, limits: MotionLimits, positions: ArrayLike,
               start: float = 0.0) -> InterpolatingSpline:
        """Through positions (k, n_joints) at times of its own choice, so that limits are kept and
        one is reached; ControlError if the path leaves the range of a joint.

        The time from point to point is in proportion to what a rest to rest motion would need.
        """
        given = np.array(positions, dtype=float)
        given = checked_points(np.arange(len(given)), given)[1]
        steps = [limits.duration(first, last, GUESSED_PEAKS)
                 for first, last in zip(given, given[1:])]
        times = np.concatenate(([0.0], np.cumsum(steps)))
        spline = cls(start + limits.factor(cls(times, given)) * times, given)
        limits.check(spline)
        return spline


class CubicSpline(InterpolatingSpline):
    """Through points with the least integral of squared acceleration, which is continuous.

    The speed is zero at both ends. Parameters as those of `QuinticSpline`.
    """


class QuinticSpline(InterpolatingSpline):
    """Through points with the least integral of squared jerk; the snap is continuous.

    Speed and acceleration are zero at both ends.

    Parameters
    ----------
    times : array-like, shape (k,)
        Rising times, s.
    positions : array-like, shape (k, n_joints)
        Positions at those times, rad or m.
    present : Reference, optional
        The motion at the first point, in place of rest.

    Examples
    --------
    >>> from flex_control import QuinticSpline
    >>> QuinticSpline([0.0, 1.0, 2.0], [[0.0], [0.5], [1.0]]).sample(1.0).position.round(9)
    array([0.5])
    """

    DEGREE = 5
