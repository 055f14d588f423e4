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
"""A straight line of the true, deflected tip."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from flex_control.errors import ControlError
from flex_control.reference.inverse_kinematics import InverseKinematics
from flex_control.trajectories.interpolating_splines import QuinticSpline
from flex_control.trajectories.minimum_jerk import MinimumJerk
from flex_dynamics import Model

FEWEST, MOST = 8, 512    # pieces


class CartesianLine(QuinticSpline):
    """The frame's origin goes straight to `target` (3,) m in the world, in minimum jerk time.

    It begins where the arm rests with the joints `first` (n_joints,). Every point is a pose at
    rest with its deflection under gravity; what acceleration bends is left to the controller.
    The joint splines get as many points as bring the tip within `tolerance` (m) of the line, its
    timing included. ControlError if a point is out of reach.
    """

    def __init__(self, model: Model, frame: str, first: ArrayLike, target: ArrayLike,
                 duration: float, start: float = 0.0, tolerance: float = 1e-5) -> None:
        kinematics = InverseKinematics(model, frame)
        if not 0.0 < tolerance < np.inf:
            raise ControlError(f'tolerance: expected a positive length in m, found {tolerance}')
        first = np.array(first, dtype=float)
        if first.shape != (model.n_joints,) or not np.isfinite(first).all():
            raise ControlError(f'first: expected {model.n_joints} finite numbers, found {first}')
        line = MinimumJerk(kinematics.pose(first)[:3, 3], target, duration, start)
        pieces = FEWEST
        while True:
            times = np.linspace(line.start, line.end, pieces + 1)
            joints = [first]
            for time in times[1:]:
                joints.append(kinematics.solve(line.sample(time).position, joints[-1]))
            super().__init__(times, joints)
            off = max(float(np.linalg.norm(kinematics.pose(self.sample(time).position)[:3, 3]
                                           - line.sample(time).position))
                      for time in 0.5 * (times[:-1] + times[1:]))
            if off <= tolerance:
                return
            if pieces >= MOST:
                raise ControlError(
                    f'straight line to {np.round(line.last, 4).tolist()} m: {pieces} pieces leave '
                    f'{off:.3g} m between points, expected at most {tolerance:g} m; it may pass a '
                    'stretched pose, where joints turn at once: go around it')
            pieces *= 2
