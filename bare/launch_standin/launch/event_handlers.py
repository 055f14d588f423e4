"""Reactions to events."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from launch.core import LaunchContext, refuser
from launch.events import Shutdown
from launch.events.process import ProcessExited, ProcessIO, ProcessStarted

__getattr__ = refuser(__name__)


class Handler:
    """Calls, or returns the actions of, `reaction` when an event of type `event` comes."""

    event: Any

    def __init__(self, reaction: Any, target_action: Any = None) -> None:
        self.reaction = reaction
        self.target_action = target_action

    def matches(self, event: Any) -> bool:
        if type(event) is not self.event:
            return False
        return self.target_action is None or event.action is self.target_action

    def handle(self, event: Any, context: LaunchContext) -> Any:
        return self.reaction(event, context) if callable(self.reaction) else self.reaction


class OnProcessStart(Handler):
    """Reacts when a process, or a given one, starts."""

    event = ProcessStarted

    def __init__(self, *, target_action: Any = None, on_start: Any) -> None:
        super().__init__(on_start, target_action)


class OnProcessExit(Handler):
    """Reacts when a process, or a given one, ends."""

    event = ProcessExited

    def __init__(self, *, target_action: Any = None, on_exit: Any) -> None:
        super().__init__(on_exit, target_action)


class OnProcessIO(Handler):
    """Calls a function with what a process wrote."""

    event = ProcessIO

    def __init__(self, *, target_action: Any = None,
                 on_stdout: Callable[[ProcessIO], Any] = lambda event: None,
                 on_stderr: Callable[[ProcessIO], Any] = lambda event: None) -> None:
        super().__init__(lambda event, context: (
            on_stderr if event.from_stderr else on_stdout)(event), target_action)


class OnShutdown(Handler):
    """Reacts when the launch is about to end."""

    event = Shutdown

    def __init__(self, *, on_shutdown: Any) -> None:
        super().__init__(on_shutdown)
