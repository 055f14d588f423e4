"""The end of a process that the middleware cannot hold up.

Fast DDS of the Python index can wait for ever while a node is destroyed, with Python's lock held,
so that no Python code runs any more. A timer of the C library ends the process then. Leaving
without a shutdown is no way out: others would list this process, and send to it, for 20 s.
"""
from __future__ import annotations

import ctypes
import math

CLOCK_MONOTONIC = 1
SIGEV_THREAD = 2      # call a function in a thread that the C library starts


class _Event(ctypes.Structure):
    """`struct sigevent` of Linux, 64 bytes."""

    _fields_ = [('value', ctypes.c_ssize_t), ('signo', ctypes.c_int), ('notify', ctypes.c_int),
                ('function', ctypes.c_void_p), ('attributes', ctypes.c_void_p),
                ('unused', ctypes.c_char * 32)]


class _TimerSpec(ctypes.Structure):
    """`struct itimerspec`: period and first time, each in s and ns."""

    _fields_ = [(name, ctypes.c_long) for name in ('every_s', 'every_ns', 's', 'ns')]


def exit_after(seconds: float, code: int) -> None:
    """End this process with exit code `code`, unless it has ended by itself until then."""
    library = ctypes.CDLL(None, use_errno=True)
    leave = ctypes.cast(library['_exit'], ctypes.c_void_p)      # called with `value`: the code
    event = _Event(value=code, notify=SIGEV_THREAD, function=leave.value)
    timer = ctypes.c_void_p()
    fraction, whole = math.modf(seconds)
    due = _TimerSpec(0, 0, int(whole), int(fraction * 1e9))
    if library.timer_create(CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(timer)) == 0:
        library.timer_settime(timer, 0, ctypes.byref(due), None)
