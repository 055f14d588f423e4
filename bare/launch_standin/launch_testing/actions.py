"""Actions of test descriptions."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from launch.core import Action, LaunchContext, refuser

__getattr__ = refuser(__name__)


class ReadyToTest(Action):
    """Lets the tests begin."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.callbacks: list[Callable[[], None]] = []

    def execute(self, context: LaunchContext) -> None:
        for callback in self.callbacks:
            callback()
