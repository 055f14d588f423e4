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
"""Joint motions whose poses at rest have the deflected tip on a path."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from flex_control.errors import ControlError
from flex_control.reference.cartesian_path import CartesianPath, TipLine
from flex_control.reference.inverse_kinematics import InverseKinematics
from flex_control.trajectories.interpolating_splines import QuinticSpline
from flex_dynamics import Model

FEWEST, MOST = 8, 512    # pieces


class RestingPath(QuinticSpline):
    """Joint splines through poses at rest, gravity bending the links, with a frame on a path.

    It begins near the joints `first` (n_joints,). The splines get as many points as bring the
    frame within `tolerance` (m) of the path, its timing included. ControlError if a point is out
    of reach. What acceleration bends is left to the controller.
    """

    def __init__(self, kinematics: InverseKinematics, path: CartesianPath, first: np.ndarray,
                 tolerance: float = 1e-5) -> None:
        if not 0.0 < tolerance < np.inf:
            raise ControlError(f'tolerance: expected a positive length in m, found {tolerance}')
        begin = path.sample(path.start)
        start = kinematics.solve(begin.position, first, begin.rotation)
        pieces = FEWEST
        while True:
            times = np.linspace(path.start, path.end, pieces + 1)
            joints = [start]
            for time in times[1:]:
                at = path.sample(time)
                joints.append(kinematics.solve(at.position, joints[-1], at.rotation))
            super().__init__(times, joints)
            off = max(float(np.linalg.norm(kinematics.pose(self.sample(time).position)[:3, 3]
                                           - path.sample(time).position))
                      for time in 0.5 * (times[:-1] + times[1:]))
            if off <= tolerance:
                return
            if pieces >= MOST:
                end = np.round(path.sample(path.end).position, 4).tolist()
                raise ControlError(
                    f'path to {end} m: {pieces} pieces leave {off:.3g} m between points, expected '
                    f'at most {tolerance:g} m; it may pass a stretched pose, where joints turn at '
                    'once: go around it')
            pieces *= 2


class CartesianLine(RestingPath):
    """The frame's origin goes straight to `target` (3,) m in the world, in minimum jerk time.

    It begins where the arm rests with the joints `first` (n_joints,). Every point is a pose at
    rest with its deflection under gravity; `tolerance` (m) as that of `RestingPath`. With
    `TipTrajectory` the tip stays on the line in fast motion, too.
    """

    def __init__(self, model: Model, frame: str, first: ArrayLike, target: ArrayLike,
                 duration: float, start: float = 0.0, tolerance: float = 1e-5) -> None:
        kinematics = InverseKinematics(model, frame)
        first = np.array(first, dtype=float)
        if first.shape != (model.n_joints,) or not np.isfinite(first).all():
            raise ControlError(f'first: expected {model.n_joints} finite numbers, found {first}')
        path = TipLine(kinematics.pose(first)[:3, 3], target, duration, start)
        super().__init__(kinematics, path, first, tolerance)
