"""The clock that paces and watches, whatever happens to simulated and wall time."""
from __future__ import annotations

from rclpy.clock import Clock
from rclpy.clock_type import ClockType


def steady_clock() -> Clock:
    """The wall clock that no one sets, for pacing and watching."""
    return Clock(clock_type=ClockType.STEADY_TIME)
