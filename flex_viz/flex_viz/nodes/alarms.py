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
"""Fail-safes that act at the moment, as the nodes tell on /diagnostics."""
from __future__ import annotations

import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rclpy.qos import QoSProfile

from flex_ros.message_guard import shortened, subscribe

HOLD = 3.0            # s of wall time that a status counts; nodes send one a second
NODES = ('control', 'simulator')
SIGN = 'fail-safe'


class Alarms:
    """What control and simulator of the same namespace say while a fail-safe of theirs acts."""

    def __init__(self, node: Node) -> None:
        space = node.get_namespace().strip('/')
        self._names = {f'{space}/{name}: status'.lstrip('/'): name for name in NODES}
        self._heard: dict[str, tuple[float, str]] = {}
        subscribe(node, DiagnosticArray, '/diagnostics', self._receive, QoSProfile(depth=50))

    def current(self) -> tuple[str, ...]:
        """A sentence for each fail-safe that acts."""
        now = time.monotonic()
        return tuple(text for at, text in self._heard.values() if now - at < HOLD)

    def _receive(self, message: Any) -> None:
        for status in message.status:
            name = self._names.get(status.name)
            if name is None:
                continue
            if SIGN in status.message and status.level != b'\x00':
                self._heard[name] = (time.monotonic(),
                                     f'{name}: {shortened(status.message)}')
            else:
                self._heard.pop(name, None)
