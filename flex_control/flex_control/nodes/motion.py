"""Trajectories for the control node, by topic and by action."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

from control_msgs.action import FollowJointTrajectory
from control_msgs.srv import QueryTrajectoryState
from rclpy.node import Node

from flex_control import PD, ControlError, ControlLoop, Trajectory
from flex_control.incremental import Job
from flex_control.loop.effort_check import beyond_efforts
from flex_control.loop.goal_tolerances import GoalMonitor, Tolerances
from flex_control.loop.planning import AT_ONCE, Done, Planner, Planning, delay, ready
from flex_control.loop.trajectory_reader import GoalError, TrajectoryReader, read_tolerances
from flex_control.nodes.long_goals import LongGoal
from flex_control.nodes.reports import points as report_points
from flex_control.nodes.trajectory_action import TrajectoryAction
from flex_control.nodes.trajectory_intake import TrajectoryIntake
from flex_control.shaping import Shaped, Shaper
from flex_control.trajectories import Prepared, Stop
from flex_control.trajectories.trajectory_points import TrajectoryPoints
from flex_dynamics.ros.state_subscription import State
from flex_ros.message_fields import floats, nanoseconds, stamp
from flex_ros.message_guard import shortened

PIECE = 1_000_000      # ns of a period for one piece of the planning
GAP = 1_000_000_000    # ns without a state; longer ones are no period
PIECES = 120           # of the planning of a shaped motion; what is left is done at once


class Motion:
    """Gives a loop its trajectories: `~/joint_trajectory`, `~/follow_joint_trajectory`, stops.

    Whatever takes a motion over goes on from the reference of that moment. A shaped motion is
    planned in pieces after the commands of the next states, and then begins: no state waits for
    it, and with as many states it is the same. `blocked` is why no motion may begin now, or empty.
    """

    def __init__(self, node: Node, loop: ControlLoop, reader: TrajectoryReader,
                 tolerances: Tolerances, stop_time: float, feedback_period: float,
                 lockstep: bool) -> None:
        self._lockstep = lockstep
        self._planner, self._planning = Planner(reader), cast('Planning | None', None)
        self._node, self._loop, self._reader = node, loop, reader
        self._tolerances, self._stop_time = tolerances, stop_time
        self._feedback_period = round(1e9 * feedback_period)
        self._fed_back: int | None = None
        self._seen, self._period = 0, 0              # ns, of the last state, and since that before
        self._check: Job[str] | None = None
        self._refused = 0
        self.blocked = ''
        self._shaper, self._shaper_modes = 'none', 2
        self._action = TrajectoryAction(node, self._begin_goal, self.stop, self.forget)
        self._intake = TrajectoryIntake(node)
        node.create_service(QueryTrajectoryState, '~/query_state', self._query)

    @property
    def refused(self) -> int:
        """Motions that were refused, by topic and by action."""
        return self._refused + self._action.refused

    def set_shaper(self, name: str) -> None:
        """Shape new motions by the named shaper; 'none': leave them as they are."""
        self._shaper = name

    def set_shaper_modes(self, count: int) -> None:
        """How many modes new motions leave without vibration."""
        self._shaper_modes = count

    def close(self) -> None:
        """End the threads, before the node is destroyed."""
        self._intake.close()
        self._planner.close()

    def restart(self) -> None:
        """Time was set back: the loop begins anew."""
        self._fed_back = None
        self.forget('time was set back')
        self._action.preempt('time was set back')

    def give_up(self, why: str) -> None:
        """The fail-safe acts: come to rest, and let the goal fail."""
        self.forget(why)
        self.stop()
        self._action.preempt(why)

    def stop(self) -> None:
        """Come to rest from the present motion."""
        self.forget('the motion was stopped')
        loop, limits = self._loop, self._reader.limits
        if loop.time is not None:
            loop.set_trajectory(Stop(loop.controller.reference, self._stop_time, loop.time,
                                     limits.lower, limits.upper))

    def follow(self, state: State) -> None:
        """Judge and report the motion of a goal at a state, and plan ahead."""
        stamp_ns = state.stamp_ns
        period = stamp_ns - self._seen
        # After a gap the last period says nothing about the next ones.
        self._period, self._seen = period if 0 < period < GAP else 0, stamp_ns
        self.take_requests()
        if self._check is not None or isinstance(self._loop.trajectory, Prepared):
            self._work()
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

    def begin(self, points: TrajectoryPoints, done: Done) -> None:
        """Plan a motion, and call `done` with it, or with why it is refused: at once, or for
        long ones after some more states."""
        self.forget('another motion took its place')
        try:
            if len(points) <= AT_ONCE:
                done(self._read(points))
            else:
                self._plan(points, done)
        except GoalError as error:
            done(error)

    def forget(self, why: str) -> None:
        """Leave off planning."""
        if self._planning is not None:
            planning, self._planning = self._planning, None
            planning.done(GoalError(why))

    def _present(self) -> tuple[Trajectory, Shaped | None]:
        """What the loop follows, and the same if it is shaped and has not come to its end;
        GoalError if no motion may begin."""
        loop = self._loop
        if self.blocked:
            raise GoalError(f'no motion now: {self.blocked}')
        if loop.time is None or loop.trajectory is None:
            raise GoalError('no state has come yet: expected flex_state or joint_states first')
        following = loop.trajectory
        if isinstance(following, Prepared):
            following = following.at(loop.time)
        shaped = following if isinstance(following, Shaped) else None
        if shaped is not None and loop.time >= shaped.end:
            shaped = None
        return following, shaped

    def _read(self, points: TrajectoryPoints) -> Trajectory:
        """The trajectory that is asked for, shaped; GoalError if it is refused."""
        following, before = self._present()
        loop = self._loop
        assert loop.time is not None
        if self._shaper == 'none':        # it has to begin where the motion is, shaped or not
            return self._checked(self._reader.read(points, loop.time, loop.controller.reference))
        start = loop.time + self._shaping_time()
        present = (following.sample if before is None else before.unshaped)(start)
        wanted = self._checked(self._reader.read(points, start, present))
        return Prepared(following, Shaped.in_pieces(wanted, self._make_shaper(), before), start)

    def _plan(self, points: TrajectoryPoints, done: Done, least: float = 0.0) -> None:
        """The same beside the loop, within `least` s or more; GoalError if no motion may begin."""
        following, before = self._present()
        assert self._loop.time is not None
        begun = self._loop.time
        start = begun + max(least, delay(points))
        present = following.sample(start)
        if self._shaper != 'none':
            start += self._shaping_time()
            present = (following.sample if before is None else before.unshaped)(start)
        self._planning = Planning(points, following, begun, start, self._planner.plan(
            points, start, present), done)

    def _go_on_planning(self) -> None:
        """Take the motion over when it is planned, or plan again if it is too late for it."""
        planning, time = self._planning, self._loop.time
        if planning is None:
            return
        try:
            following, before = self._present()
            assert time is not None
            shaping = self._shaping_time() if self._shaper != 'none' else 0.0
            due = time + 1e-9 * self._period >= planning.start - shaping
            if not planning.job.done() and not (due and self._lockstep):
                return                         # free running, no state waits for it
            self._planning, outcome = None, planning.result()
            if isinstance(outcome, GoalError):
                planning.done(outcome)
                return
            if following is planning.before and time < planning.start - shaping:
                wanted = self._checked(outcome)
                planning.done(Prepared(
                    following, ready(wanted) if self._shaper == 'none' else Shaped.in_pieces(
                        wanted, self._make_shaper(), before), planning.start))
                return
            # Too late, or the previous motion has changed: plan again, with twice the time.
            self._plan(planning.points, planning.done, 2.0 * (time - planning.begun))
        except GoalError as error:
            self._planning = None
            planning.done(error)

    def _shaping_time(self) -> float:
        """s for the planning of a shaped motion, in pieces after the next states."""
        return 1e-9 * self._period * math.ceil(PIECES / self._at_once())

    def _at_once(self) -> int:
        """Pieces of the planning after each state."""
        return max(1, round(self._period / PIECE))

    def _work(self) -> None:
        loop, coming = self._loop, self._loop.trajectory
        for _ in range(self._at_once()):
            if isinstance(coming, Prepared):
                coming.work()
            if self._check is not None and self._check.work():
                if self._check.result:
                    self._node.get_logger().warning(self._check.result)
                self._check = None
        if isinstance(coming, Prepared) and loop.time is not None and loop.time >= coming.start:
            loop.set_trajectory(coming.at(loop.time))

    def _checked(self, trajectory: Trajectory) -> Trajectory:
        """The trajectory, whose efforts will be looked at: a warning if there are not as many."""
        self._check = Job(beyond_efforts(self._loop.model, trajectory))
        return trajectory

    def _make_shaper(self) -> Shaper:
        controller = self._loop.controller
        # A loop as soft as PD leaves other modes than joints that follow their reference.
        gains = (controller.kp, controller.kd) if isinstance(controller, PD) else ()
        return Shaper(self._loop.model, self._shaper, self._shaper_modes, *gains)

    def take_requests(self) -> None:
        """Begin the motions that have come on the topic; go on planning."""
        for points in self._intake.take():
            if isinstance(points, ControlError):
                self._refuse(points)
            elif not len(points) and not self.blocked:      # an empty trajectory stops the motion
                self.stop()
                self._action.preempt('a trajectory on ~/joint_trajectory took its place')
            else:
                self.begin(points, self._follow_topic)
        self._go_on_planning()

    def _follow_topic(self, outcome: Trajectory | GoalError) -> None:
        if isinstance(outcome, GoalError):
            self._refuse(outcome)
            return
        self._loop.set_trajectory(outcome)
        self._action.preempt('a trajectory on ~/joint_trajectory took its place')

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
            self._fed_back = None
            begun(GoalMonitor(outcome, tolerances, self._reader.names))

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
        self.begin(points, follow)

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
