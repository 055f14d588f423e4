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
"""Trajectories for the control node, by topic and by action."""
from __future__ import annotations

from collections.abc import Callable

from control_msgs.action import FollowJointTrajectory
from control_msgs.srv import QueryTrajectoryState
from rclpy.node import Node

from flex_control import ControlError, ControlLoop, Trajectory
from flex_control.loop.goal_tolerances import GoalMonitor, Tolerances
from flex_control.loop.motion_planner import MotionPlanner
from flex_control.loop.planning import Done
from flex_control.loop.trajectory_reader import GoalError, TrajectoryReader, read_tolerances
from flex_control.nodes.long_goals import LongGoal
from flex_control.nodes.reports import points as report_points
from flex_control.nodes.tip_path.tip_paths import TipPaths
from flex_control.nodes.trajectory_action import TrajectoryAction
from flex_control.nodes.trajectory_intake import TrajectoryIntake
from flex_control.trajectories.trajectory_points import TrajectoryPoints
from flex_dynamics.ros.state_subscription import State
from flex_ros.message_fields import floats, nanoseconds, stamp
from flex_ros.message_guard import shortened


class Motion:
    """Gives a loop its trajectories: `~/joint_trajectory`, `~/follow_joint_trajectory`,
    `~/follow_tip_path`, stops."""

    def __init__(self, node: Node, loop: ControlLoop, reader: TrajectoryReader,
                 tolerances: Tolerances, stop_time: float, feedback_period: float,
                 lockstep: bool) -> None:
        self.planner = MotionPlanner(loop, reader, lockstep)
        self._node, self._loop, self._reader = node, loop, reader
        self._tolerances, self._stop_time = tolerances, stop_time
        self._feedback_period = round(1e9 * feedback_period)
        self._fed_back: int | None = None
        sliding = {joint.name for joint in loop.model.robot.joints if joint.type == 'prismatic'}
        self._units = tuple('m' if name in sliding else 'rad' for name in reader.names)
        self._refused = 0
        self._action = TrajectoryAction(node, self._begin_goal, self.stop, self.planner.forget)
        self._tip = TipPaths(node, loop, self.planner, reader, tolerances, self._units,
                             self._feedback_period, self.stop, self._action.preempt)
        self._intake = TrajectoryIntake(node)
        node.create_service(QueryTrajectoryState, '~/query_state', self._query)

    @property
    def refused(self) -> int:
        """Motions that were refused, by topic and by actions."""
        return self._refused + self._action.refused + self._tip.refused

    def close(self) -> None:
        """End the threads, before the node is destroyed."""
        self._intake.close()
        self._tip.close()
        self.planner.close()

    def restart(self) -> None:
        """Time was set back: the loop begins anew."""
        self._fed_back = None
        self.planner.forget('time was set back')
        self._preempt('time was set back')

    def give_up(self, why: str) -> None:
        """The fail-safe acts: come to rest, and let the goal fail."""
        self.planner.forget(why)
        self.stop()
        self._preempt(why)

    def _preempt(self, why: str) -> None:
        self._action.preempt(why)
        self._tip.preempt(why)

    def stop(self) -> None:
        """Come to rest from the present motion."""
        self.planner.stop(self._stop_time)

    def follow(self, state: State) -> None:
        """Judge and report the motion of a goal at a state, and plan ahead."""
        stamp_ns = state.stamp_ns
        self.planner.observe(stamp_ns)
        self.take_requests()
        warning = self.planner.work()
        if warning:
            self._node.get_logger().warning(warning)
        self._tip.follow(state)
        if self._action.monitor is None:
            return
        joints, wanted = self._loop.model.n_joints, self._loop.controller.reference
        position, velocity = state.q[:joints], state.v[:joints]
        if self._fed_back is None or not 0 <= stamp_ns - self._fed_back < self._feedback_period:
            self._fed_back = stamp_ns
            feedback = FollowJointTrajectory.Feedback(
                joint_names=list(self._reader.names), **report_points(
                    wanted, position, velocity, ('desired', 'actual', 'error')))
            feedback.header.stamp = stamp(stamp_ns)
            self._action.feed_back(feedback)
        self._action.judge(1e-9 * stamp_ns, wanted, position, velocity)

    def take_requests(self) -> None:
        """Begin the motions that have come on the topic; go on planning."""
        for points in self._intake.take():
            if isinstance(points, ControlError):
                self._refuse(points)
            elif not len(points) and not self.planner.blocked:      # stop
                self.stop()
                self._preempt('a trajectory on ~/joint_trajectory took its place')
            else:
                self._begin(points, self._follow_topic)
        self.planner.go_on()
        self._tip.go_on()

    def _begin(self, points: TrajectoryPoints, done: Done) -> None:
        self.planner.begin(points, done)
        if self.planner.waits:
            self._node.get_logger().info('a motion waits for the first state of the robot')

    def _follow_topic(self, outcome: Trajectory | GoalError) -> None:
        if isinstance(outcome, GoalError):
            self._refuse(outcome)
            return
        self._loop.set_trajectory(outcome)
        self._preempt('a trajectory on ~/joint_trajectory took its place')

    def _refuse(self, error: ControlError) -> None:
        self._refused += 1
        self._node.get_logger().warning(f'trajectory refused: {shortened(str(error))}',
                                        throttle_duration_sec=1.0)

    def _begin_goal(self, goal: FollowJointTrajectory.Goal | LongGoal,
                    begun: Callable[[GoalMonitor | GoalError], None]) -> None:
        """Begin the motion of a goal; `begun` is told how to judge it, or why it is refused."""
        def follow(outcome: Trajectory | GoalError) -> None:
            if isinstance(outcome, GoalError):
                begun(outcome)
                return
            self._loop.set_trajectory(outcome)
            self._tip.preempt('a goal of ~/follow_joint_trajectory took its place')
            self._fed_back = None
            begun(GoalMonitor(outcome, tolerances, self._reader.names, self._units))

        try:
            points: TrajectoryPoints | ControlError
            if isinstance(goal, LongGoal):
                goal, points = goal
                if isinstance(points, ControlError):
                    raise points
            else:
                points = TrajectoryPoints.of(goal.trajectory)
            tolerances = read_tolerances(goal, self._reader.names, self._tolerances)
        except ControlError as error:
            begun(error if isinstance(error, GoalError) else GoalError(str(error)))
            return
        self._begin(points, follow)

    def _query(self, request: QueryTrajectoryState.Request,
               response: QueryTrajectoryState.Response) -> QueryTrajectoryState.Response:
        trajectory = self._loop.trajectory
        if trajectory is None:
            response.message = 'no state has come yet, so that there is no trajectory'
            return response
        wanted = trajectory.sample(1e-9 * nanoseconds(request.time))
        response.success, response.name = True, list(self._reader.names)
        response.position, response.velocity = floats(wanted.position), floats(wanted.velocity)
        response.acceleration = floats(wanted.acceleration)
        return response
