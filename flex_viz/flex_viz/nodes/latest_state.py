"""The newest message of a topic, taken when a picture is due.

States come hundreds of times a second, pictures are drawn thirty times. A subscription that wakes
the node for every state costs more than the drawing: these are left out of the waiting, and their
queues of one are looked into.
"""
from __future__ import annotations

from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile

from flex_dynamics import Model
from flex_dynamics.nodes.state_input import State, StateInput


class Unwaited(CallbackGroup):
    """Entities that never wake the executor: neither rclpy's nor that of flex_dynamics."""

    unwaited = True

    def can_execute(self, entity: Any) -> bool:
        return False

    def beginning_execution(self, entity: Any) -> bool:
        return False

    def ending_execution(self, entity: Any) -> None:
        pass


def _take(subscription: Any) -> Any:
    """The newest message in the queue, or None."""
    news = None
    with subscription.handle:
        while (taken := subscription.handle.take_message(
                subscription.msg_type, subscription.raw)) is not None:
            news = taken[0]
    return news


class Latest:
    """Any topic, to be asked."""

    def __init__(self, node: Node, kind: Any, topic: str) -> None:
        self._subscription = node.create_subscription(
            kind, topic, lambda _: None, QoSProfile(depth=1), callback_group=Unwaited())

    def take(self) -> Any:
        """The newest message since the last call, or None."""
        return _take(self._subscription)


class LatestState(StateInput):
    """A StateInput to be asked; what it rejects is counted and warned of as there."""

    def __init__(self, node: Node, model: Model) -> None:
        self._news: State | None = None
        super().__init__(node, model, self._keep, Unwaited())

    def _keep(self, state: State) -> None:
        self._news = state

    def take(self) -> State | None:
        """The newest state since the last call if it is a good one, or None."""
        message = _take(self.subscription)
        if message is not None:
            self._receive(message)
        news, self._news = self._news, None
        return news
