"""What tests can ask about the processes of a launch, and wait for."""
from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

from launch.events.process import ProcessExited, ProcessIO

ESCAPES = re.compile(r'\x1b\[[0-9;]*m')


def matches(process: Any, event: Any) -> bool:
    """Whether `event` is of the process given by name, by action, or (None) of any."""
    if process is None:
        return True
    return process in event.process_name if isinstance(process, str) else event.action is process


def finds(expected: Any, text: str) -> bool:
    """Whether `text` has the string, all the strings, or the pattern."""
    text = ESCAPES.sub('', text)
    if isinstance(expected, re.Pattern):
        return expected.search(text) is not None
    if isinstance(expected, str):
        return expected in text
    place = 0
    for part in expected:
        place = text.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return True


class ProcInfo:
    """The last event (start or exit) of every process."""

    def __init__(self) -> None:
        self.events: dict[Any, Any] = {}
        self.changed = threading.Condition()

    def append(self, event: Any) -> None:
        with self.changed:
            self.events[event.action] = event
            self.changed.notify_all()

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self.events.values()))

    def __getitem__(self, process: Any) -> Any:
        for event in self:
            if matches(process, event):
                return event
        raise KeyError(process)

    def process_names(self) -> list[str]:
        return [event.process_name for event in self]

    def wait(self, process: Any, test: Callable[[Any], bool], timeout: float, what: str) -> None:
        with self.changed:
            good = self.changed.wait_for(
                lambda: any(matches(process, event) and test(event) for event in self), timeout)
        assert good, f"Timed out waiting for process '{process}' to {what}"

    def assertWaitForStartup(self, process: Any, *, timeout: float = 10) -> None:
        self.wait(process, lambda event: True, timeout, 'start')

    def assertWaitForShutdown(self, process: Any, *, timeout: float = 10) -> None:
        self.wait(process, lambda event: isinstance(event, ProcessExited), timeout, 'finish')


class ProcOutput:
    """All that the processes wrote."""

    def __init__(self) -> None:
        self.events: list[ProcessIO] = []
        self.changed = threading.Condition()

    def append(self, event: ProcessIO) -> None:
        with self.changed:
            self.events.append(event)
            self.changed.notify_all()

    def __iter__(self) -> Iterator[ProcessIO]:
        return iter(list(self.events))

    def __getitem__(self, process: Any) -> list[ProcessIO]:
        return [event for event in self if matches(process, event)]

    def text(self, process: Any, stream: str) -> str:
        if stream not in ('stdout', 'stderr'):
            raise ValueError(f"stream: expected 'stdout' or 'stderr', found {stream!r}")
        return b''.join(event.text for event in self[process]
                        if event.from_stderr == (stream == 'stderr')).decode(errors='replace')

    def waitFor(self, expected_output: Any, process: Any = None, *, timeout: float = 10,
                stream: str = 'stderr') -> bool:
        with self.changed:
            return self.changed.wait_for(
                lambda: finds(expected_output, self.text(process, stream)), timeout)

    def assertWaitFor(self, expected_output: Any, process: Any = None, *, timeout: float = 10,
                      stream: str = 'stderr') -> None:
        good = self.waitFor(expected_output, process, timeout=timeout, stream=stream)
        assert good, (f'Waiting for output timed out: {expected_output!r} in {stream} of '
                      f'{process or "any process"}')
