"""A topic that the simulator writes, with an ear for a recording."""
from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message

ASK = 0.02      # s of wall time between two looks for readers: to look takes as long as to write


class Outlet:
    """A publisher; `record`, if set, gets the bytes of every message that goes out."""

    def __init__(self, node: Node, kind: Any, topic: str, quality: QoSProfile) -> None:
        self.quality = quality
        self.publisher = node.create_publisher(kind, topic, quality)
        self.record: Callable[[Outlet, bytes], None] | None = None
        self._looked, self._read = -ASK, False

    @property
    def wanted(self) -> bool:
        """Whether a message would reach anyone; a new reader is known of within ASK."""
        if self.record is not None:
            return True
        now = monotonic()
        if now - self._looked > ASK:
            self._looked, self._read = now, self.publisher.get_subscription_count() > 0
        return self._read

    def look_again(self) -> None:
        """Look for readers at the next question."""
        self._looked = -ASK

    def publish(self, message: Any) -> None:
        """Send a message, or the bytes of one."""
        if self.record is None:
            self.publisher.publish(message)
            return
        data = message if isinstance(message, bytes) else serialize_message(message)
        self.publisher.publish(data)
        self.record(self, data)
