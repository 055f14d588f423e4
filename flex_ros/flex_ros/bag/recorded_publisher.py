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
"""A publisher that mirrors its bytes to the recorder."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message


class RecordedPublisher:
    """A publisher that knows from the last `look` whether anyone receives its messages (wanted).
    """

    def __init__(self, node: Node, kind: Any, topic: str, quality: QoSProfile) -> None:
        self.quality = quality
        self.publisher = node.create_publisher(kind, topic, quality)
        self._record: Callable[[RecordedPublisher, bytes], None] | None = None
        self.wanted = False

    def record(self, recorder: Callable[[RecordedPublisher, bytes], None] | None) -> None:
        """From now on `recorder`, if any, gets the bytes of every message that goes out."""
        self._record = recorder
        self.wanted = self.wanted or recorder is not None

    def look(self) -> None:
        """Look for readers; it takes as long as to write."""
        self.wanted = self._record is not None or self.publisher.get_subscription_count() > 0

    def publish(self, message: Any) -> None:
        """Send a message, or the bytes of one."""
        if self._record is None:
            self.publisher.publish(message)
            return
        data = message if isinstance(message, bytes) else serialize_message(message)
        self.publisher.publish(data)
        self._record(self, data)
