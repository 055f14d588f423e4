"""The modes node: the robot swinging in one of its natural modes, as states that all else draws.

It publishes `flex_state` in a simulator's place: the markers node, the viewer and the state
publisher show it as they show any motion. A text for RViz names the mode and its frequency.
"""
from __future__ import annotations

import time

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from visualization_msgs.msg import MarkerArray

from flex_dynamics.ros.model_parameters import MODEL_ERRORS, declare_model
from flex_msgs.msg import FlexState
from flex_ros.clock import steady_clock
from flex_ros.diagnostics import Diagnostics
from flex_ros.entry import run
from flex_ros.message_fields import floats, stamp
from flex_ros.parameters import NodeError, declare
from flex_viz.bent_robot import BentRobot
from flex_viz.goals import read_goals
from flex_viz.marker import words
from flex_viz.marker_bytes import marker_array
from flex_viz.modes import JOINTS, modes
from flex_viz.shown_text import plain

RATE = 30.0      # states a second


class Modes(Node):
    """Wires a Mode to flex_state."""

    def __init__(self) -> None:
        super().__init__('modes')
        self.model = model = declare_model(self)
        text = declare(self, 'pose', '', 'joint positions, rad or m, one a joint; empty: zero',
                       fixed=True)
        pose = read_goals(model, [f'pose: {text}'])['pose'] if text else np.zeros(model.n_joints)
        joints = declare(self, 'joints', 'locked', 'whether the joints are held or let go',
                         choices=JOINTS, fixed=True)
        self._rate = declare(self, 'swing_rate', 0.5, "Hz of the animation, whatever the mode's "
                             'frequency is', lower=0.01, upper=10.0, fixed=True)
        self._q = model.statics(pose)[0]
        self._modes = modes(model, self._q, joints)
        if not self._modes:
            raise NodeError(f'robot {plain(model.robot.name)} has no elastic mode with '
                            f'joints {joints}')
        self._reach = BentRobot(model).reach()
        self._swing = declare(self, 'swing', 0.1, 'm that the most moved point swings', lower=0.0,
                              upper=1e3)
        self._number = declare(self, 'mode', 1, 'which one, from the lowest, 1', lower=1,
                               upper=len(self._modes))
        self._root = model.robot.links[0].name
        self._state = FlexState(name=list(model.names), joint_count=model.n_joints)
        self._state.header.frame_id = self._root
        self._states = self.create_publisher(FlexState, 'flex_state', QoSProfile(depth=10))
        self._markers = self.create_publisher(MarkerArray, 'markers', QoSProfile(depth=5))
        self._began = time.monotonic()
        self.add_on_set_parameters_callback(self._on_parameters)
        self.create_timer(1.0 / RATE, self._show, clock=steady_clock())
        Diagnostics(self, model.robot.name, self._status)
        told = ', '.join(f'{mode.frequency:.4g}' for mode in self._modes)
        self.get_logger().info(f'{plain(model.robot.name)}, joints {joints}: modes at {told} Hz')

    def _on_parameters(self, parameters: list[Parameter]) -> SetParametersResult:
        """Ranges are checked by rclpy itself."""
        for one in parameters:
            if one.name == 'mode':
                self._number = int(one.value)
            elif one.name == 'swing':
                if not (isinstance(one.value, (int, float)) and np.isfinite(one.value)):
                    return SetParametersResult(successful=False,
                                               reason='swing: expected a finite number')
                self._swing = float(one.value)
        return SetParametersResult(successful=True)

    def _show(self) -> None:
        now = time.monotonic() - self._began
        mode = self._modes[self._number - 1]
        phase = 2.0 * np.pi * self._rate * now
        q = mode.at(self._q, self._swing, phase)
        speed = 2.0 * np.pi * self._rate * self._swing * np.cos(phase) * mode.shape
        ns = round(1e9 * now)
        self._state.header.stamp = stamp(ns)
        self._state.position, self._state.velocity = floats(q), floats(speed)
        self._states.publish(self._state)
        text = words('mode', 0, self._name(), (0.0, 0.0, -0.08 * self._reach),
                     0.04 * self._reach, (0.2, 0.2, 0.2, 1.0))
        self._markers.publish(marker_array([text], self._root, ns, 1.0))

    def _name(self) -> str:
        return f'mode {self._number}: {self._modes[self._number - 1].frequency:.4g} Hz'

    def _status(self) -> tuple[bytes, str, dict[str, object]]:
        return DiagnosticStatus.OK, self._name(), {
            f'mode {at} (Hz)': f'{mode.frequency:.6g}' for at, mode in enumerate(self._modes, 1)}


def main() -> None:
    run(Modes, MODEL_ERRORS)


if __name__ == '__main__':
    main()
