# Copyright 2026 flex maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.
"""The end of a process, which nobody can hold up.

A callback may go on for minutes. The middleware may wait for ever while rclpy holds Python's lock,
so that no thread of Python runs: Fast DDS 2.14 of the Python index does if other nodes come or go
in the very moment in which a node is destroyed (`DomainParticipantImpl::set_listener` waits until
a time that overflows). So it is an alarm of the operating system that ends the process, and a
signal sets that alarm before Python hears of it.
"""
from __future__ import annotations

import ctypes
import faulthandler
import signal
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cfunc, types

PATIENCE = 2        # s for callbacks, nodes and middleware to end by themselves
WRITING: set[object] = set()          # what must not be cut off: recordings that are open
WAKE_UP: list[socket.socket] = []     # open until the end: each further signal is written to it
HANDLERS: list[Any] = []              # compiled code lives as long as the object around it
LAST_WORDS = np.frombuffer(
    b'forced exit: shutdown was blocked for 2 s by a callback or the middleware (set '
    b'PYTHONFAULTHANDLER=1 to see where)\n', dtype=np.uint8)

HANDLER = types.void(types.int32)
# By name, not by address: so the compiled handlers can be kept on disk. All of them may be called
# when a signal comes, and without Python's lock.
_alarm = types.ExternalFunction('alarm', types.uint32(types.uint32))
_tell_python = types.ExternalFunction('PyErr_SetInterruptEx', types.int32(types.int32))
_write = types.ExternalFunction('write', types.intp(types.int32, types.uintp, types.uintp))
_exit = types.ExternalFunction('_exit', HANDLER)


@cfunc(HANDLER, cache=True)
def _on_signal(number):
    left = _alarm(PATIENCE)
    if left:
        _alarm(left)       # a second signal gives no more time
    _tell_python(number)


def _leaving_with(code: int) -> Any:
    """A handler that ends the process."""
    @cfunc(HANDLER, cache=True)
    def on_alarm(number):
        _write(2, LAST_WORDS.ctypes.data, LAST_WORDS.size)
        _exit(code)
    return on_alarm


def end_by_signal(action: Callable[[], None]) -> None:
    """At the first SIGINT or SIGTERM call `action` from a thread of its own. After PATIENCE the
    process is gone, with exit code 0; what is WRITING gets the time that it needs.

    The main thread may be waiting for messages or sit in the compiler: it would not hear.
    """
    reader, writer = WAKE_UP[:] = socket.socketpair()
    writer.setblocking(False)

    def wait() -> None:
        reader.recv(1)
        action()
        _wait_for_writers()

    _on_alarm_leave_with(0)
    signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)       # else Python would not write to the socket
        _set_handler(number, _on_signal)
    threading.Thread(target=wait, daemon=True).start()
    # A process that started itself again (transport.py), but not by way of start.py, has held
    # them back until now.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))


def end_soon(code: int) -> None:
    """From now on the process has PATIENCE to end by itself; then it is ended, with this code."""
    _on_alarm_leave_with(code)
    left = signal.alarm(PATIENCE)
    if left:
        signal.alarm(left)
    threading.Thread(target=_wait_for_writers, daemon=True).start()


def _wait_for_writers() -> None:
    while True:
        if WRITING:
            signal.alarm(PATIENCE)
        time.sleep(0.1)


def _on_alarm_leave_with(code: int) -> None:
    if faulthandler.is_enabled():
        faulthandler.unregister(signal.SIGALRM)
    _set_handler(signal.SIGALRM, _leaving_with(code))
    if faulthandler.is_enabled():
        faulthandler.register(signal.SIGALRM, chain=True)


def _set_handler(number: int, handler: Any) -> None:
    HANDLERS.append(handler)
    set_handler = ctypes.CDLL(None).signal
    set_handler.argtypes, set_handler.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
    set_handler(number, handler.address)
