"""The nodes of flex in this process, each with its inputs (message_inputs.py).

After each message the node does what it does with its input, one period or one picture, and what
it would publish is checked.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import rclpy
from control_msgs.action import FollowJointTrajectory
from message_inputs import (
    QUEUES,
    Checked,
    CheckedBytes,
    Target,
    ended,
    fake_take,
    finite,
)
from rclpy.serialization import serialize_message
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage
from valid_messages import ValidMessages
from visualization_msgs.msg import MarkerArray

from flex_control.nodes import controlled_simulator
from flex_control.nodes.control import Control
from flex_control.nodes.observer import Observer
from flex_control.nodes.proxy.downstream import ABORTED, CANCELED, SUCCEEDED, Outcome
from flex_control.nodes.shaping_proxy import ShapingProxy
from flex_dynamics.nodes.dynamics import Dynamics
from flex_dynamics.ros.simulator import Simulator
from flex_dynamics.ros.simulator.status import diagnostics
from flex_identification.nodes.payload_estimator import PayloadEstimatorNode
from flex_msgs.msg import FlexState
from flex_ros import polled_subscription
from flex_ros.rclpy_guard import guard
from flex_viz.nodes.markers import Markers
from flex_viz.nodes.modes import Modes
from flex_viz.nodes.state_publisher import StatePublisher
from flex_viz.nodes.viewer import Viewer

PERIOD = 10_000_000       # ns from one good state to the next


def simulator(sync: str) -> Target:
    node = Simulator()
    for sensor in node._sensors:
        sensor.inner = True           # read and checked, though nobody listens
    target = Target(f'simulator, {sync}', [node], ValidMessages(node.model), lambda count: None)
    run_simulator(target, node)
    return target


def run_simulator(target: Target, node: Any) -> None:
    def after(count: int) -> None:
        if node.machine.failure or count % 200 == 0:
            node.reset(state=True, clock=True, payloads=True)
        if not node.machine.playing:
            node.play(True)
        node.commands.poll()
        node._wrenches.take()
        node.commands.request()
        node._advance()
        encoders, gauges, imus, reactions = node._sensors
        finite('state', node.plant.q, node.plant.v)
        finite('reactions', *([part.x, part.y, part.z] for message in reactions._messages
                              for part in (message.wrench.force, message.wrench.torque)))
        readings = [*encoders.values(), gauges.values(), *imus.values()]
        finite('readings', *(one for one in readings if one is not None))
        target.time = node.machine.stamp_ns
        diagnose(node, count)
    target.after = after


def dynamics(topic: str) -> Target:
    node = Dynamics()
    node._input.listen(True)
    target = Target(f'dynamics, {topic}', [node], ValidMessages(node.model), lambda count: None)

    def after(count: int) -> None:
        target.time += PERIOD
        if node._publisher is not None and not isinstance(node._publisher, Checked):
            node._publisher = Checked(node._publisher, 'terms')
        diagnose(node, count)
    target.after = after
    return target


def control(controller: str) -> Target:
    node = Control()
    node._commands = Checked(node._commands, 'command')
    messages, rng = ValidMessages(node.model), np.random.default_rng(0)
    target = Target(f'control, {controller}', [node], messages, lambda count: None)
    # If it listens to them:
    needed = ('dynamics_terms', 'strain_gauges', 'imu', 'joint_states', 'payload_estimate')
    inputs = {one.topic_name.lstrip('/'): one.callback for one in node.subscriptions
              if one.topic_name.lstrip('/').split('/')[0] in needed
              and one.callback != node._state_input._receive}

    def after(count: int) -> None:
        target.time = 0 if count % 500 == 0 else target.time + PERIOD
        for topic, receive in inputs.items():
            kind = next(one.msg_type for one in node.subscriptions
                        if one.topic_name.lstrip('/') == topic)
            receive(serialize_message(messages.make(kind, target.time, rng)))
        state = messages.make(node._state_input._kind, target.time, rng)
        node._state_input._receive(serialize_message(state))
        if node._state_input._kind is FlexState and node._safe.why and count % 50 == 0:
            node._safe.reset()
        node._watch()
        diagnose(node, count)
    target.after = after
    return target


class CheckedController:
    """In place of the robot's own controller: takes every goal, whose numbers are checked."""

    name = '/robot_controller/follow_joint_trajectory'

    def __init__(self) -> None:
        self.last: CheckedController.Taken | None = None

    class Taken:
        def __init__(self) -> None:
            self.accepted, self.ended = Future(), Future()
            self.accepted.set_result(True)

        def end(self, outcome: Any) -> None:
            if not self.ended.done():
                self.ended.set_result(outcome)

        def cancel(self) -> None:
            self.end(Outcome(CANCELED, ''))

        def watch(self, clock_ns: int) -> None:
            pass

        heard = watch

    def ready(self) -> bool:
        return True

    def send(self, goal: Any, feedback: Callable[[Any], None]) -> Taken:
        steps = [one.time_from_start for one in goal.trajectory.points]
        assert all((b.sec - a.sec) * 10**9 + b.nanosec - a.nanosec > 0
                   for a, b in zip(steps, steps[1:])), 'times that do not rise'
        for point in goal.trajectory.points:
            finite('goal', point.positions, point.velocities, point.accelerations)
        serialize_message(goal)
        feedback(FollowJointTrajectory.Feedback())
        self.last = CheckedController.Taken()
        return self.last


def shaping_proxy() -> Target:
    node = ShapingProxy()
    controller = node._downstream = CheckedController()
    messages, rng = ValidMessages(node.model), np.random.default_rng(0)
    target = Target('shaping proxy', [node], messages, lambda count: None, PERIOD)
    node._now = lambda: target.time
    subscription = node._joints._subscription

    def after(count: int) -> None:
        target.time = PERIOD if count % 500 == 0 else target.time + PERIOD
        if count % 3 == 0 and controller.last is not None:
            controller.last.end(Outcome((SUCCEEDED, ABORTED)[count % 2], 'over', -(count % 2)))
        node._joints.look()              # what came, before a good one comes
        state = messages.make(JointState, target.time, rng)
        state.velocity = [0.0] * len(state.velocity)      # at rest, so that motions begin
        QUEUES[subscription].append((serialize_message(state), {}))
        node._watch()
        target.pending = [one for one in target.pending if not ended(one)]
        diagnose(node, count)
    target.after = after
    after(1)
    return target


def observer() -> Target:
    node = Observer()
    node._state = Checked(node._state, 'estimate')
    node._covariance_topic = CheckedCovariance()
    messages, rng = ValidMessages(node.model), np.random.default_rng(0)
    target = Target('observer', [node], messages, lambda count: None)
    topics = [one for one in node.subscriptions
              if one.msg_type.__name__ in ('JointState', 'StrainGauges', 'Imu')]

    def after(count: int) -> None:
        target.time = 0 if count % 500 == 0 else target.time + PERIOD
        for one in topics:
            message = messages.make(one.msg_type, target.time, rng)
            if hasattr(message, 'effort') and count % 3:
                message.effort = []              # with and without efforts
            one.callback(serialize_message(message))
        node._heard -= 0.1 if count % 7 == 0 else 0.0        # joint states are late
        node._watch()
        diagnose(node, count)
    target.after = after
    return target


def payload_estimator() -> Target:
    node = PayloadEstimatorNode()
    node._topic = CheckedPayload()
    messages, rng = ValidMessages(node.model), np.random.default_rng(0)
    target = Target('payload estimator', [node], messages, lambda count: None)

    def after(count: int) -> None:
        target.time = 0 if count % 500 == 0 else target.time + PERIOD
        for one in node.subscriptions:
            if one.msg_type.__name__ in ('JointState', 'StrainGauges'):
                one.callback(serialize_message(messages.make(one.msg_type, target.time, rng)))
        node._watch()
        diagnose(node, count)
    target.after = after
    return target


class CheckedPayload:
    """Someone who listens to estimates of the payload."""

    def publish(self, message: Any) -> None:
        body = message.inertia
        finite('payload', [body.m, body.com.x, body.com.y, body.com.z, message.innovation],
               message.covariance, *([one.x, one.y, one.z] for one in message.hidden))
        serialize_message(message)


class CheckedCovariance:
    """Someone who listens to covariances."""

    def get_subscription_count(self) -> int:
        return 1

    def publish(self, message: Any) -> None:
        finite('covariance', message.position_deviation, message.velocity_deviation,
               message.covariance, message.force, message.force_deviation)
        serialize_message(message)


def state_publisher() -> Target:
    node = StatePublisher()
    node._tf = CheckedBytes(node._tf, TFMessage, lambda message: [
        getattr(part, axis) for one in message.transforms
        for part, axes in ((one.transform.translation, 'xyz'), (one.transform.rotation, 'xyzw'))
        for axis in axes], every=1)
    target = Target('state publisher', [node], ValidMessages(node.model), lambda count: None)

    def after(count: int) -> None:
        target.time += PERIOD
        node._wall_due = 0.0
        node._poll()
        diagnose(node, count)
    target.after = after
    return target


def markers() -> Target:
    node = Markers()
    node._publisher = CheckedBytes(node._publisher, MarkerArray, lambda message: [
        number for one in message.markers for point in (one.pose.position, one.scale)
        for number in (point.x, point.y, point.z)], every=20)
    return drawn('markers', node, every=10)


def viewer() -> Target:
    return drawn('viewer', Viewer(), every=25)


def drawn(name: str, node: Any, every: int) -> Target:
    target = Target(name, [node], ValidMessages(node.model), lambda count: None)

    def after(count: int) -> None:
        target.time += PERIOD
        if count % every == 0:
            node._show()
        else:
            node._input.look()
        diagnose(node, count)
    target.after = after
    return target


def modes() -> Target:
    return drawn('modes', FreshInput(Modes()), every=1)


def FreshInput(node: Any) -> Any:
    """A node without states to look at."""
    node._input = type('NoInput', (), {'look': lambda self: None})()
    return node


def in_process() -> Target:
    simulator_node, control_node = controlled_simulator.make()
    target = Target('in process', [simulator_node, control_node],
                    ValidMessages(simulator_node.model), lambda count: None)
    simulator_node.read_every_period()          # read the sensors, though nobody listens
    run_simulator(target, simulator_node)
    step = target.after

    def after(count: int) -> None:
        step(count)
        diagnose(control_node, count)
    target.after = after
    return target


def diagnose(node: Any, count: int) -> None:
    if count % 100 == 0:
        _, text, values = (diagnostics(node.status()) if isinstance(node, Simulator)
                           else node._status() if hasattr(node, '_status') else (b'', '', {}))
        assert isinstance(text, str) and not math.isnan(len(values))


ROBOT = 'robot:=lab_link'
SCENARIOS: dict[str, tuple[Callable[[], Target], tuple[str, ...]]] = {
    'simulator': (lambda: simulator('free'), (ROBOT, 'rate:=100.0', 'step:=0.002')),
    'simulator-lockstep': (lambda: simulator('lockstep'), (
        ROBOT, 'rate:=100.0', 'step:=0.002', 'sync:=lockstep')),
    'dynamics': (lambda: dynamics('flex_state'), (ROBOT,)),
    'dynamics-joints': (lambda: dynamics('joint_states'), (ROBOT, 'state_topic:=joint_states')),
    'control': (lambda: control('pd'), ('robot:=cibicik_arm', 'use_sim_time:=true')),
    'control-terms': (lambda: control('feedback_linearization'), (
        ROBOT, 'controller:=feedback_linearization')),
    'control-measurements': (lambda: control('lqg'), (ROBOT, 'controller:=lqg')),
    'control-joints': (lambda: control('pd, joint_states'), (ROBOT, 'state_topic:=joint_states')),
    'control-payload': (lambda: control('pd, payload'), (
        'robot:=cibicik_arm', 'use_sim_time:=true', 'payload.source:=topic')),
    'shaping_proxy': (shaping_proxy, ('robot:=cibicik_arm',)),
    'observer': (observer, (ROBOT,)),
    'observer-sim-time': (observer, (ROBOT, 'use_sim_time:=true', 'rate:=100.0')),
    'payload_estimator': (payload_estimator, (ROBOT,)),
    'state_publisher': (state_publisher, (ROBOT, 'use_sim_time:=true', 'rate:=1000.0')),
    'markers': (markers, (ROBOT, 'use_sim_time:=true')),
    'viewer': (viewer, (ROBOT, 'use_sim_time:=true')),
    'modes': (modes, (ROBOT,)),
    'in_process': (in_process, (ROBOT, 'rate:=100.0', 'step:=0.002')),
}


@contextmanager
def started(scenario: str) -> Iterator[Target]:
    """A scenario with its nodes, ready for messages."""
    make, parameters = SCENARIOS[scenario]
    rclpy.init(args=['--ros-args', '--log-level', 'fatal',
                     *(part for one in parameters for part in ('-p', one))],
               signal_handler_options=SignalHandlerOptions.NO)      # messages.py has its own
    take, polled_subscription.take = polled_subscription.take, fake_take
    try:
        target = make()
        try:
            for node in target.nodes:
                guard(node)
            target.collect()
            yield target
        finally:
            for node in target.nodes:
                node.destroy_node()
    finally:
        polled_subscription.take = take
        QUEUES.clear()
        rclpy.try_shutdown()
