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
"""The robot's own controller, as a client of its action sees it."""
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from flex_control.loop.goal_tolerances import INVALID_GOAL, SUCCESSFUL
from flex_control.loop.motion_shaper import ShapedGoal
from flex_ros.message_fields import floats, nanoseconds, stamp

SUCCEEDED = GoalStatus.STATUS_SUCCEEDED
UNKNOWN = GoalStatus.STATUS_UNKNOWN
CANCELED = GoalStatus.STATUS_CANCELED
ABORTED = GoalStatus.STATUS_ABORTED
ACQUAINTED = 0.3       # s after which a server knows the client that it answers
QUIET = 1.0            # s without feedback after which the result is asked for again
MOST_QUIET = 4.0       # s between two such questions at most
PER_POINT = 1e-3       # s more for the answer, for each point that the controller has to read


class Outcome:
    """How a goal ended: a status of action_msgs/GoalStatus, code and text of the result."""

    def __init__(self, status: int, text: str, code: int = INVALID_GOAL) -> None:
        self.status, self.text, self.code = status, text, code

    @classmethod
    def of(cls, answer: Any, name: str) -> Outcome:
        """Of what the controller `name` answered."""
        result = answer.result
        if answer.status == UNKNOWN:
            return cls(ABORTED, f'{name} does not know the goal any more: it was started anew '
                       'during the motion')
        return cls(answer.status, result.error_string, result.error_code)


class Passage:
    """A goal on its way: sent, answered (accepted or not), ended.

    accepted: a Future, True or an Outcome that says why not. ended: a Future of an Outcome. Both
    are set once, by the controller's answers or by `watch`, whichever comes first.
    """

    def __init__(self, goal: FollowJointTrajectory.Goal, client: Any, name: str,
                 settings: Any, feedback: Callable[[Any], None]) -> None:
        self.accepted, self.ended = Future(), Future()
        self._client, self._name, self._settings = client, name, settings
        self._feedback = feedback
        self._handle: Any = None
        self._cancelled = False
        self._last_feedback: tuple[float, int] | None = None     # s of wall time, ns of the clock
        self._begun: tuple[float, int] | None = None             # the same, when it was accepted
        self._asked, self._pause = 0.0, QUIET      # for the result again: s of wall time
        self._duration = max((1e-9 * nanoseconds(point.time_from_start)
                              for point in goal.trajectory.points), default=0.0)
        self._deadline = (time.monotonic() + settings.server_timeout
                          + PER_POINT * len(goal.trajectory.points))
        client.send_goal_async(goal, self._on_feedback).add_done_callback(self._on_answer)

    def cancel(self) -> None:
        """Ask the controller to cancel, as soon as it has accepted."""
        self._cancelled = True
        if self._handle is not None:
            self._handle.cancel_goal_async()

    def end(self, outcome: Outcome) -> None:
        """This is how it ends, if it has not ended yet."""
        if not self.accepted.done():
            self.accepted.set_result(outcome)
        if not self.ended.done():
            self.ended.set_result(outcome)

    def watch(self, clock_ns: int) -> None:
        """Give up a controller that does not answer, is gone, or falls silent; clock_ns: present
        time of the node's clock.

        One that sends no feedback at all has the time of the motion in addition: not all do.
        """
        now, most = time.monotonic(), self._settings.feedback_timeout
        if not self.accepted.done() and now > self._deadline:
            self.end(Outcome(ABORTED, f'{self._name} did not answer the goal within '
                             f'{self._settings.server_timeout:g} s'))
        elif self._handle is not None and not self._client.server_is_ready():
            self.end(Outcome(ABORTED, f'{self._name} went away during the motion'))
        elif self._handle is not None:
            if self._begun is None:
                self._begun = now, clock_ns
            heard, at_ns = self._last_feedback or self._begun
            self._ask_again(now, max(heard, self._asked), 1e-9 * (clock_ns - at_ns))
            if not most:
                return
            if self._last_feedback is None:
                most += self._duration
            # Both clocks: simulated time may be paused, and this process may have been held up.
            if now - heard > most and 1e-9 * (clock_ns - at_ns) > most:
                self.end(Outcome(ABORTED, f'{self._name} has been silent for '
                                 f'{now - heard:.1f} s during the motion'))
                self.cancel()

    def _ask_again(self, now: float, since: float, silent: float) -> None:
        """Ask for the result again while no feedback comes, less and less often: a controller
        that was started anew answers that it does not know the goal, and an answer that was lost
        comes again. silent: s of the node's clock, which may be paused."""
        if now - since > self._pause and silent > QUIET and not self.ended.done():
            self._asked, self._pause = now, min(2.0 * self._pause, MOST_QUIET)
            self._ask()

    def _ask(self) -> None:
        self._handle.get_result_async().add_done_callback(
            lambda result: self.end(Outcome.of(result.result(), self._name)))

    def heard(self, clock_ns: int) -> None:
        """Feedback has come; clock_ns: as for `watch`."""
        self._last_feedback = time.monotonic(), clock_ns
        self._pause = QUIET

    def _on_feedback(self, message: Any) -> None:
        if not self.ended.done():
            self._feedback(message.feedback)

    def _on_answer(self, answer: Future) -> None:
        handle = answer.result()
        late = self.accepted.done()
        if handle is None or not handle.accepted:
            self.end(Outcome(ABORTED, f'{self._name} rejected the goal (ROS passes no reason on; '
                             'its own log has it)'))
            return
        self._handle = handle
        if late or self._cancelled:
            handle.cancel_goal_async()
        if late:
            return
        self.accepted.set_result(True)
        self._ask()


class Downstream:
    """Passes goals to the action `name`. settings: server_timeout and feedback_timeout."""

    def __init__(self, node: Node, name: str, settings: Any) -> None:
        self.name = node.resolve_service_name(name)
        self._settings = settings
        self._client = ActionClient(node, FollowJointTrajectory, name)
        self._since: float | None = None       # s of wall time, when the controller was first seen

    def ready(self) -> bool:
        """Whether the controller is there, and knows this client; call it now and then."""
        now = time.monotonic()
        if not self._client.server_is_ready():
            self._since = None
        elif self._since is None:
            self._since = now
        return self._since is not None and now - self._since >= ACQUAINTED

    def send(self, goal: FollowJointTrajectory.Goal,
             feedback: Callable[[Any], None]) -> Passage:
        """Send a goal; feedback is called with each of its feedback messages."""
        return Passage(goal, self._client, self.name, self._settings, feedback)


def goal_message(goal: ShapedGoal, origin_ns: int | None, base: float,
                 asked: FollowJointTrajectory.Goal) -> FollowJointTrajectory.Goal:
    """A shaped motion as a goal, with the tolerances of the goal that asked for it.

    origin_ns: zero of the motion's times by the clock; None: it begins when it arrives. base (s):
    the time of the motion that the stamp says. goal_time_tolerance counts from the end of the
    motion, which is later than asked by the delay of the shaper.
    """
    trajectory = JointTrajectory(joint_names=list(goal.names))
    trajectory.header.frame_id = asked.trajectory.header.frame_id
    if origin_ns is not None:
        trajectory.header.stamp = stamp(origin_ns + round(1e9 * base))
    rows: Sequence[tuple[str, np.ndarray]] = [
        (name, values) for name, values in (
            ('positions', goal.positions), ('velocities', goal.velocities),
            ('accelerations', goal.accelerations)) if values is not None]
    for at, step in enumerate(np.round(1e9 * (goal.times - base)).astype(np.int64).tolist()):
        point = JointTrajectoryPoint(**{name: floats(values[at]) for name, values in rows})
        point.time_from_start.sec, point.time_from_start.nanosec = divmod(step, 10**9)
        trajectory.points.append(point)
    return FollowJointTrajectory.Goal(
        trajectory=trajectory, path_tolerance=asked.path_tolerance,
        goal_tolerance=asked.goal_tolerance, goal_time_tolerance=asked.goal_time_tolerance)


CANCELLED = Outcome(CANCELED, 'cancelled', SUCCESSFUL)
