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
"""The status of a node on /diagnostics."""
from __future__ import annotations

from collections.abc import Callable, Mapping

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node

from flex_ros.clock import steady_clock
from flex_ros.message_guard import decode_errors
from flex_ros.transport import WATCHES


class Diagnostics:
    """Publishes one status of a node on /diagnostics, once a second of wall time."""

    def __init__(self, node: Node, hardware_id: str,
                 collect: Callable[[], tuple[bytes, str, Mapping[str, object]]]) -> None:
        self._node, self._collect = node, collect
        self._name = f'{node.get_fully_qualified_name().lstrip("/")}: status'
        self._hardware_id, self._errors = hardware_id, decode_errors(node)
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._clock = Clock(clock_type=ClockType.SYSTEM_TIME)
        node.create_timer(1.0, self.publish, clock=steady_clock())

    def publish(self) -> None:
        level, text, collected = self._collect()
        problem = next((watch.problem for watch in WATCHES if watch.problem), '')
        if problem:
            level, text = DiagnosticStatus.ERROR, problem
        values = {**collected, 'undecodable messages': self._errors.total,
                  'last undecodable message': self._errors.last}
        status = DiagnosticStatus(
            level=level, name=self._name, message=text, hardware_id=self._hardware_id,
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()])
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._clock.now().to_msg()
        self._publisher.publish(message)
