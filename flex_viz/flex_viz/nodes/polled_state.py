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
"""Polled subscriptions: the newest message of a topic, taken when the next frame is drawn.

States arrive hundreds of times a second, frames are drawn thirty times. Waking the node for every
state would cost more than drawing. Therefore these subscriptions are outside the wait set, with
queues of one message that are polled.
"""
from __future__ import annotations

from typing import Any

from rclpy.node import Node

from flex_dynamics import Model
from flex_dynamics.ros.state_subscription import State, StateSubscription
from flex_ros.message_guard import DecodeError, decode, decode_errors
from flex_ros.polled_subscription import Polled, newest_of
from flex_ros.qos import newest


class PolledMessage:
    """A polled subscription to any topic."""

    def __init__(self, node: Node, kind: Any, topic: str) -> None:
        self._subscription = node.create_subscription(
            kind, topic, lambda _: None, newest(), callback_group=Polled(), raw=True)
        self._kind, self._topic, self._errors = kind, topic, decode_errors(node)

    def take(self) -> Any:
        """The newest message since the last call; None if there is none or it is malformed."""
        data = newest_of(self._subscription)
        try:
            return None if data is None else decode(data, self._kind)
        except DecodeError as error:
            self._errors.count(self._topic, error)
            return None


class PolledState(StateSubscription):
    """A polled StateSubscription; rejected states are counted and logged in the same way."""

    def __init__(self, node: Node, model: Model) -> None:
        self._latest: State | None = None
        super().__init__(node, model, self._keep, Polled())

    def _keep(self, state: State) -> None:
        self._latest = state

    def take(self) -> State | None:
        """The newest valid state since the last call, or None."""
        self.look()
        latest, self._latest = self._latest, None
        return latest
