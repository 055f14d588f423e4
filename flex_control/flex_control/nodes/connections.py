"""What connects a control node to its robot: states and inputs in, commands and gains out."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from flex_control.nodes.control_parameters import Settings
from flex_control.nodes.drive_client import DriveClient
from flex_control.nodes.inputs import Inputs
from flex_dynamics.ros.simulator.commands import ANSWERS_ALL
from flex_dynamics.ros.state_subscription import StateSubscription
from flex_ros.cdr.fixed_layout import FixedLayoutPublisher
from flex_ros.qos import DEPTH

if TYPE_CHECKING:
    from flex_control.nodes.control import Control


class Connection(Protocol):
    """Makes each part of the connection once, when the control node is made."""

    def inputs(self, settings: Settings) -> Any:
        """Model terms and measurements: what `Inputs` has."""

    def drives(self) -> Any:
        """What sets the gains of the drives: what `DriveClient` has."""

    def states(self) -> Any:
        """States, to be handed to the node; counts `received` and `rejected`."""

    def commands(self, joints: list[str]) -> Any:
        """Where commands go: `publish(stamp_ns, position, velocity, effort)` and `repeat()`."""


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

    def commands(self, joints: list[str]) -> FixedLayoutPublisher:
        still = np.zeros(len(joints))
        command = JointState(name=joints, position=still, velocity=still, effort=still)
        command.header.frame_id = ANSWERS_ALL      # simulated time may wait for this node
        return FixedLayoutPublisher(
            self._control.create_publisher(JointState, 'joint_commands', QoSProfile(depth=DEPTH)),
            command, ('position', 'velocity', 'effort'))
