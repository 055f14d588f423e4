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
"""Records a run from its topics, as any ROS node could."""
from __future__ import annotations

import contextlib
import struct
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import rclpy
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import StepSimulation

from flex_msgs.msg import FlexState
from flex_ros.message_guard import DecodeError, decode
from flex_ros.polled_subscription import Polled, waiting
from flex_viz import RunError

TOPICS = {'flex_state': FlexState, 'joint_states': JointState, 'joint_commands': JointState,
          'control/controller_state': JointTrajectoryControllerState}
STEPS = 80           # periods at a time: fewer than any publisher's queue holds
PATIENCE = 60.0      # s of wall time without news


class Recorder(Node):
    """Keeps every message by its stamp (ns); one that was sent twice counts once.

    It steps the simulator, and goes on when all of the last steps has come: on a machine that
    gives it no core for seconds it is waited for, and nothing is lost. Messages stay bytes until
    the run is over: to make objects of them takes as long as to simulate them.
    """

    def __init__(self) -> None:
        super().__init__('recorder')
        self.names: list[str] = []
        self.states: dict[int, np.ndarray] = {}         # (2, n): q and v
        self.efforts: dict[int, np.ndarray] = {}        # (n_joints,), as measured
        self.commands: dict[int, np.ndarray] = {}       # (n_joints,), as commanded
        self.set_points: dict[int, np.ndarray] = {}     # (n_joints,)
        self.latest = -1
        self._topics = {name: self.create_subscription(
            kind, name, lambda _: None, QoSProfile(depth=10000), callback_group=Polled(),
            raw=True) for name, kind in TOPICS.items()}
        self._heard: dict[str, dict[int, bytes]] = {name: {} for name in TOPICS}
        self._step = self.create_client(StepSimulation, 'simulator/step_simulation')

    def _listen(self) -> None:
        """Take what has come."""
        for name, subscription in self._topics.items():
            for data, _ in waiting(subscription):
                if len(data) < 12:           # no message, from whoever sends such
                    continue
                seconds, rest = struct.unpack_from('<iI' if data[1] else '>iI', data, 4)
                at = seconds * 10**9 + rest
                self._heard[name][at] = data
                if name == 'flex_state':
                    self.latest = at

    def read(self) -> None:
        """Make arrays of all that was heard."""
        heard: dict[str, dict[int, Any]] = {name: {} for name in self._heard}
        for name, some in self._heard.items():
            for at, data in some.items():
                with contextlib.suppress(DecodeError):
                    heard[name][at] = decode(data, TOPICS[name])
        driven = None
        for at, state in heard['flex_state'].items():
            driven = int(state.joint_count)
            self.names = list(state.name)
            self.states[at] = np.array([state.position, state.velocity])
        for at, joints in heard['joint_states'].items():
            # Joints that follow others (<mimic>) come last and have no motor.
            self.efforts[at] = np.array(joints.effort)[:driven]
        for at, command in heard['joint_commands'].items():
            self.commands[at] = np.array(command.effort)
        for at, report in heard['control/controller_state'].items():
            self.set_points[at] = np.array(report.reference.positions)

    def has(self, at: int) -> bool:
        """Whether state, efforts and command of that stamp (ns) are there."""
        return all(at in self._heard[name]
                   for name in ('flex_state', 'joint_states', 'joint_commands'))

    def wait(self, done: Callable[[], bool], watch: Callable[[], None], what: str,
             patience: float = PATIENCE) -> None:
        """Listen until `done`; `watch` is called at each turn. RunError if nothing comes for
        `patience` s of wall time."""
        last, since = self.latest, time.monotonic()
        while not done():
            rclpy.spin_once(self, timeout_sec=0.005)
            self._listen()
            watch()
            if self.latest != last:
                last, since = self.latest, time.monotonic()
            if time.monotonic() - since > patience:
                raise RunError(f'{what}: nothing for {patience:g} s')

    def run(self, until: int, watch: Callable[[], None]) -> None:
        """Let the paused simulator go until the state of that stamp (ns) has come."""
        self.wait(self._step.service_is_ready, watch, 'waiting for the simulator')
        while not self.has(until):
            self._go(watch)

    def _go(self, watch: Callable[[], None]) -> None:
        """Some steps, and all that was sent of them."""
        count = len(self._heard['flex_state']) + STEPS
        future = self._step.call_async(StepSimulation.Request(steps=STEPS))
        self.wait(future.done, watch, 'waiting for the next state')
        result = future.result().result
        if result.result != Result.RESULT_OK:
            raise RunError(f'the simulator does not go on: {result.error_message}')
        told = [self._heard[name] for name in ('flex_state', 'joint_states', 'joint_commands')]
        self.wait(lambda: min(map(len, told)) >= count, watch, 'waiting for what was sent')
