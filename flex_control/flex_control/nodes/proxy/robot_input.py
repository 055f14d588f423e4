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
"""The robot as the shaping proxy sees it: where its joints are, and what it carries."""
from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from flex_control.loop.trajectory_reader import GoalError
from flex_description import default_pose
from flex_dynamics import DynamicsError, Model
from flex_dynamics.ros.simulator.payloads import PayloadServices
from flex_ros.message_fields import nanoseconds
from flex_ros.message_guard import LARGEST, DecodeError, decode, decode_errors
from flex_ros.parameters import NodeError, declare
from flex_ros.polled_subscription import Polled, newest_of
from flex_ros.qos import newest

MOVING = 0.05          # rad/s or m/s; what is slower is noise, or the swing of a bent link
CLOCKS_DIFFER = 5.0    # s between the newest joint_states and this node's clock
TOPIC = 'joint_states'
PARAMETER = 'payload.mass'      # name of the payload that the parameter stands for


class JointStateInput:
    """Positions and speeds of joints by name, from the newest message on `joint_states`.

    Messages may name any joints, other robots' among them. Numbers that are not finite, or beyond
    1e9, count as not there. `rejected` counts messages whose arrays have wrong lengths.
    """

    def __init__(self, node: Node, model: Model) -> None:
        self._subscription = node.create_subscription(
            JointState, TOPIC, lambda _: None, newest(10), callback_group=Polled(), raw=True)
        self._errors = decode_errors(node)
        self._default = default_pose(model.robot)
        self._positions: dict[str, float] = {}
        self._speeds: dict[str, float] = {}
        self._heard: float | None = None
        self._stamp = 0
        self.received = self.rejected = 0

    def look(self) -> None:
        """Read the newest message in the queue."""
        data = newest_of(self._subscription)
        if data is None:
            return
        try:
            message = decode(data, JointState)
        except DecodeError as error:
            self._errors.count(TOPIC, error)
            return
        names, count = list(message.name), len(message.name)
        if len(message.position) != count or len(message.velocity) not in (0, count):
            self.rejected += 1
            return
        self.received += 1
        self._heard, self._stamp = time.monotonic(), nanoseconds(message.header.stamp)
        for name, position in zip(names, message.position):
            if abs(position) <= LARGEST:
                self._positions[name] = position
                self._speeds[name] = 0.0
        for name, speed in zip(names, message.velocity):
            if abs(speed) <= LARGEST:
                self._speeds[name] = speed

    def silent(self) -> float:
        """Wall time (s) since the last message; infinite if none has come."""
        return np.inf if self._heard is None else time.monotonic() - self._heard

    def moving(self, names: Sequence[str]) -> str:
        """Which of the joints moves, and how fast; empty if none does."""
        self.look()
        for name in names:
            if abs(self._speeds.get(name, 0.0)) > MOVING:
                return f'{name} with {self._speeds[name]:.3g} rad/s or m/s'
        return ''

    def at(self, names: Sequence[str], needed: Sequence[str], now_ns: int,
           patience: float) -> np.ndarray:
        """Positions of the joints `names`; GoalError if those `needed` are not known, or not from
        now. Others that were never heard of are in their default pose."""
        self.look()
        if self.silent() > patience:
            raise GoalError(f'no {TOPIC} ' + ('have come yet' if self._heard is None else
                                              f'for {self.silent():.1f} s')
                            + ': expected them of the robot, to know where a motion begins')
        missing = [name for name in needed if name not in self._positions]
        if missing:
            raise GoalError(f'{TOPIC}: expected a position of {missing[0]!r}, which the motion '
                            'names, found none')
        apart = 1e-9 * (now_ns - self._stamp)
        if self._stamp and abs(apart) > CLOCKS_DIFFER:
            raise GoalError(f'{TOPIC} are stamped {1e-9 * self._stamp:.10g} s, but the clock of '
                            f'this node says {1e-9 * now_ns:.10g} s: expected one clock; set '
                            'use_sim_time here as the robot has it')
        return np.array([self._positions.get(name, self._default.get(name, 0.0))
                         for name in names])


class Payloads:
    """What the robot carries, by the parameters payload.* and by the services `~/attach_payload`
    and `~/detach_payload`, as the simulator has them. `model` is the robot with all of it."""

    def __init__(self, node: Node, model: Model) -> None:
        self.model = model
        self.payloads: list[str] = []
        self._link = declare(node, 'payload.link', '', 'link that carries payload.mass; empty: '
                             'the last one', fixed=True) or model.robot.links[-1].name
        centre = declare(node, 'payload.centre', [], 'm, centre of payload.mass in the frame of '
                         'its link, three numbers; empty: its origin', lower=-1e4, upper=1e4,
                         fixed=True)
        if centre.size not in (0, 3):
            raise NodeError(f'parameter payload.centre: expected none or 3 numbers, found '
                            f'{centre.size}')
        self._centre = centre if centre.size else np.zeros(3)
        try:
            model.with_payload(PARAMETER, self._link, 1.0, self._centre)
        except DynamicsError as error:
            raise NodeError(f'parameter payload.link: {error}') from None
        self.plant = self            # what PayloadServices asks for
        self.create_service, self.get_logger = node.create_service, node.get_logger
        self._services = PayloadServices(self)

    def set_mass(self, mass: float) -> None:
        """Carry `mass` (kg) at payload.link, and what was attached."""
        if PARAMETER in self.payloads:
            self.detach(PARAMETER)
        if mass:
            self.attach(PARAMETER, self._link, None, mass, self._centre, np.zeros((3, 3)))

    def attach(self, name: str, frame: str, x: float | None, mass: float, centre: Any,
               tensor: Any) -> None:
        """Carry a payload from now on."""
        if name in self.payloads:
            raise DynamicsError(f'payload {name!r} is attached already: detach it first, or give '
                                'another name')
        self.model = self.model.with_payload(name, frame, mass, centre, tensor, x)
        self.payloads.append(name)

    def detach(self, name: str) -> None:
        """Let go of a payload."""
        self.model = self.model.without_payload(name)
        self.payloads.remove(name)
