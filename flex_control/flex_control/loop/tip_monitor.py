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
"""Where the tip is and where it should be, while a motion along a path is followed."""
from __future__ import annotations

import numpy as np

from flex_control.loop.goal_tolerances import (
    PATH_TOLERANCE_VIOLATED,
    SUCCESSFUL,
    GoalMonitor,
    Verdict,
)
from flex_control.reference.tip_trajectory import TipTrajectory
from flex_control.trajectories import Reference
from flex_dynamics import Model


class TipMonitor:
    """Judges a motion along a path at every state.

    motion: the plan, which begins `delay` s later than it says. joints: judges the joints, and
    when the motion has ended. tolerance: largest distance of the frame from where it should be,
    m; 0: no limit. desired, actual (3,) m in the world, error (m), largest (m) and progress (share
    of the path's time) are those of the last state.
    """

    def __init__(self, model: Model, motion: TipTrajectory, delay: float, joints: GoalMonitor,
                 tolerance: float) -> None:
        self._model, self.motion, self._delay = model, motion, delay
        self.joints, self._tolerance = joints, tolerance
        self.desired = self.actual = np.zeros(3)
        self.error = self.largest = self.progress = 0.0

    def judge(self, time: float, wanted: Reference, q: np.ndarray,
              velocity: np.ndarray) -> Verdict | None:
        """The verdict at `time` (s) in the state q (n,), with the joints' velocity (n_joints,);
        None while the motion goes on."""
        path, now = self.motion.path, time - self._delay
        self.desired = path.sample(now).position
        self.actual = self._model.pose(q, self.motion.frame)[:3, 3]
        self.error = float(np.linalg.norm(self.actual - self.desired))
        self.progress = float(np.clip((now - path.start) / (path.end - path.start), 0.0, 1.0))
        verdict = self.joints.judge(time, wanted, q[:len(velocity)], velocity)
        if time < self.joints.trajectory.end or verdict is None:
            self.largest = max(self.largest, self.error)
        if (self._tolerance and self.error > self._tolerance
                and (verdict is None or verdict.code == SUCCESSFUL)):
            return Verdict(PATH_TOLERANCE_VIOLATED, f'{self.motion.frame}: expected at most '
                           f'{self._tolerance:g} m from the path, found {self.error:.3g} m, '
                           f'{now - self.motion.start:.3f} s after the start')
        return verdict
