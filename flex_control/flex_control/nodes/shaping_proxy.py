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
"""The shaping proxy: takes FollowJointTrajectory goals, shapes them for the modes of the robot,
and passes them to the robot's own controller."""
from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from control_msgs.action import FollowJointTrajectory
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.action import CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.node import Node
from rclpy.task import Future

from flex_control import ControlError, Reference
from flex_control.loop.goal_tolerances import SUCCESSFUL, Tolerances
from flex_control.loop.motion_shaper import NONE, ShapedGoal
from flex_control.loop.trajectory_reader import (
    ALREADY_THERE,
    GoalError,
    check_stamp,
    read_tolerances,
)
from flex_control.nodes.long_goals import LongGoal, LongGoalServer
from flex_control.nodes.proxy.downstream import (
    ABORTED,
    CANCELED,
    CANCELLED,
    SUCCEEDED,
    Downstream,
    Outcome,
    Passage,
    goal_message,
)
from flex_control.nodes.proxy.parameters import declare_live, declare_settings, declare_shaper
from flex_control.nodes.proxy.robot_input import JointStateInput, Payloads
from flex_control.nodes.trajectory_action import MOST_KEPT, RESULT_KEPT
from flex_control.trajectories.trajectory_points import TrajectoryPoints
from flex_dynamics.ros.model_parameters import MODEL_ERRORS, declare_model
from flex_ros.clock import steady_clock
from flex_ros.diagnostics import Diagnostics
from flex_ros.entry import run
from flex_ros.message_fields import nanoseconds
from flex_ros.message_guard import CALCULATION_ERRORS, shortened
from flex_ros.parameters import LiveParameters

WATCH = 0.1            # s of wall time between two looks at clocks and deadlines
ATTEMPTS = 4           # to plan a motion before it is due
PER_POINT = 5e-5       # s by which a motion is sent earlier, for each point that was asked for
RESET = 1.0            # s by which the clock has to go back to be taken for a reset


class PassedGoal:
    """A client's goal: its handle, whether it was cancelled, and how far it has come.

    origin_ns: zero of the times of `shaped`, by the clock. stamped: it begins at a stated time;
    else when it arrives, and feedback says when that was. awaited: what it waits for now, a
    Future that is set to whether it came to be so until `deadline` (s of wall time).
    """

    def __init__(self, handle: ServerGoalHandle) -> None:
        self.handle, self.cancelled = handle, False
        self.answered = Future()                 # by the controller, or given up before
        self.passage: Passage | None = None
        self.shaped: ShapedGoal | None = None
        self.origin_ns = 0
        self.stamped = True
        self.awaited: Future | None = None
        self.condition: Callable[[], bool] = lambda: True
        self.deadline = 0.0

    async def until(self, condition: Callable[[], bool], patience: float) -> bool:
        """Whether it came to be so within `patience` s, or the goal was cancelled."""
        if condition():
            return True
        self.condition, self.deadline = condition, time.monotonic() + patience
        self.awaited = Future()
        return bool(await self.awaited)

    def watch(self) -> None:
        """Look whether what it waits for is there; call it now and then."""
        if self.awaited is not None and not self.awaited.done():
            there = self.condition() or self.cancelled
            if there or time.monotonic() > self.deadline:
                self.awaited.set_result(there)

    def time(self, clock_ns: int) -> float:
        """s of the motion's own time."""
        return 1e-9 * (clock_ns - self.origin_ns)


class ShapingProxy(Node):
    """Goals are planned and sent one after another; at most one is followed by the controller.

    As ROS gives a rejected goal neither code nor text, every goal is accepted, and one that
    cannot be passed on is aborted with both.
    """

    def __init__(self) -> None:
        super().__init__('shaping_proxy')
        self.model = model = declare_model(self)
        self._settings = settings = declare_settings(self)
        self._shaper = declare_shaper(self, model)
        self._payloads = Payloads(self, model)
        declare_live(LiveParameters(self), self._shaper, self._payloads.set_mass)
        self._joints = JointStateInput(self, model)
        self._downstream = Downstream(self, settings.controller, settings)
        self._queue: list[PassedGoal] = []           # whose goals are not answered yet
        self._active: PassedGoal | None = None       # that the controller follows
        self._rest: np.ndarray | None = None     # where the last motion has led to
        self._planning_time = 0.05               # s, of the last plans
        none = np.full(len(model.joint_names), np.inf)
        self._tolerances = Tolerances(none, none, none, none)
        self.passed = self.refused = 0
        self._last = ''
        self._server = LongGoalServer(
            self, FollowJointTrajectory, '~/follow_joint_trajectory', self._execute,
            goal_callback=self._admit, cancel_callback=self._cancel, result_timeout=RESULT_KEPT)
        self.create_timer(WATCH, self._watch, clock=steady_clock())
        Diagnostics(self, model.robot.name, self._status)
        self.get_logger().info(f'{model.robot.name}: {self._modes_text()}; motions go to '
                               f'{self._downstream.name}')

    # Goals in ---------------------------------------------------------------------------------

    def _admit(self, goal: Any) -> GoalResponse:
        if self._server.kept < MOST_KEPT:
            return GoalResponse.ACCEPT
        self.refused += 1
        self.get_logger().warning(f'goal rejected: the results of {MOST_KEPT} goals are kept, '
                                  f'each for {RESULT_KEPT} s', throttle_duration_sec=1.0)
        return GoalResponse.REJECT

    def _cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        for goal in (*self._queue, self._active):
            if goal is not None and goal.handle.goal_id == handle.goal_id:
                goal.cancelled = True
                if goal.passage is not None:
                    goal.passage.cancel()
        return CancelResponse.ACCEPT

    async def _execute(self, handle: ServerGoalHandle) -> FollowJointTrajectory.Result:
        goal = PassedGoal(handle)
        before = self._queue[-1].answered if self._queue else None
        self._queue.append(goal)
        try:
            outcome = await self._pass_on(goal, before)
        except GoalError as error:
            self.refused += 1
            outcome = Outcome(ABORTED, shortened(str(error)), error.code)
            self.get_logger().warning(f'goal refused: {outcome.text}', throttle_duration_sec=1.0)
        finally:
            self._leave_queue(goal)
            if self._active is goal:
                self._active = None
        return self._conclude(goal, outcome)

    def _leave_queue(self, goal: PassedGoal) -> None:
        if goal in self._queue:
            self._queue.remove(goal)
            goal.answered.set_result(None)

    async def _pass_on(self, goal: PassedGoal, before: Future | None) -> Outcome:
        """Shape the motion, send it, and wait for its end."""
        asked, points = self._read(goal.handle.request)
        if before is not None:
            await before
        if not await goal.until(self._downstream.ready, self._settings.server_timeout):
            raise GoalError(f'no action server {self._downstream.name} within '
                            f"{self._settings.server_timeout:g} s: expected the robot's own "
                            'controller there (parameter controller_action); is it active?')
        await goal.until(self._awake, self._settings.server_timeout)    # _shape says what lacks
        if not await goal.until(self._ready_to_begin, self._settings.rest_timeout):
            raise GoalError(f'the robot moves ({self._joints.moving(self._shaper.reader.names)}), '
                            'but not by a motion of this node: expected it at rest within '
                            f'{self._settings.rest_timeout:g} s (rest_timeout)')
        if goal.cancelled:
            return CANCELLED
        try:
            message = self._shape(goal, asked, points)
        except GoalError:
            raise
        except (ControlError, *CALCULATION_ERRORS) as error:
            raise GoalError(str(error)) from None
        goal.passage = passage = self._downstream.send(
            message, lambda feedback: self._feed_back(goal, feedback))
        accepted = await passage.accepted
        if accepted is not True:
            self.refused += 1
            return accepted
        self._begin(goal)
        return await passage.ended

    def _read(self, request: Any) -> tuple[FollowJointTrajectory.Goal, TrajectoryPoints]:
        """Goal and points of a request, with checked tolerances; GoalError if it is refused."""
        try:
            points: TrajectoryPoints | ControlError
            if isinstance(request, LongGoal):
                request, points = request
                if isinstance(points, ControlError):
                    raise points
            else:
                points = TrajectoryPoints.of(request.trajectory)
            read_tolerances(request, self._shaper.reader.names, self._tolerances)
        except GoalError:
            raise
        except ControlError as error:
            raise GoalError(str(error)) from None
        return request, points

    # Shaped motions out -----------------------------------------------------------------------

    def _now(self) -> int:
        return int(self.get_clock().now().nanoseconds)

    def _awake(self) -> bool:
        """Whether the clock runs and joint_states come: nodes start in any order."""
        self._joints.look()
        return self._now() > 0 and self._joints.silent() <= self._settings.state_timeout

    def _ready_to_begin(self) -> bool:
        """Whether it is known from where a motion begins: from one of this node, or from rest.
        After a cancellation the controller needs some time to stop."""
        return (self._running(self._now()) is not None
                or not self._joints.moving(self._shaper.reader.names))

    def _running(self, now_ns: int) -> PassedGoal | None:
        """What the robot follows, if it has not come to its end."""
        active = self._active
        if active is None or active.shaped is None or active.cancelled:
            return None
        at = active.time(now_ns)
        return active if active.shaped.times[0] - RESET < at < active.shaped.motion.end else None

    def _shape(self, goal: PassedGoal, asked: FollowJointTrajectory.Goal,
               points: TrajectoryPoints) -> FollowJointTrajectory.Goal:
        """The message for the controller; GoalError if the motion is refused."""
        self._shaper.model = self._payloads.model
        now_ns = self._now()
        if not now_ns:
            raise GoalError('the clock of this node stands at zero: expected a running one; with '
                            'use_sim_time, is there a publisher of /clock?')
        check_stamp(points, 1e-9 * now_ns)
        names, named = self._shaper.reader.names, [
            name for name in points.names if name in self._shaper.reader.names]
        present = self._present(self._joints.at(names, named, now_ns,
                                                self._settings.state_timeout))
        running = self._running(now_ns)
        if running is None and points.stamp == 0.0:
            # From rest: it begins when it arrives, however long that takes.
            goal.shaped = shaped = self._shaper.shape(points, 0.0, present)
            message = goal_message(shaped, None, 0.0, asked)
            goal.origin_ns, goal.stamped = self._now(), False
            return message
        return self._shape_for_a_time(goal, asked, points, running, present)

    def _shape_for_a_time(self, goal: PassedGoal, asked: FollowJointTrajectory.Goal,
                          points: TrajectoryPoints, running: PassedGoal | None,
                          present: Reference) -> FollowJointTrajectory.Goal:
        """A motion that has to begin at a certain time: it takes over from another one, or its
        points are stamped. It is planned for a time ahead, again if that is then over."""
        origin_ns = self._now() if running is None else running.origin_ns
        goal.origin_ns = origin_ns
        stamped = points.stamp - 1e-9 * origin_ns if points.stamp else 0.0
        points = replace(points, stamp=stamped)
        lead = self._lead(points, planned=False)
        for _ in range(ATTEMPTS):
            begun_ns = self._now()
            since = goal.time(begun_ns)
            start = since + lead
            if running is None:
                goal.shaped = shaped = self._shaper.shape(points, max(start, stamped), present)
                base = float(shaped.motion.start)
            else:
                assert running.shaped is not None
                goal.shaped = shaped = self._shaper.shape(
                    points, start, present, running.shaped.motion, since, running.shaped.names)
                base = since
            message = goal_message(shaped, origin_ns, base, asked)
            took = 1e-9 * (self._now() - begun_ns)
            self._planning_time = max(0.9 * self._planning_time, took)
            if took + 0.5 * self._settings.start_delay <= lead:
                return message
            lead = 2.0 * took + self._lead(points, planned=True)
        self.get_logger().warning(f'the motion was planned {took:.2f} s after it was asked for, '
                                  'too late to go on from the one before without a jump')
        return message

    def _lead(self, points: TrajectoryPoints, planned: bool) -> float:
        """s from now until a motion begins."""
        return (self._settings.start_delay + PER_POINT * len(points)
                + (0.0 if planned else 1.5 * self._planning_time))

    def _present(self, positions: np.ndarray) -> Reference:
        """Where a motion from rest begins: where the last one has led to, if the robot is there,
        else where it is."""
        rest, active = self._rest, self._active
        if active is not None and active.shaped is not None and not active.cancelled:
            rest = active.shaped.rest           # whose result has not come yet
        if rest is not None and (np.abs(positions - rest) <= ALREADY_THERE).all():
            positions = rest
        return Reference.at_rest(positions)

    def _begin(self, goal: PassedGoal) -> None:
        """The controller has accepted the motion."""
        before, self._active = self._active, goal
        self._leave_queue(goal)
        assert goal.passage is not None and goal.shaped is not None
        shaped = goal.shaped
        self.passed += 1
        if before is not None and before.passage is not None:
            before.passage.end(Outcome(ABORTED, 'another goal took its place'))
        late = goal.time(self._now()) - shaped.motion.start
        motion = shaped.motion
        self._last = (f'a motion of {motion.trajectory.end - motion.start:.3f} s takes '
                      f'{shaped.delay:.3f} s more, {self._shaper.settings.shaper} for '
                      + (', '.join(f'{one:.2f}' for one in shaped.frequencies) or 'no') + ' Hz')
        self.get_logger().info(f'goal passed on: {self._last}')
        if shaped.note:
            self.get_logger().warning(shaped.note)
        if goal.stamped and late > 0.0:
            self.get_logger().warning(f'the controller accepted the motion {late:.3f} s after its '
                                      'beginning, which makes it begin with a jump: raise '
                                      'start_delay', throttle_duration_sec=1.0)

    def _feed_back(self, goal: PassedGoal, feedback: FollowJointTrajectory.Feedback) -> None:
        if goal.passage is not None:
            goal.passage.heard(self._now())
        stamp_ns, shaped = nanoseconds(feedback.header.stamp), goal.shaped
        if not goal.stamped and stamp_ns and shaped is not None:
            at = shaped.time_of(feedback.joint_names, feedback.desired.positions,
                                goal.time(stamp_ns))
            if at is not None:
                goal.origin_ns = stamp_ns - round(1e9 * at)
        if goal.handle.is_active:
            goal.handle.publish_feedback(feedback)

    def _conclude(self, goal: PassedGoal, outcome: Outcome) -> FollowJointTrajectory.Result:
        """Tell the client how its goal ended."""
        handle, logger = goal.handle, self.get_logger()
        text = shortened(outcome.text)
        succeeded = outcome.status == SUCCEEDED
        preempted = self._active is not None
        if goal.shaped is not None and not preempted:
            self._rest = goal.shaped.rest if succeeded else None
        if outcome.status == CANCELED and handle.is_cancel_requested:
            logger.info('goal cancelled')
            handle.canceled()
        elif succeeded:
            logger.info('goal reached')
            handle.succeed()
        else:
            if outcome.status == CANCELED:
                text = f'{self._downstream.name} cancelled the motion: {text}'
            if goal.passage is not None:
                logger.warning(f'goal aborted: {text}', throttle_duration_sec=1.0)
            handle.abort()
            if outcome.code == SUCCESSFUL:
                return FollowJointTrajectory.Result(
                    error_code=FollowJointTrajectory.Result.INVALID_GOAL, error_string=text)
        return FollowJointTrajectory.Result(error_code=outcome.code, error_string=text)

    # Watching ---------------------------------------------------------------------------------

    def _watch(self) -> None:
        self._joints.look()
        self._downstream.ready()         # to see it come and go
        for goal in (*self._queue, self._active):
            if goal is None:
                continue
            goal.watch()
            if goal.passage is not None:
                goal.passage.watch(self._now())

    def _modes_text(self) -> str:
        given = self._shaper.settings
        if given.shaper == NONE:
            return 'motions are passed on as they are (shaper: none)'
        if given.frequencies:
            return (f'{given.shaper} for ' + ', '.join(f'{one:g}' for one in given.frequencies)
                    + ' Hz, as given')
        if self.model.n == self.model.n_joints:
            self.get_logger().warning(
                f'{self.model.robot.name} has no flexible link or joint: motions are passed on '
                'without shaping; give an overlay, or measured frequencies')
        return f'{given.shaper} for the lowest {given.modes} modes'

    def _status(self) -> tuple[bytes, str, dict[str, object]]:
        level, text = DiagnosticStatus.OK, 'running'
        silent = self._joints.silent()
        if not self._downstream.ready():
            level, text = DiagnosticStatus.WARN, f'no action server {self._downstream.name}'
        elif silent > self._settings.state_timeout:
            level, text = DiagnosticStatus.WARN, 'no joint_states'
        return level, text, {
            'shaper': self._shaper.settings.shaper,
            'controller': self._downstream.name,
            'goals passed on': self.passed,
            'goals refused': self.refused,
            'last motion': self._last,
            'payloads': ', '.join(self._payloads.payloads) or 'none',
            'joint_states received': self._joints.received,
            'joint_states rejected': self._joints.rejected,
        }


def main() -> None:
    run(ShapingProxy, MODEL_ERRORS)


if __name__ == '__main__':
    main()
