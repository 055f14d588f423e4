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
"""Path and goal tolerances of a trajectory, as in ROS's joint_trajectory_controller."""
from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from flex_control.trajectories import Reference, Trajectory

# As in control_msgs/action/FollowJointTrajectory
SUCCESSFUL = 0
INVALID_GOAL = -1
INVALID_JOINTS = -2
OLD_HEADER_TIMESTAMP = -3
PATH_TOLERANCE_VIOLATED = -4
GOAL_TOLERANCE_VIOLATED = -5


@dataclass(frozen=True)
class Tolerances:
    """Largest errors of position and velocity, each (n_joints,), infinite where there is none.

    path: during the motion; goal: at its end. goal_time (s) after the end is the latest arrival;
    0: no time limit. Positions in rad or m, velocities in rad/s or m/s.
    """

    path_position: np.ndarray
    path_velocity: np.ndarray
    goal_position: np.ndarray
    goal_velocity: np.ndarray
    goal_time: float = 0.0


class Verdict(NamedTuple):
    """How a motion ended: an error code of FollowJointTrajectory, and a message."""

    code: int
    text: str


class GoalMonitor:
    """Checks the tracking errors of a trajectory at every state.

    Before the end of the trajectory the errors must be within the path tolerances. After it, the
    first state within the goal tolerances is a success; without one until goal_time has passed,
    the goal fails.
    """

    def __init__(self, trajectory: Trajectory, tolerances: Tolerances,
                 names: tuple[str, ...], units: tuple[str, ...] = ()) -> None:
        self.trajectory, self.tolerances, self._names = trajectory, tolerances, names
        self._units = units or ('rad',) * len(names)
        self._largest = np.zeros(len(names))
        self._begun: float | None = None        # s, time of the first state
        self._last = 0.0                        # s, time of the last one

    @property
    def duration(self) -> float:
        """Time (s) from the start of the motion, or an earlier state, to the last state."""
        return 0.0 if self._begun is None else self._last - min(self._begun, self.trajectory.start)

    def largest_error(self) -> str:
        """The largest position error so far, with its unit and joint."""
        if self._begun is None:
            return 'none yet'
        at = int(np.argmax(self._largest))
        return f'{self._largest[at]:.3g} {self._units[at]} ({self._names[at]})'

    def judge(self, time: float, wanted: Reference, position: np.ndarray,
              velocity: np.ndarray) -> Verdict | None:
        """The verdict at `time` (s) with the measured position and velocity (n_joints,), or None
        while the motion goes on."""
        given, end = self.tolerances, self.trajectory.end
        errors = np.abs(wanted.position - position), np.abs(wanted.velocity - velocity)
        self._begun, self._last = time if self._begun is None else self._begun, time
        np.maximum(self._largest, errors[0], out=self._largest)
        if time < end:
            far = self._beyond(errors, (given.path_position, given.path_velocity))
            return Verdict(PATH_TOLERANCE_VIOLATED, f'path tolerance: {far} at {time:.3f} s'
                           ) if far else None
        far = self._beyond(errors, (given.goal_position, given.goal_velocity))
        if not far:
            return Verdict(SUCCESSFUL, '')
        if given.goal_time and time - end > given.goal_time:
            return Verdict(GOAL_TOLERANCE_VIOLATED, f'goal tolerance: {far}, {time - end:.3f} s '
                           f'after the end, where {given.goal_time:g} s are allowed')
        return None

    def _beyond(self, errors: tuple[np.ndarray, np.ndarray],
                tolerances: tuple[np.ndarray, np.ndarray]) -> str:
        """A description of the first error that is too large; empty if none is."""
        for what, error, most in zip(('position', 'velocity'), errors, tolerances):
            if (error > most).any():
                at = int(np.flatnonzero(error > most)[0])
                return (f'{self._names[at]}, {what}: expected an error of at most {most[at]:g}, '
                        f'found {error[at]:g}')
        return ''
