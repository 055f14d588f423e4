"""Smooth motion through points, from rest to rest, of which only times and positions are given."""
from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from scipy.interpolate import make_interp_spline

from flex_control.trajectories.base import Reference, checked_points
from flex_control.trajectories.motion_limits import MotionLimits
from flex_control.trajectories.polynomials import PiecewisePolynomial

GUESSED_PEAKS = (1.5, 6.0, 60.0)      # from point to point; the whole is scaled afterwards


class InterpolatingSpline(PiecewisePolynomial):
    """A spline of odd `DEGREE` through positions (k, n_joints) at times (k,) s.

    present: the motion that it goes on from, in place of rest.
    """

    DEGREE: ClassVar[int] = 3

    def __init__(self, times, positions, present: Reference | None = None) -> None:
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
    def within(cls, limits: MotionLimits, positions, start: float = 0.0) -> InterpolatingSpline:
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
    """Continuous acceleration, no speed at the ends: the least integral of its square."""


class QuinticSpline(InterpolatingSpline):
    """Continuous snap, no speed and acceleration at the ends: minimum jerk through the points."""

    DEGREE = 5
