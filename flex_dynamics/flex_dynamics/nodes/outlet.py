"""A topic that the simulator writes, with an ear for a recording."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message


class Outlet:
    """A publisher; `record`, if set, gets the bytes of every message that goes out."""

    def __init__(self, node: Node, kind: Any, topic: str, quality: QoSProfile) -> None:
        self.quality = quality
        self.publisher = node.create_publisher(kind, topic, quality)
        self.record: Callable[[Outlet, bytes], None] | None = None

    @property
    def wanted(self) -> bool:
        """Whether a message would reach anyone."""
        return self.record is not None or self.publisher.get_subscription_count() > 0

    def publish(self, message: Any) -> None:
        """Send a message, or the bytes of one."""
        if self.record is None:
            self.publisher.publish(message)
            return
        data = message if isinstance(message, bytes) else serialize_message(message)
        self.publisher.publish(data)
        self.record(self, data)
