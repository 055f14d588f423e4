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
"""The topic `~/controller_state`, as ROS's joint_trajectory_controller has it."""
from __future__ import annotations

from typing import Any

import numpy as np
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectoryPoint

from flex_control import Reference
from flex_dynamics.ros.state_subscription import State
from flex_ros.message_fields import floats, stamp


class Reports:
    """Publishes reference, feedback, error and output, once a period (s) of the states' time."""

    def __init__(self, node: Node, joints: list[str], period: float) -> None:
        self._joints, self._period = joints, round(1e9 * period)
        self._last: int | None = None
        self._publisher = node.create_publisher(JointTrajectoryControllerState,
                                                '~/controller_state', 10)

    def restart(self) -> None:
        """Time was set back."""
        self._last = None

    def add(self, state: State, wanted: Reference, efforts: np.ndarray) -> None:
        """What the loop wanted at a state, and its efforts (n_joints,)."""
        stamp_ns = state.stamp_ns
        if self._last is not None and stamp_ns - self._last < self._period:
            return
        self._last = stamp_ns
        if not self._publisher.get_subscription_count():
            return       # to build one takes longer than all else that a period asks for
        joints = len(self._joints)
        report = JointTrajectoryControllerState(
            joint_names=self._joints, output=JointTrajectoryPoint(effort=floats(efforts)),
            speed_scaling_factor=1.0,
            **points(wanted, state.q[:joints], state.v[:joints],
                     ('reference', 'feedback', 'error')))
        report.header.stamp = stamp(stamp_ns)
        self._publisher.publish(report)


def points(wanted: Reference, position: np.ndarray, velocity: np.ndarray,
           names: tuple[str, str, str]) -> dict[str, Any]:
    """Reference, measured motion and the error between them, as message fields of these names."""
    return dict(zip(names, (
        JointTrajectoryPoint(positions=floats(wanted.position), velocities=floats(wanted.velocity),
                             accelerations=floats(wanted.acceleration)),
        JointTrajectoryPoint(positions=floats(position), velocities=floats(velocity)),
        JointTrajectoryPoint(positions=floats(wanted.position - position),
                             velocities=floats(wanted.velocity - velocity)))))
