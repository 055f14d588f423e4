"""Assertions about processes that have ended and what they wrote."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from launch.core import refuser
from launch_testing.handlers import ProcInfo, ProcOutput, finds, matches

__getattr__ = refuser(__name__)

EXIT_OK = 0
EXIT_SIGINT = 130
EXIT_SIGKILL = 137


def assertExitCodes(proc_info: ProcInfo, allowable_exit_codes: Sequence[int] = (EXIT_OK,),
                    process: Any = None) -> None:
    """Every process, or the one given, ended with one of the codes."""
    chosen = [event for event in proc_info if matches(process, event)]
    assert chosen, f'no process {process!r} among {proc_info.process_names()}'
    for event in chosen:
        assert event.returncode in allowable_exit_codes, \
            f'Proc {event.process_name} exited with code {event.returncode}'


def assertInStdout(proc_output: ProcOutput, expected_output: Any, process: Any) -> None:
    """The process wrote it to its standard output."""
    assert finds(expected_output, proc_output.text(process, 'stdout')), \
        f'{expected_output!r} not found in the output of {process}'


def assertInStderr(proc_output: ProcOutput, expected_output: Any, process: Any) -> None:
    """The process wrote it to its standard error."""
    assert finds(expected_output, proc_output.text(process, 'stderr')), \
        f'{expected_output!r} not found in the errors of {process}'
