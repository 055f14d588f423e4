"""What can happen to a process."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from launch.core import refuser

__getattr__ = refuser(__name__)


@dataclass
class ProcessStarted:
    """A process runs."""

    action: Any
    process_name: str
    cmd: list[str]
    pid: int


@dataclass
class ProcessExited(ProcessStarted):
    """A process has ended; a negative code is the signal that ended it."""

    returncode: int


@dataclass
class ProcessIO(ProcessStarted):
    """A process wrote something."""

    text: bytes
    from_stderr: bool
