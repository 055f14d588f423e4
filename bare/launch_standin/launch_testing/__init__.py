"""The part of `launch_testing` that goes with the stand-in for `launch`."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from launch.core import refuser

__getattr__ = refuser(__name__)


def post_shutdown_test() -> Callable[[type], type]:
    """Marks a test case that runs after the processes have ended."""
    def mark(case: type) -> type:
        setattr(case, '__post_shutdown_test__', True)  # noqa: B010
        return case
    return mark


def ready_to_test_action_timeout(timeout: float) -> Callable[[Any], Any]:
    """Sets how long to wait (s) for ReadyToTest; 15 s if not set."""
    def mark(description: Any) -> Any:
        description.__ready_to_test_action_timeout__ = timeout
        return description
    return mark
