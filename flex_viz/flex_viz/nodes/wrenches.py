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
"""The wrenches that act on the robot at the moment, from the topics that report them."""
from __future__ import annotations

import time

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile

from flex_description.math import within
from flex_dynamics import DynamicsError, Model
from flex_ros.message_guard import shortened, subscribe
from flex_ros.parameters import declare
from flex_viz.geometry.wrench_arrows import AppliedWrench

# Requested by a user or measured by a sensor; and applied, as a simulator reports it.
TOPICS = ('external_wrench', 'applied_wrench')


class Wrenches:
    """The last wrench on every frame, dropped `wrench_time` after its last message."""

    def __init__(self, node: Node, model: Model) -> None:
        self._node, self._model = node, model
        self._hold = declare(node, 'wrench_time', 1.0, 's of wall time that a wrench is shown '
                             'after its last message', lower=0.01, upper=3600.0, fixed=True)
        self._received: dict[str, tuple[float, AppliedWrench]] = {}      # wall time, s; by frame
        for topic in TOPICS:
            subscribe(node, WrenchStamped, topic, self._receive, QoSProfile(depth=10))

    def current(self) -> list[AppliedWrench]:
        """The wrenches to be drawn now."""
        oldest = time.monotonic() - self._hold
        self._received = {frame: entry for frame, entry in self._received.items()
                          if entry[0] > oldest}
        return [wrench for _, wrench in self._received.values()]

    def _receive(self, message: WrenchStamped) -> None:
        force, torque = message.wrench.force, message.wrench.torque
        wrench = AppliedWrench(message.header.frame_id, np.array([force.x, force.y, force.z]),
                               np.array([torque.x, torque.y, torque.z]))
        try:
            self._model.pose(np.zeros(self._model.n), wrench.frame)
        except DynamicsError as error:
            self._ignore(shortened(str(error)))
            return
        if not (within(wrench.force) and within(wrench.moment)):
            self._ignore('expected finite numbers of at most 1e9 N and N m')
            return
        self._received[wrench.frame] = time.monotonic(), wrench

    def _ignore(self, reason: str) -> None:
        self._node.get_logger().warning(f'wrench ignored: {reason}', throttle_duration_sec=1.0)
