"""The inputs of a node in this process: subscriptions, services, actions, as the middleware fills
them, and what checks that all that the node publishes is finite.

Messages are handed to the callbacks that the middleware would call, as bytes where the node takes
bytes. What rclpy decodes itself (requests, goals and the clock) is decoded first: the middleware
drops what cannot be.
"""
from __future__ import annotations

import inspect
import pickle
from collections import defaultdict, deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from control_msgs.action import FollowJointTrajectory
from rclpy.action import CancelResponse
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from simulation_interfaces.msg import SimulationState
from simulation_interfaces.srv import SetSimulationState
from valid_messages import ValidMessages

from flex_control import ControlError
from flex_control.loop.planner_process import PlannerProcess
from flex_control.loop.tip_planning import TipRequest, plan_tip_motion, tip_path
from flex_control.nodes.control import Control
from flex_control.nodes.shaping_proxy import ShapingProxy
from flex_control.nodes.trajectory_intake import TrajectoryIntake
from flex_dynamics import DynamicsError
from flex_msgs.action import FollowTipPath
from flex_ros.message_fields import stamp

WHOLE = 1000     # requests of a motion of the tip for one that is planned to its end
QUEUES: dict[Any, deque] = defaultdict(deque)      # in place of the middleware's, by subscription


class NotFinite(AssertionError):
    """A node would have published NaN or infinity."""


@dataclass
class Input:
    """One way into a node. deliver: handles the bytes of one message; False: the middleware would
    have dropped them."""

    name: str
    valid: Callable[[np.random.Generator], Any]
    deliver: Callable[[bytes], bool]


@dataclass
class Target:
    """Nodes under test, as `scenario` starts them."""

    scenario: str
    nodes: list[Any]
    messages: ValidMessages
    after: Callable[[int], None]      # with the number of messages so far
    time: int = 0                     # ns, of the next good state
    inputs: list[Input] = field(default_factory=list)
    pending: list[Any] = field(default_factory=list)       # coroutines that wait

    def collect(self) -> None:
        """Find all inputs of the nodes."""
        for node in self.nodes:
            for subscription in node.subscriptions:
                self.inputs.append(self._topic(subscription))
            for service in node.services:
                self.inputs.append(self._service(service))
            if isinstance(node, Control):
                tip = node._motion._tip
                tip._process = CheckedPlanner(tip._process)
                self.inputs += [
                    self._action(node._motion._action, FollowJointTrajectory,
                                 'control/follow_joint_trajectory'),
                    self._action(tip, FollowTipPath, 'control/follow_tip_path')]
            elif isinstance(node, ShapingProxy):
                self.inputs.append(self._action(node, FollowJointTrajectory,
                                                'shaping_proxy/follow_joint_trajectory'))

    def _topic(self, subscription: Any) -> Input:
        kind, numbers = subscription.msg_type, iter(range(1, 10**9))

        def deliver(data: bytes) -> bool:
            message: Any = data
            if not subscription.raw:
                try:
                    message = deserialize_message(data, kind)
                except Exception:
                    return False
            given = (message, {'publication_sequence_number': next(numbers),
                               'received_timestamp': 0})
            if (getattr(subscription.callback_group, 'polled', False)
                    and not isinstance(getattr(subscription.callback, '__self__', None),
                                       TrajectoryIntake)):
                QUEUES[subscription].append(given)
                return True
            alone = subscription._callback_type is Subscription.CallbackType.MessageOnly
            subscription.callback(*given[:1] if alone else given)
            return True
        return Input(f'topic {subscription.topic_name.lstrip("/")}',
                     lambda rng: self.messages.make(kind, self.time, rng), deliver)

    def _service(self, service: Any) -> Input:
        kind = service.srv_type

        def deliver(data: bytes) -> bool:
            try:
                request = deserialize_message(data, kind.Request)
            except Exception:
                return False
            if (kind is SetSimulationState
                    and request.state.state == SimulationState.STATE_QUITTING):
                return True          # it ends the simulator, as it should
            answer = service.callback(request, kind.Response())
            if inspect.iscoroutine(answer):
                self.run(answer)
            return True
        return Input(f'service {service.srv_name.lstrip("/")}',
                     lambda rng: self.messages.request(kind, rng), deliver)

    def _action(self, action: Any, kind: Any, name: str) -> Input:
        def deliver(data: bytes) -> bool:
            try:
                handle = GoalHandle(deserialize_message(data, kind.Goal))
            except Exception:
                return False
            self.run(action._execute(handle))
            assert action._cancel(GoalHandle(None)) == CancelResponse.ACCEPT
            return True
        return Input(f'action {name}',
                     lambda rng: self.messages.make(kind.Goal, self.time, rng), deliver)

    def run(self, coroutine: Any) -> None:
        """Go on with a coroutine, and with those that wait."""
        self.pending = [one for one in (*self.pending, coroutine) if not ended(one)][-3:]


def ended(coroutine: Any) -> bool:
    try:
        coroutine.send(None)
    except StopIteration:
        return True
    return False


class GoalHandle:
    """What a goal of an action needs of rclpy."""

    is_active, is_cancel_requested = True, False

    def __init__(self, request: Any) -> None:
        self.request, self.goal_id = request, id(self)

    def publish_feedback(self, feedback: Any) -> None:
        if isinstance(feedback, FollowTipPath.Feedback):
            points = feedback.desired, feedback.actual
            finite('feedback', feedback.progress, feedback.tip_error,
                   *([at.x, at.y, at.z] for at in points))
        else:
            finite('feedback', feedback.desired.positions, feedback.error.positions)

    def abort(self) -> None:
        pass

    canceled = succeed = abort


class CheckedPlanner:
    """In place of the process that plans motions of the tip, which takes seconds for one: makes
    the path of each request, and the whole plan of one in WHOLE."""

    busy = False

    def __init__(self, process: PlannerProcess) -> None:
        self._setting = pickle.loads(process._setting)
        self._asked = 0

    def plan(self, request: TipRequest) -> Future:
        answer, setting = Future(), self._setting
        self._asked += 1
        try:
            if self._asked % WHOLE == 0:
                answer.set_result(plan_tip_motion(setting.model, request, setting.limits,
                                                  setting.slack))
            else:
                path = tip_path(setting.model, request)
                for time in np.linspace(path.start, path.end, 5):
                    wanted = path.sample(time)
                    finite('path', wanted.position, wanted.velocity, wanted.acceleration)
                raise ControlError('only the path was made')
        except (ControlError, DynamicsError) as error:
            answer.set_exception(error)
        return answer

    def cancel(self) -> None:
        pass

    close = cancel


class Checked:
    """A FixedLayoutPublisher whose numbers are checked."""

    problem = ''

    def __init__(self, publisher: Any, what: str) -> None:
        self._publisher, self._what = publisher, what

    def publish(self, time: int, *arrays: Any) -> None:
        stamp(time)
        finite(self._what, *arrays)
        self._publisher.publish(time, *arrays)

    def repeat(self) -> None:
        self._publisher.repeat()


class CheckedBytes:
    """A publisher of serialised messages, some of which are decoded and checked."""

    def __init__(self, publisher: Any, kind: Any, numbers: Callable[[Any], Any],
                 every: int) -> None:
        self._publisher, self._kind, self._numbers = publisher, kind, numbers
        self._every, self._count = every, 0

    def publish(self, data: bytes) -> None:
        self._count += 1
        if self._count % self._every == 0:
            finite(self._kind.__name__, self._numbers(deserialize_message(data, self._kind)))
        self._publisher.publish(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._publisher, name)


def finite(what: str, *arrays: Any) -> None:
    for values in arrays:
        if not np.isfinite(np.asarray(values, dtype=float)).all():
            raise NotFinite(f'{what}: expected finite numbers, found {values}')


def fake_take(subscription: Any) -> Any:
    return QUEUES[subscription].popleft() if QUEUES[subscription] else None
