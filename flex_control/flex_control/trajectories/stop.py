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
"""Coming to rest from any motion without a jump in speed or acceleration."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from flex_control.trajectories.base import Reference, checked_duration
from flex_control.trajectories.polynomials import PiecewisePolynomial

SHORTER = 0.5          # how a stop is shortened that would lead beyond the range of a joint
ATTEMPTS = 12


class Stop(PiecewisePolynomial):
    """From the motion `present` at `start` (s) to rest within `duration` (s).

    The speed is the cubic that begins with the present speed and acceleration and ends with
    neither; where it ends follows from that. With the range lower, upper (n_joints,) of the
    joints, a stop that would end outside is made shorter, until it holds the present position.
    """

    def __init__(self, present: Reference, duration: float, start: float = 0.0,
                 lower: ArrayLike = -np.inf, upper: ArrayLike = np.inf) -> None:
        duration = checked_duration(duration)
        for _ in range(ATTEMPTS):
            pieces = _braking(present, duration)
            end = pieces.sum(axis=0)
            inside = (end >= np.minimum(lower, present.position)) & (
                end <= np.maximum(upper, present.position))
            if inside.all():
                break
            duration *= SHORTER
        else:
            end = np.array(present.position)
            pieces = np.zeros((5, len(end)))
            pieces[0] = end
        super().__init__(np.array([start, start + duration]),
                         np.array([present.position, end]), pieces[None])


def _braking(present: Reference, duration: float) -> np.ndarray:
    """Coefficients (5, n_joints) in u = (t - start) / duration: v = v0 + a0 u - (3 v0 + 2 a0) u^2
    + (2 v0 + a0) u^3 and its integral, both scaled to u."""
    v, a = present.velocity * duration, present.acceleration * duration**2
    return np.array([present.position, v, a / 2.0, -v - 2.0 * a / 3.0, v / 2.0 + a / 4.0])
