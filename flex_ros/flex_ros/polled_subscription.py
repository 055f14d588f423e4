"""Polled subscriptions, outside the wait set: a node takes from their queues when it needs to.

Waking the executor for a message costs more than handling most messages.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rclpy.callback_groups import CallbackGroup


class Polled(CallbackGroup):
    """Entities that do not wake the executor: neither rclpy's nor that of flex_ros."""

    polled = True

    def can_execute(self, entity: Any) -> bool:
        return False

    def beginning_execution(self, entity: Any) -> bool:
        return False

    def ending_execution(self, entity: Any) -> None:
        pass


def waiting(subscription: Any) -> Iterator[tuple[Any, dict[str, int]]]:
    """The messages in the queue of a subscription, and what is known of each; the oldest first."""
    with subscription.handle:
        while (taken := take(subscription)) is not None:
            yield taken


def take(subscription: Any) -> Any:
    """The oldest message in the queue, and what is known of it, or None."""
    return subscription.handle.take_message(subscription.msg_type, subscription.raw)


def newest_of(subscription: Any) -> Any:
    """The newest message in the queue of a subscription, or None; the others are gone."""
    last = None
    for message, _ in waiting(subscription):
        last = message
    return last
