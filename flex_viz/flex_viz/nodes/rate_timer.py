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
"""A timer that keeps its mean rate on a loaded machine."""
from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.node import Node

from flex_ros.clock import steady_clock


def create_rate_timer(node: Node, rate: float, draw: Callable[[], None]) -> None:
    """Call `draw` `rate` times a second of wall time.

    A ROS timer that is late skips a period, and the rate drops. This one polls at twice the rate:
    a late call does not delay the next one.
    """
    period, due = 1.0 / rate, 0.0

    def poll() -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due:
            due = max(due + period, now - period)
            draw()

    node.create_timer(0.5 * period, poll, clock=steady_clock())
