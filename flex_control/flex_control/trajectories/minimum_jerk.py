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
"""Rest to rest along a straight line in joint space with the least integral of squared jerk."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from flex_control.trajectories.base import checked_duration, checked_ends
from flex_control.trajectories.motion_limits import MotionLimits
from flex_control.trajectories.polynomials import PiecewisePolynomial

# Largest magnitudes of the derivatives of 10 u^3 - 15 u^4 + 6 u^5 on [0, 1]
PEAKS = (15.0 / 8.0, 10.0 / np.sqrt(3.0), 60.0)


class MinimumJerk(PiecewisePolynomial):
    """Rest to rest motion with the least integral of squared jerk.

    With u = (t - start) / duration the path is 10 u^3 - 15 u^4 + 6 u^5: the quintic whose speed
    and acceleration vanish at both ends (Flash and Hogan).

    Parameters
    ----------
    first, last : array-like, shape (n_joints,)
        Positions at the ends, rad or m.
    duration, start : float
        Duration of the motion and its first instant, s.

    Examples
    --------
    >>> from flex_control import MinimumJerk
    >>> MinimumJerk([0.0, 1.0], [1.0, 1.0], 2.0).sample(1.0).position
    array([0.5, 1. ])
    """

    def __init__(self, first: ArrayLike, last: ArrayLike, duration: float,
                 start: float = 0.0) -> None:
        self.first, self.last = checked_ends(first, last)
        span = self.last - self.first
        none = np.zeros_like(span)
        super().__init__(np.array([start, start + checked_duration(duration)], dtype=float),
                         np.array([self.first, self.last]),
                         np.array([[self.first, none, none, 10 * span, -15 * span, 6 * span]]))

    @classmethod
    def within(cls, limits: MotionLimits, first: ArrayLike, last: ArrayLike,
               start: float = 0.0) -> MinimumJerk:
        """The quickest one that keeps the limits; ControlError if an end is outside them."""
        return cls(first, last, limits.duration(*checked_ends(first, last), PEAKS), start)
