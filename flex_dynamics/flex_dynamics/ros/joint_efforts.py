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
"""The efforts of the motors, from the newest message of `joint_states`."""
from __future__ import annotations

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from flex_description.math import within
from flex_dynamics.model.model import Model
from flex_ros.message_guard import DecodeError, decode, decode_errors, shortened
from flex_ros.polled_subscription import Polled, newest_of
from flex_ros.qos import newest

TOPIC = 'joint_states'


class JointEfforts:
    """Polled: `present` (n_joints,), N m or N, of the newest message; None if none has come, or
    if that one has no efforts. Joints that it does not name, as passive ones, have none."""

    def __init__(self, node: Node, model: Model) -> None:
        self._node, self._errors = node, decode_errors(node)
        self._index = {name: at for at, name in enumerate(model.joint_names)}
        self._subscription = node.create_subscription(
            JointState, TOPIC, lambda _: None, newest(), callback_group=Polled(), raw=True)
        self.present: np.ndarray | None = None

    def poll(self) -> np.ndarray | None:
        """Take what has come, and return `present`."""
        data = newest_of(self._subscription)
        if data is None:
            return self.present
        try:
            message = decode(data, JointState)
        except DecodeError as error:
            self._errors.count(TOPIC, error)
            return self.present
        self.present = self._read(message)
        return self.present

    def _read(self, message: JointState) -> np.ndarray | None:
        values = np.asarray(message.effort, dtype=float)
        if not len(values):
            return None
        if len(values) != len(message.name) or not within(values):
            what = ('finite numbers of at most 1e9' if len(values) == len(message.name)
                    else f'{len(message.name)} numbers, one a name')
            self._node.get_logger().warning(
                f'efforts of joint_states ignored: expected {what} or none, found '
                f'{shortened(str(values))}', throttle_duration_sec=1.0)
            return None
        efforts = np.zeros(len(self._index))
        for name, value in zip(message.name, values):
            if name in self._index:
                efforts[self._index[name]] = value
        return efforts
