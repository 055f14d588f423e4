"""Conditions of actions."""
from __future__ import annotations

from typing import Any

from launch.core import LaunchContext, perform, refuser

__getattr__ = refuser(__name__)


class IfCondition:
    """True for the text true or 1, false for false or 0."""

    def __init__(self, predicate_expression: Any) -> None:
        self.predicate_expression = predicate_expression

    def __call__(self, context: LaunchContext) -> bool:
        text = perform(context, self.predicate_expression).strip().lower()
        if text not in ('true', '1', 'false', '0'):
            raise ValueError(f"condition: expected true, 1, false or 0, found '{text}'")
        return text in ('true', '1')


class UnlessCondition(IfCondition):
    """The opposite."""

    def __call__(self, context: LaunchContext) -> bool:
        return not super().__call__(context)
