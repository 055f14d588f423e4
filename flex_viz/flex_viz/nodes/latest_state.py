"""The newest message of a topic, taken when a picture is due.

States come hundreds of times a second, pictures are drawn thirty times. A subscription that wakes
the node for every state costs more than the drawing: these are left out of the waiting, and their
queues of one are looked into.
"""
from __future__ import annotations

from typing import Any

from rclpy.node import Node

from flex_dynamics import Model
from flex_dynamics.ros.state_subscription import State, StateSubscription
from flex_ros.message_guard import DecodeError, decode, decode_errors
from flex_ros.polled_subscription import Polled, newest_of
from flex_ros.qos import newest


class Latest:
    """Any topic, to be asked."""

    def __init__(self, node: Node, kind: Any, topic: str) -> None:
        self._subscription = node.create_subscription(
            kind, topic, lambda _: None, newest(), callback_group=Polled(), raw=True)
        self._kind, self._topic, self._errors = kind, topic, decode_errors(node)

    def take(self) -> Any:
        """The newest message since the last call if it can be decoded, or None."""
        data = newest_of(self._subscription)
        try:
            return None if data is None else decode(data, self._kind)
        except DecodeError as error:
            self._errors.count(self._topic, error)
            return None


class LatestState(StateSubscription):
    """A StateSubscription to be asked; what it rejects is counted and warned of as there."""

    def __init__(self, node: Node, model: Model) -> None:
        self._news: State | None = None
        super().__init__(node, model, self._keep, Polled())

    def _keep(self, state: State) -> None:
        self._news = state

    def take(self) -> State | None:
        """The newest state since the last call if it is a good one, or None."""
        self.look()
        news, self._news = self._news, None
        return news
