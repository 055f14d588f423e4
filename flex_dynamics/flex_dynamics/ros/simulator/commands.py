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
"""Where the commands of a simulator come from: the topic `joint_commands`."""
from __future__ import annotations

import time
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from flex_dynamics.simulation.command_owner import FRESH
from flex_ros.cdr.fixed_layout import FixedLayoutReader
from flex_ros.message_fields import nanoseconds
from flex_ros.message_guard import DecodeError, decode, decode_errors
from flex_ros.polled_subscription import Polled, waiting
from flex_ros.qos import newest

if TYPE_CHECKING:
    from flex_dynamics.ros.simulator.node import Simulator

QUEUE = 10        # commands that wait to be read
TOPIC = 'joint_commands'
ANSWERS_ALL = 'flex_state'      # frame_id of the commands of a driver that answers every state


class CommandSource(Protocol):
    """Hands commands to the state machine and the plant of a simulator."""

    def poll(self) -> None:
        """Free running, before a period: take the commands that have come."""

    def request(self) -> None:
        """The present state needs a command: ask for it, if the source can be asked."""

    def nodes(self) -> list[str]:
        """Full names of the nodes that can send commands; slow."""

    def driver_present(self) -> bool:
        """Whether the driver is in the graph: time may wait for its answer."""


class TopicCommands:
    """Commands of other nodes, on the topic; the first node that sends one drives the robot."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._reader = CommandReader()
        self._publishing: set[str] = set()     # nodes that can send commands, at the last look
        self._asked = -FRESH
        receive: Any = self.receive      # rclpy's types do not know the second argument
        lockstep = simulator.timing.lockstep
        # Deep enough that a second driver does not push the first one's commands out. Free running
        # a command acts from the next period on: it is taken then. It may be the only one, sent by
        # hand to a simulator just found, and must not be lost; in lockstep it is asked for again.
        self._subscription = simulator.create_subscription(
            JointState, TOPIC, receive, newest(QUEUE) if lockstep else QoSProfile(depth=QUEUE),
            raw=True, callback_group=None if lockstep else Polled())

    def poll(self) -> None:
        for data, info in islice(waiting(self._subscription), QUEUE):
            self.receive(data, info)

    def request(self) -> None:
        """States are published again while time stands still."""

    def nodes(self) -> list[str]:
        simulator = self._simulator
        found = simulator.get_publishers_info_by_topic(simulator.resolve_topic_name(TOPIC))
        return [f'{info.node_namespace.rstrip("/")}/{info.node_name}' for info in found]

    def driver_present(self) -> bool:
        now = time.monotonic()
        if now - self._asked >= FRESH:
            self._asked, self._publishing = now, set(self.nodes())
        driver = self._simulator.machine.owner.driver(now)
        return driver in self._publishing if driver else bool(self._publishing)

    def receive(self, data: bytes, info: dict[str, int]) -> None:
        """A serialised JointState, and what the middleware knows of it."""
        simulator = self._simulator
        try:
            names, stamp_ns, command = self._reader.read(data)
        except DecodeError as error:
            decode_errors(simulator).count(TOPIC, error)
            return
        problem = simulator.machine.receive(
            stamp_ns, info['publication_sequence_number'], time.monotonic(),
            lambda: simulator.plant.commands.accept(names, *command),
            answers_all=self._reader.frame == ANSWERS_ALL)
        if problem is not None:
            simulator.command_rejected(problem)
        if simulator.machine.other_clock:
            simulator.get_logger().warning(
                f'{TOPIC}: stamped {1e-9 * stamp_ns:.10g} s by another clock than simulated time, '
                f'{1e-9 * simulator.machine.stamp_ns:.10g} s; commands count as sent when they '
                'come (set use_sim_time for the driver)', once=True)
        if simulator.timing.lockstep:
            simulator.go_on()


class CommandReader:
    """Reads sensor_msgs/JointState; quickly if it is like the one before."""

    def __init__(self) -> None:
        self._reader = FixedLayoutReader(('effort', 'position', 'velocity'))
        self._names: list[str] = []
        self.frame = ''              # header.frame_id of the last one

    def read(self, data: bytes) -> tuple[list[str], int, list[np.ndarray]]:
        """Names, stamp (ns), and effort, position and velocity; DecodeError if it is none."""
        found = self._reader.read(data)
        if found is None:
            message = decode(data, JointState)
            self._names, self.frame = list(message.name), message.header.frame_id
            self._reader.learn(data, message)
            found = nanoseconds(message.header.stamp), [np.array(values) for values in (
                message.effort, message.position, message.velocity)]
        return self._names, *found
