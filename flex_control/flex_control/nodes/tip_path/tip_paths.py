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
"""Motions along a path of the tip: the action `~/follow_tip_path`, the service `~/plan_tip`."""
from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future as Plan
from dataclasses import dataclass, field

import numpy as np
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point
from rclpy.action import CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from flex_control import LQG, ControlError, ControlLoop, TipTrajectory
from flex_control.loop.goal_tolerances import (
    INVALID_GOAL,
    SUCCESSFUL,
    GoalMonitor,
    Tolerances,
    Verdict,
)
from flex_control.loop.motion_planner import FIRST_STATE, MotionPlanner
from flex_control.loop.planner_process import PlannerProcess, Setting
from flex_control.loop.tip_monitor import TipMonitor
from flex_control.loop.tip_planning import TipPlan
from flex_control.loop.trajectory_reader import TrajectoryReader
from flex_control.nodes.long_goals import SteadyActionServer
from flex_control.nodes.tip_path.path_reader import read_path
from flex_control.nodes.trajectory_action import CANCELLED, MISSED, MOST_KEPT, RESULT_KEPT
from flex_control.trajectories.time_scaling import Shifted
from flex_dynamics.ros.state_subscription import State
from flex_msgs.action import FollowTipPath
from flex_msgs.srv import PlanTip
from flex_ros.message_fields import floats
from flex_ros.message_guard import CALCULATION_ERRORS, shortened


@dataclass
class Goal:
    """A goal that waits for the first state until `until` (s, steady), then for its plan, then
    moves and is judged by `monitor`; `ended` gets its verdict."""

    handle: ServerGoalHandle
    until: float
    ended: Future = field(default_factory=Future)
    plan: Plan[TipPlan] | None = None
    monitor: TipMonitor | None = None


class TipPaths:
    """At most one goal is planned or followed. Plans are made by a process beside the loop.

    stop: brings the motion to rest. take_over: called with the reason when a motion begins.
    """

    def __init__(self, node: Node, loop: ControlLoop, planner: MotionPlanner,
                 reader: TrajectoryReader, tolerances: Tolerances, units: tuple[str, ...],
                 feedback_period: int, stop: Callable[[], None],
                 take_over: Callable[[str], None]) -> None:
        self._loop, self._planner, self._reader = loop, planner, reader
        self._tolerances, self._units = tolerances, units
        self._stop, self._take_over = stop, take_over
        self._feedback_period, self._fed_back = feedback_period, 0
        self._process = PlannerProcess(Setting(loop.model, reader.limits, reader.slack))
        self._goal: Goal | None = None
        self._asked: tuple[Plan[TipPlan], Future] | None = None       # by the service
        self._logger = node.get_logger()
        self.refused = 0
        self._server = SteadyActionServer(
            node, FollowTipPath, '~/follow_tip_path', self._execute, goal_callback=self._admit,
            cancel_callback=self._cancel, result_timeout=RESULT_KEPT)
        # In the group of the states, they would wait as long as this service does.
        node.create_service(PlanTip, '~/plan_tip', self._plan_only,
                            callback_group=ReentrantCallbackGroup())

    def close(self) -> None:
        """End the process, before the node is destroyed."""
        self._process.close()

    def preempt(self, why: str) -> None:
        """Something else takes the motion over; of no effect without a goal."""
        self._end(Verdict(INVALID_GOAL, why))

    def go_on(self) -> None:
        """Set out on a motion that has been planned, answer a service that has its plan."""
        goal, asked = self._goal, self._asked
        if asked is not None and asked[0].done():
            self._asked = None
            asked[1].set_result(None)
        if goal is None or goal.monitor is not None:
            return
        try:
            if goal.plan is not None:
                if goal.plan.done():
                    self._set_out(goal, goal.plan.result())
            elif self._planner.blocked or self._planner.has_state():
                self._plan(goal)
            elif time.monotonic() > goal.until:
                raise ControlError(f'no state has come for {FIRST_STATE:g} s: expected '
                                   'flex_state or joint_states')
        except (ControlError, *CALCULATION_ERRORS) as error:
            self._end(Verdict(INVALID_GOAL, str(error)))

    def follow(self, state: State) -> None:
        """Judge and report the motion of the goal at a state."""
        goal = self._goal
        if goal is None:
            return
        if goal.monitor is not None:
            loop, joints = self._loop, self._loop.model.n_joints
            verdict = goal.monitor.judge(1e-9 * state.stamp_ns, loop.controller.reference,
                                         self._bent(state), state.v[:joints])
            if verdict is not None:
                if verdict.code != SUCCESSFUL:
                    self._stop()
                self._end(verdict)
                return
        if not 0 <= state.stamp_ns - self._fed_back < self._feedback_period:
            self._fed_back = state.stamp_ns
            goal.handle.publish_feedback(_feedback(goal.monitor))

    def _bent(self, state: State) -> np.ndarray:
        """Coordinates (n,) of the robot. Where the joints alone are measured, the elastic ones are
        those of the controller's estimate, or the planned ones."""
        if not state.static:
            return state.q
        controller, joints = self._loop.controller, self._loop.model.n_joints
        planned = controller.reference.feedforward
        q = state.q.copy()
        if isinstance(controller, LQG):
            q[joints:] = controller.estimator.q[joints:]
        elif planned is not None:
            q[joints:] = planned.position
        return q

    def _plan(self, goal: Goal) -> None:
        joints = self._planner.resting()
        goal.plan = self._process.plan(read_path(goal.handle.request.path, self._loop.model,
                                                 joints))
        self._logger.info('goal of a tip path accepted: it is being planned')

    def _set_out(self, goal: Goal, plan: TipPlan) -> None:
        """Begin the motion, if the robot still is where it was when the plan was asked for."""
        motion, now = plan.motion, self._loop.time
        assert now is not None
        if not np.array_equal(self._planner.resting(), motion.begin):
            raise ControlError('the robot has moved since the motion was planned')
        self._take_over('a goal of ~/follow_tip_path took its place')
        delay = now - motion.start
        shifted = Shifted(motion, delay)
        goal.monitor = TipMonitor(
            self._loop.model, motion, delay,
            GoalMonitor(shifted, self._tolerances, self._reader.names, self._units),
            goal.handle.request.tolerance)
        self._loop.set_trajectory(shifted)
        self._logger.info(f'goal of a tip path: a motion of {motion.end - motion.start:.3f} s, '
                          f'{plan.effort_share:.0%} of the effort limits, strain up to '
                          f'{plan.strain:.3g}')

    def _end(self, verdict: Verdict) -> None:
        goal, self._goal = self._goal, None
        if goal is None:
            return
        if goal.plan is not None and not goal.plan.done():
            self._process.cancel()
        goal.ended.set_result(verdict)

    def _admit(self, goal: FollowTipPath.Goal) -> GoalResponse:
        if self._server.kept < MOST_KEPT:
            return GoalResponse.ACCEPT
        self.refused += 1
        self._logger.warning(f'goal rejected: the results of {MOST_KEPT} goals are kept',
                             throttle_duration_sec=1.0)
        return GoalResponse.REJECT

    async def _execute(self, handle: ServerGoalHandle) -> FollowTipPath.Result:
        goal = Goal(handle, time.monotonic() + FIRST_STATE)
        if not 0.0 <= handle.request.tolerance < np.inf:
            goal.ended.set_result(Verdict(
                INVALID_GOAL, 'tolerance: expected a length of at least 0 m, found '
                f'{handle.request.tolerance}'))
        elif self._goal is not None and self._goal.monitor is not None:
            goal.ended.set_result(Verdict(
                INVALID_GOAL, 'a motion is running: wait for its end, or cancel it first'))
        else:
            self._end(Verdict(INVALID_GOAL, 'another goal took its place'))
            self._goal = goal
            self.go_on()
        verdict = await goal.ended
        largest = 0.0 if goal.monitor is None else goal.monitor.largest
        text = shortened(verdict.text)
        if verdict.text == CANCELLED:
            handle.canceled()
        elif verdict.code == SUCCESSFUL:
            handle.succeed()
        else:
            handle.abort()
        self._tell(goal, verdict, f'largest tip error {largest:.3g} m')
        return FollowTipPath.Result(error_code=verdict.code, error_string=text,
                                    largest_tip_error=largest)

    def _tell(self, goal: Goal, verdict: Verdict, so_far: str) -> None:
        text = shortened(verdict.text)
        if goal.monitor is None and text == CANCELLED:
            self._logger.info('goal of a tip path cancelled before its motion began')
        elif goal.monitor is None:
            self.refused += 1
            self._logger.warning(f'goal of a tip path refused: {text}', throttle_duration_sec=1.0)
        elif verdict.code == SUCCESSFUL:
            self._logger.info(f'goal of a tip path {text or "reached"}, {so_far}')
        else:
            what = 'missed' if verdict.code in MISSED else 'aborted'
            self._logger.warning(f'goal of a tip path {what}, {so_far}: {text}')

    def _cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        goal = self._goal
        if goal is not None and handle.goal_id == goal.handle.goal_id:
            if goal.monitor is not None:
                self._stop()
            self._end(Verdict(SUCCESSFUL, CANCELLED))
        return CancelResponse.ACCEPT

    async def _plan_only(self, request: PlanTip.Request,
                         response: PlanTip.Response) -> PlanTip.Response:
        try:
            if self._process.busy:
                raise ControlError('another motion is being planned: ask again')
            if not self._planner.has_state():
                raise ControlError('no state has come yet: expected flex_state or joint_states '
                                   'first')
            asked = self._process.plan(read_path(request.path, self._loop.model,
                                                 self._planner.resting()))
            done = Future()
            self._asked = asked, done
            await done
            plan = asked.result()
        except (ControlError, *CALCULATION_ERRORS) as error:
            response.message = shortened(str(error))
            return response
        response.success, response.trajectory = True, _trajectory(self._reader.names, plan.motion)
        response.preview = plan.motion.path_start - plan.motion.start
        response.tip_error, response.strain = plan.motion.tip_error, plan.strain
        response.effort_share = plan.effort_share
        return response


def _feedback(monitor: TipMonitor | None) -> FollowTipPath.Feedback:
    if monitor is None:
        return FollowTipPath.Feedback(state=FollowTipPath.Feedback.PLANNING)
    desired, actual = (Point(x=x, y=y, z=z) for x, y, z in (monitor.desired.tolist(),
                                                            monitor.actual.tolist()))
    return FollowTipPath.Feedback(state=FollowTipPath.Feedback.MOVING, progress=monitor.progress,
                                  desired=desired, actual=actual, tip_error=monitor.error)


def _trajectory(names: tuple[str, ...], motion: TipTrajectory) -> JointTrajectory:
    """The joint motion at the points of the solution, from its start on."""
    points = []
    for at, effort in zip(motion.times(), motion.efforts()):
        wanted = motion.sample(at)
        seconds, rest = divmod(round(1e9 * (at - motion.start)), 10**9)
        points.append(JointTrajectoryPoint(
            positions=floats(wanted.position), velocities=floats(wanted.velocity),
            accelerations=floats(wanted.acceleration), effort=floats(effort),
            time_from_start=Duration(sec=seconds, nanosec=rest)))
    return JointTrajectory(joint_names=list(names), points=points)
