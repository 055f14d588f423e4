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
"""The fail-safe: acts when a controller fails or its inputs are missing."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np
from rclpy.node import Node

from flex_control import Controller, ControlLoop, SetPoints
from flex_control.loop.input_recovery import InputRecovery
from flex_control.nodes.drive_client import DriveClient
from flex_control.nodes.motion import Motion
from flex_dynamics import Model
from flex_dynamics.ros.state_subscription import State
from flex_ros.message_guard import CALCULATION_ERRORS

Send = Callable[[State, np.ndarray, np.ndarray, np.ndarray], None]


class FailSafe:
    """`hold`: come to rest and stay, by the controller `fallback`; `zero`: no effort, the drives
    damp; `none`: no command, so that the robot's own fail-safe acts.

    why: the reason, empty while it does not act. latched: it acts until a parameter is set.
    lost: the robot moved without states or without our efforts. count: how often it began to act.
    recovery_time: s without a loss until it ends. send: state, efforts, and positions and
    velocities for the drives, each (n_joints,).
    """

    def __init__(self, node: Node, loop: ControlLoop, motion: Motion, drives: DriveClient,
                 kind: str, fallback: Controller | None, recovery_time: float,
                 send: Send) -> None:
        self._node, self._loop, self._motion, self._drives = node, loop, motion, drives
        self._model: Model = loop.model
        self._fallback, self._send = fallback, send
        self.kind = kind
        self.count = 0
        self._recovery = InputRecovery(recovery_time)
        self.reset()

    def reset(self) -> None:
        """Time was set back: nothing is wrong."""
        self.why, self.latched, self.lost = '', False, False
        self._inputs_lost = False              # why it acts
        self._motion.planner.blocked = ''

    def begin(self, why: str) -> None:
        """Act, if it does not yet."""
        self._recovery.lost()
        if not self.why:
            self.count += 1
            self._inputs_lost = not self.latched
            self._node.get_logger().error(f'{why}: the fail-safe ({self.kind}) acts')
            self._motion.give_up(f'the fail-safe acts: {why}')
            if self._fallback is not None and self._loop.controller is not self._fallback:
                self._drives.tell_fallback(self._fallback)
                self._loop.set_controller(self._fallback)
        self.why = self._motion.planner.blocked = why

    def input_missing(self) -> None:
        """What the controller needs for a state is not there."""
        self._recovery.lost()

    def end(self, state: State) -> bool:
        """Nothing is missing for this state: continue, from rest, if it has been so for
        recovery_time. Returns whether the controller has to answer the state."""
        if not self.why:
            return True
        recovered = not self._inputs_lost or self._recovery.good(state.stamp_ns)
        if self.lost and (recovered or self.kind == 'hold'):      # hold where the robot is found
            self.lost = False
            self._loop.reset()
            self._loop.set_trajectory(SetPoints([1e-9 * state.stamp_ns],
                                                [state.q[:self._model.n_joints]]))
        if recovered:
            self._node.get_logger().info('the inputs are back: the controller continues')
            self.why = self._motion.planner.blocked = ''
        return recovered

    def answers(self, state: State) -> bool:
        """Answer the state in place of the loop; False if the loop has to answer it."""
        if not self.why or self.kind == 'hold':
            return False
        self.lost = True
        if self.kind == 'zero':
            joints = self._model.n_joints
            self._send(state, np.zeros(joints), state.q[:joints], np.zeros(joints))
        return True

    def act_unseen(self, last: State) -> None:
        """No states arrive: send a command for the last one, without feedback."""
        self.lost = True
        if self.answers(last):
            return
        joints = self._model.n_joints
        try:       # hold against gravity; the drives hold the position
            efforts = self._model.statics(last.q[:joints])[1]
        except CALCULATION_ERRORS as error:
            self._node.get_logger().error(f'no command sent: {error}', throttle_duration_sec=1.0)
            return
        self._send(last, efforts, last.q[:joints], np.zeros(joints))
