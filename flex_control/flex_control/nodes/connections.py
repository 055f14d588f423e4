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
"""What connects a control node to its robot: states and inputs in, commands and gains out."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from geometry_msgs.msg import Vector3, WrenchStamped
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from flex_control.nodes.control_parameters import Settings
from flex_control.nodes.drive_client import DriveClient
from flex_control.nodes.inputs import Inputs
from flex_dynamics.ros.simulator.commands import ANSWERS_ALL
from flex_dynamics.ros.state_subscription import StateSubscription
from flex_ros.cdr.fixed_layout import FixedLayoutPublisher
from flex_ros.message_fields import floats, stamp
from flex_ros.parameters import NodeError, declare, declare_strings
from flex_ros.qos import DEPTH

if TYPE_CHECKING:
    from flex_control.nodes.control import Control

JOINT_COMMANDS = 'joint_commands'
INTERFACES = (JOINT_COMMANDS, 'effort_controller', 'position_controller')


class Connection(Protocol):
    """Makes each part of the connection once, when the control node is made."""

    def inputs(self, settings: Settings) -> Any:
        """Model terms and measurements: what `Inputs` has."""

    def drives(self) -> Any:
        """What sets the gains of the drives: what `DriveClient` has."""

    def states(self) -> Any:
        """States, to be handed to the node; counts `received` and `rejected`."""

    def commands(self, joints: list[str]) -> Any:
        """Where commands go: `publish(stamp_ns, position, velocity, effort)`, `repeat()`, and
        `problem`, why nobody gets them, for diagnostics."""


class JointCommands(FixedLayoutPublisher):
    """Commands for the simulator, or for topic-based hardware."""

    problem = ''


class ForwardCommands:
    """Commands for ros2_control's forward_command_controller: its `commands` are numbers alone,
    one a joint in the order of its parameter `joints`, efforts or positions.

    joints: those that the node commands. order: names in the controller's order; empty: `joints`.
    """

    def __init__(self, node: Node, topic: str, joints: list[str], order: list[str],
                 efforts: bool) -> None:
        names = order or joints
        unknown = [name for name in names if name not in joints]
        if unknown or len(set(names)) != len(names):
            what = f'{unknown[0]!r}' if unknown else 'a joint twice'
            raise NodeError(f'parameter command_joints: expected some of {", ".join(joints)}, in '
                            f"the order of the controller's parameter joints, found {what}")
        left_out = [name for name in joints if name not in names]
        if left_out:
            node.get_logger().warning(f'command_joints: no command goes to {", ".join(left_out)}')
        self._places = [joints.index(name) for name in names]
        self._efforts, self._topic = efforts, topic
        self._publisher = node.create_publisher(Float64MultiArray, topic, QoSProfile(depth=1))
        self._message = Float64MultiArray()

    @property
    def problem(self) -> str:
        if self._publisher.get_subscription_count():
            return ''
        return f'nobody listens to {self._topic}; is the controller active?'

    def publish(self, stamp_ns: int, position: np.ndarray, velocity: np.ndarray,
                effort: np.ndarray) -> None:
        """Send a command, each array one number a joint."""
        self._message.data = floats((effort if self._efforts else position)[self._places])
        self._publisher.publish(self._message)

    def repeat(self) -> None:
        """Send the last command again."""
        self._publisher.publish(self._message)


class Thrusters:
    """What thrusters on a base that floats have to give: force and moment on a link, by the topic
    `external_wrench`, stamped by the state that they answer.

    The simulator lets them act until the next message, or for its `external_wrench.duration`: when
    this node falls silent or its fail-safe acts, the thrusters are off after that.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._publisher: Publisher | None = None       # made when a controller has thrusters

    def send(self, stamp_ns: int, link: str, thrust: np.ndarray) -> None:
        """thrust (6,): force (N) and moment (N m) in the axes of the link."""
        if self._publisher is None:
            self._publisher = self._node.create_publisher(WrenchStamped, 'external_wrench', 10)
        message = WrenchStamped()
        message.header.stamp, message.header.frame_id = stamp(stamp_ns), link
        (force, moment) = thrust.reshape(2, 3).tolist()
        message.wrench.force = Vector3(x=force[0], y=force[1], z=force[2])
        message.wrench.torque = Vector3(x=moment[0], y=moment[1], z=moment[2])
        self._publisher.publish(message)


class TopicConnection:
    """A robot that is reached by topics and services."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def inputs(self, settings: Settings) -> Inputs:
        return Inputs(self._control, self._control.model, settings, self._control.advance)

    def drives(self) -> DriveClient:
        return DriveClient(self._control, self._control.model, self._control.advance)

    def states(self) -> StateSubscription:
        return StateSubscription(self._control, self._control.model,
                                 self._control.receive_state)

    def commands(self, joints: list[str]) -> JointCommands | ForwardCommands:
        node = self._control
        kind = declare(
            node, 'command_interface', JOINT_COMMANDS, 'what takes the commands: the topic '
            'joint_commands, or a forward_command_controller of ros2_control for efforts or for '
            'positions', choices=INTERFACES, fixed=True)
        topic = declare(node, 'command_topic', '', 'topic of the forward_command_controller; '
                        'empty: <command_interface>/commands', fixed=True)
        order = declare_strings(node, 'command_joints', 'joints in the order of the '
                                "controller's parameter joints; empty: all, in the order of the "
                                'robot description')
        if kind != JOINT_COMMANDS:
            if node.get_parameter('sync').value == 'lockstep':
                raise NodeError(f'parameter sync: expected free with command_interface: {kind}, '
                                'as ros2_control waits for no command, found lockstep')
            return ForwardCommands(node, topic or f'{kind}/commands', joints, order,
                                   kind == 'effort_controller')
        for name, given in (('command_topic', topic), ('command_joints', order)):
            if given:
                raise NodeError(f'parameter {name}: expected none with command_interface: '
                                f'{JOINT_COMMANDS}; did you mean effort_controller or '
                                'position_controller?')
        still = np.zeros(len(joints))
        command = JointState(name=joints, position=still, velocity=still, effort=still)
        command.header.frame_id = ANSWERS_ALL      # simulated time may wait for this node
        return JointCommands(
            node.create_publisher(JointState, JOINT_COMMANDS, QoSProfile(depth=DEPTH)),
            command, ('position', 'velocity', 'effort'))
