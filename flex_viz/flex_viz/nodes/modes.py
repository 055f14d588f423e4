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
"""The modes node: animates a natural mode of the robot by publishing its states.

It publishes `flex_state` in place of a simulator, so that the markers node, the viewer and the
state publisher show the mode as any other motion. A text marker for RViz gives the number and the
frequency of the mode.
"""
from __future__ import annotations

import time

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node
from rclpy.qos import QoSProfile
from visualization_msgs.msg import MarkerArray

from flex_description import read_pose
from flex_dynamics.ros.model_parameters import MODEL_ERRORS, declare_model
from flex_msgs.msg import FlexState
from flex_ros.clock import steady_clock
from flex_ros.diagnostics import Diagnostics
from flex_ros.entry import run
from flex_ros.message_fields import floats, stamp
from flex_ros.parameters import LiveParameters, NodeError, declare
from flex_viz.geometry.bent_robot import BentRobot
from flex_viz.geometry.modes import JOINTS, natural_modes
from flex_viz.rviz.marker import text_marker
from flex_viz.rviz.marker_bytes import marker_array
from flex_viz.shown_text import plain

USUAL = 0.05      # amplitude, share of the reach
RATE = 30.0      # states a second


class Modes(Node):
    """Wires a Mode to flex_state."""

    def __init__(self) -> None:
        super().__init__('modes')
        self.model = model = declare_model(self, constraints=True)
        text = declare(self, 'pose', '', 'joint positions, rad or m, one a joint, or joint=value '
                       'pairs; empty: zero where the limits allow it, else the middle of the '
                       'range', fixed=True)
        pose = np.array(list(read_pose(model.robot, text, what='parameter pose').values()))
        joints = declare(self, 'joints', 'locked', 'whether the joints are held or move freely',
                         choices=JOINTS, fixed=True)
        self._rate = declare(self, 'swing_rate', 0.5, 'Hz of the animation, independent of the '
                             'frequency of the mode', lower=0.01, upper=10.0, fixed=True)
        self._q = model.statics(pose)[0]
        self._modes = natural_modes(model, self._q, joints)
        if not self._modes:
            raise NodeError(f'robot {plain(model.robot.name)} has no elastic mode with '
                            f'joints {joints}')
        self._reach = BentRobot(model).reach()
        live = LiveParameters(self)
        live.number('swing', 'amplitude of the point that moves most, m; 0: 5 % of the reach of '
                    'the robot', self._set_swing, 1e3)
        live.integer('mode', 'number of the mode, 1 is the lowest', self._set_number, 1,
                     len(self._modes), default=1)
        self._root = model.robot.links[0].name
        self._state = FlexState(name=list(model.names), joint_count=model.n_joints)
        self._state.header.frame_id = self._root
        self._states = self.create_publisher(FlexState, 'flex_state', QoSProfile(depth=10))
        self._markers = self.create_publisher(MarkerArray, 'markers', QoSProfile(depth=5))
        self._start = time.monotonic()
        self.create_timer(1.0 / RATE, self._show, clock=steady_clock())
        Diagnostics(self, model.robot.name, self._status)
        frequencies = ', '.join(f'{mode.frequency:.4g}' for mode in self._modes)
        self.get_logger().info(f'{plain(model.robot.name)}, joints {joints}: modes at '
                               f'{frequencies} Hz')

    def _set_swing(self, swing: float) -> None:
        self._swing = swing or USUAL * self._reach

    def _set_number(self, number: int) -> None:
        self._number = number

    def _show(self) -> None:
        now = time.monotonic() - self._start
        mode = self._modes[self._number - 1]
        phase = 2.0 * np.pi * self._rate * now
        q = mode.at(self._q, self._swing, phase)
        speed = 2.0 * np.pi * self._rate * self._swing * np.cos(phase) * mode.shape
        stamp_ns = round(1e9 * now)
        self._state.header.stamp = stamp(stamp_ns)
        self._state.position, self._state.velocity = floats(q), floats(speed)
        self._states.publish(self._state)
        text = text_marker('mode', 0, self._name(), (0.0, 0.0, -0.08 * self._reach),
                           0.04 * self._reach, (0.2, 0.2, 0.2, 1.0))
        self._markers.publish(marker_array([text], self._root, stamp_ns, 1.0))

    def _name(self) -> str:
        return f'mode {self._number}: {self._modes[self._number - 1].frequency:.4g} Hz'

    def _status(self) -> tuple[bytes, str, dict[str, object]]:
        return DiagnosticStatus.OK, self._name(), {
            f'mode {at} (Hz)': f'{mode.frequency:.6g}' for at, mode in enumerate(self._modes, 1)}


def main() -> None:
    run(Modes, MODEL_ERRORS)


if __name__ == '__main__':
    main()
