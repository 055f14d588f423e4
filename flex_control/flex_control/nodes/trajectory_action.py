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
"""The action `~/follow_joint_trajectory`, as ROS's joint_trajectory_controller has it."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from control_msgs.action import FollowJointTrajectory
from rclpy.action import CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node
from rclpy.task import Future

from flex_control.loop.goal_tolerances import (
    GOAL_TOLERANCE_VIOLATED,
    INVALID_GOAL,
    PATH_TOLERANCE_VIOLATED,
    SUCCESSFUL,
    GoalMonitor,
    Verdict,
)
from flex_control.loop.trajectory_reader import GoalError
from flex_control.nodes.long_goals import LongGoal, LongGoalServer
from flex_ros.message_guard import shortened

CANCELLED = 'cancelled'
MISSED = PATH_TOLERANCE_VIOLATED, GOAL_TOLERANCE_VIOLATED
# rclpy keeps results for 15 min and lists all of them in each status message: a client that sends
# ten goals a second would fill memory and network.
RESULT_KEPT = 60       # s, of steady time
MOST_KEPT = 1000
Begun = Callable[[GoalMonitor | GoalError], None]


class TrajectoryAction:
    """At most one goal is followed; a newer one, or a motion by another way, ends it.

    ROS gives a rejected goal neither code nor text, so every goal is accepted, and a bad one is
    aborted at once with both. Only one beyond MOST_KEPT that are remembered is rejected.

    begin: sets out on the motion of a goal; it calls its second argument, now or later, with how
    to judge the motion, or with a GoalError. stop: called when a goal is cancelled or misses a
    tolerance; forget: when one is cancelled whose motion has not begun.
    """

    def __init__(self, node: Node, begin: Callable[[
            FollowJointTrajectory.Goal | LongGoal, Begun], None],
                 stop: Callable[[], None], forget: Callable[[str], None]) -> None:
        self._begin, self._stop, self._forget = begin, stop, forget
        self._planned: ServerGoalHandle | None = None      # whose motion is being planned
        self._cancelled = False                            # that one
        self._handle: ServerGoalHandle | None = None
        self._monitor: GoalMonitor | None = None
        self._ended: Future | None = None
        self._logger = node.get_logger()
        self.refused = 0
        self._server = LongGoalServer(
            node, FollowJointTrajectory, '~/follow_joint_trajectory', self._execute,
            goal_callback=self._admit, cancel_callback=self._cancel, result_timeout=RESULT_KEPT)

    @property
    def monitor(self) -> GoalMonitor | None:
        """How to judge the motion of the goal; None if there is no goal."""
        return self._monitor

    def end(self, verdict: Verdict) -> None:
        """The motion of the goal is over; of no effect if there is none."""
        ended, self._monitor, self._handle, self._ended = self._ended, None, None, None
        if ended is not None:
            ended.set_result(verdict)

    def preempt(self, why: str) -> None:
        """Something else takes the motion over."""
        self.end(Verdict(INVALID_GOAL, why))

    def judge(self, *state: Any) -> None:
        """Follow the goal, if there is one, with the arguments of GoalMonitor.judge."""
        if self._monitor is None:
            return
        verdict = self._monitor.judge(*state)
        if verdict is not None:
            if verdict.code != SUCCESSFUL:
                self._stop()
            self.end(verdict)

    def feed_back(self, feedback: FollowJointTrajectory.Feedback) -> None:
        if self._handle is not None:
            self._handle.publish_feedback(feedback)

    def _admit(self, goal: FollowJointTrajectory.Goal | LongGoal) -> GoalResponse:
        if self._server.kept < MOST_KEPT:
            return GoalResponse.ACCEPT
        self.refused += 1
        self._logger.warning(f'goal rejected: the results of {MOST_KEPT} goals are kept, each '
                             f'until {RESULT_KEPT} s after its goal was sent',
                             throttle_duration_sec=1.0)
        return GoalResponse.REJECT

    async def _execute(self, handle: ServerGoalHandle) -> FollowJointTrajectory.Result:
        begun = Future()
        self._begin(handle.request, begun.set_result)
        if not begun.done():
            self._planned, self._cancelled = handle, False
        monitor = await begun
        cancelled = handle is self._planned and self._cancelled
        if handle is self._planned:
            self._planned = None
        if cancelled:
            handle.canceled()
            return FollowJointTrajectory.Result(error_code=SUCCESSFUL, error_string=CANCELLED)
        if isinstance(monitor, GoalError):
            error = monitor
            self.refused += 1
            text = shortened(str(error))
            self._logger.warning(f'goal refused: {text}', throttle_duration_sec=1.0)
            handle.abort()
            return FollowJointTrajectory.Result(error_code=error.code, error_string=text)
        self.preempt('another goal took its place')
        ended = Future()
        self._handle, self._monitor, self._ended = handle, monitor, ended
        motion = monitor.trajectory
        length = motion.end - motion.start         # infinite while it is being planned
        self._logger.info('goal accepted: a motion' + (
            f' of {length:.3f} s' if math.isfinite(length) else ', which is being planned'))
        verdict = await ended
        so_far = (f'after {monitor.duration:.3f} s, largest joint error '
                  f'{monitor.largest_error()}')
        if verdict.text == CANCELLED:
            self._logger.info(f'goal cancelled {so_far}')
            handle.canceled()
        elif verdict.code == SUCCESSFUL:
            self._logger.info(f'goal reached {so_far}')
            handle.succeed()
        elif verdict.code in MISSED:
            self._logger.warning(f'goal missed {so_far}: {verdict.text}')
            handle.abort()
        else:
            self._logger.warning(f'goal aborted {so_far}: {verdict.text}')
            handle.abort()
        return FollowJointTrajectory.Result(error_code=verdict.code, error_string=verdict.text)

    def _cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        if self._handle is not None and handle.goal_id == self._handle.goal_id:
            self._stop()
            self.end(Verdict(SUCCESSFUL, CANCELLED))
        elif self._planned is not None and handle.goal_id == self._planned.goal_id:
            self._cancelled = True
            self._forget(CANCELLED)
        return CancelResponse.ACCEPT
