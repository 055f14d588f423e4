"""Where to go: the trajectories that a control node is asked for, by topic and by action."""
from __future__ import annotations

import math

from control_msgs.action import FollowJointTrajectory
from control_msgs.srv import QueryTrajectoryState
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from flex_control import PD, ControlLoop, Trajectory
from flex_control.effort_check import beyond_efforts
from flex_control.following import Following, Tolerances
from flex_control.linear import Job
from flex_control.nodes.reports import points
from flex_control.nodes.trajectory_action import TrajectoryAction
from flex_control.nodes.trajectory_message import GoalError, TrajectoryReader, read_tolerances
from flex_control.shaping import Prepared, Shaped, Shaper
from flex_control.trajectories import Stop
from flex_dynamics.nodes.common import floats, nanoseconds, stamp
from flex_dynamics.nodes.message_guard import shortened, subscribe
from flex_dynamics.nodes.state_input import State

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
                 tolerances: Tolerances, stop_time: float, feedback_period: float) -> None:
        self._node, self._loop, self._reader = node, loop, reader
        self._tolerances, self._stop_time = tolerances, stop_time
        self._feedback_period = round(1e9 * feedback_period)
        self._fed_back: int | None = None
        self._seen, self._period = 0, 0              # ns, of the last state, and since that before
        self._check: Job[str] | None = None
        self._refused = 0
        self.blocked = ''
        self.shaper = 'none'
        self.shaper_modes = 2
        self._action = TrajectoryAction(node, self._begin_goal, self.stop)
        subscribe(node, JointTrajectory, '~/joint_trajectory', self._on_trajectory, 10)
        node.create_service(QueryTrajectoryState, '~/query_state', self._query)

    @property
    def refused(self) -> int:
        """Motions that were refused, by topic and by action."""
        return self._refused + self._action.refused

    def restart(self) -> None:
        """Time was set back: the loop begins anew."""
        self._fed_back = None
        self._action.preempt('time was set back')

    def give_up(self, why: str) -> None:
        """The fail-safe acts: come to rest, and let the goal fail."""
        self.stop()
        self._action.preempt(why)

    def stop(self) -> None:
        """Come to rest from the present motion."""
        loop, limits = self._loop, self._reader.limits
        if loop.time is not None:
            loop.set_trajectory(Stop(loop.controller.reference, self._stop_time, loop.time,
                                     limits.lower, limits.upper))

    def follow(self, state: State) -> None:
        """Judge and report the motion of a goal at a state, and plan ahead."""
        time = state.time
        period = time - self._seen
        # After a gap the last period says nothing about the next ones.
        self._period, self._seen = period if 0 < period < GAP else 0, time
        if self._check is not None or isinstance(self._loop.trajectory, Prepared):
            self._work()
        if self._action.following is None:
            return
        joints, wanted = self._loop.model.n_joints, self._loop.controller.reference
        position, velocity = state.q[:joints], state.v[:joints]
        if self._fed_back is None or not 0 <= time - self._fed_back < self._feedback_period:
            self._fed_back = time
            feedback = FollowJointTrajectory.Feedback(
                joint_names=list(self._reader.names), **points(
                    wanted, position, velocity, ('desired', 'actual', 'error')))
            feedback.header.stamp = stamp(time)
            self._action.feed_back(feedback)
        self._action.judge(1e-9 * time, wanted, position, velocity)

    def _read(self, message: JointTrajectory) -> Trajectory:
        """The trajectory that is asked for, shaped; GoalError if it is refused."""
        loop = self._loop
        if self.blocked:
            raise GoalError(f'no motion now: {self.blocked}')
        if loop.time is None:
            raise GoalError('no state has come yet: expected flex_state or joint_states first')
        following = loop.trajectory
        if isinstance(following, Prepared):
            following = following.at(loop.time)
        before = following if isinstance(following, Shaped) else None
        if before is not None and loop.time >= before.end:
            before = None
        if self.shaper == 'none':        # it has to begin where the motion is, shaped or not
            return self._checked(self._reader.read(message, loop.time,
                                                   loop.controller.reference))
        start = loop.time + 1e-9 * self._period * math.ceil(PIECES / self._at_once())
        assert following is not None
        present = (following.sample if before is None else before.unshaped)(start)
        wanted = self._checked(self._reader.read(message, start, present))
        return Prepared(following, Shaped.in_pieces(wanted, self._make_shaper(), before), start)

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
        return Shaper(self._loop.model, self.shaper, self.shaper_modes, *gains)

    def _on_trajectory(self, message: JointTrajectory) -> None:
        try:
            if not message.points and not self.blocked:      # a wish to stop
                self.stop()
            else:
                self._loop.set_trajectory(self._read(message))
            self._action.preempt('a trajectory on ~/joint_trajectory took its place')
        except GoalError as error:
            self._refused += 1
            self._node.get_logger().warning(f'trajectory refused: {shortened(str(error))}',
                                            throttle_duration_sec=1.0)

    def _begin_goal(self, goal: FollowJointTrajectory.Goal) -> Following:
        tolerances = read_tolerances(goal, self._reader.names, self._tolerances)
        trajectory = self._read(goal.trajectory)
        self._loop.set_trajectory(trajectory)
        self._fed_back = None
        return Following(trajectory, tolerances, self._reader.names)

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
