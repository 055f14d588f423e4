"""So many pictures a second, on a machine that is late at times too."""
from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.node import Node

from flex_ros.clock import steady_clock


def at_rate(node: Node, rate: float, draw: Callable[[], None]) -> None:
    """Let the node call `draw` `rate` times a second of wall time.

    A timer that is late leaves a turn out, and the rate sinks. This one looks twice as often as
    it draws: a picture that came late does not put off the next one.
    """
    period, due = 1.0 / rate, 0.0

    def look() -> None:
        nonlocal due
        now = time.monotonic()
        if now >= due:
            due = max(due + period, now - period)
            draw()

    node.create_timer(0.5 * period, look, clock=steady_clock())
