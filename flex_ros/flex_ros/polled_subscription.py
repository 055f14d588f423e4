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
"""Polled subscriptions, outside the wait set: a node takes from their queues when it needs to.

Waking the executor for a message costs more than handling most messages.
"""
from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
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


# Taking without Python's lock -------------------------------------------------------------------
#
# rclpy holds the lock while it copies a message out of the middleware, twice: 20 ms for one of 14
# MB, in which no other thread of Python runs. Here rcl itself is called, through ctypes, which
# releases the lock, and the bytes are not copied again. Where rcl is not found as a library, rclpy
# takes.


class _Allocator(ctypes.Structure):
    """rcutils_allocator_t"""

    _fields_ = [(name, ctypes.c_void_p) for name in (
        'allocate', 'deallocate', 'reallocate', 'zero_allocate', 'state')]


class _Bytes(ctypes.Structure):
    """rcutils_uint8_array_t, the serialised message of rcl"""

    _fields_ = [('buffer', ctypes.c_void_p), ('length', ctypes.c_size_t),
                ('capacity', ctypes.c_size_t), ('allocator', _Allocator)]


class Serialized:
    """The bytes of a message, where the middleware put them; `view` is good as long as this."""

    def __init__(self, rcutils: Any) -> None:
        self._rcutils = rcutils
        self._bytes = _Bytes(None, 0, 0, rcutils.rcutils_get_default_allocator())

    @property
    def pointer(self) -> Any:
        """For C: where the middleware is to put the bytes."""
        return ctypes.byref(self._bytes)

    @property
    def view(self) -> memoryview:
        if not self._bytes.length:
            return memoryview(b'')
        kind = ctypes.c_ubyte * self._bytes.length
        return np.frombuffer(kind.from_address(self._bytes.buffer), np.uint8).data

    def __del__(self) -> None:
        self._rcutils.rcutils_uint8_array_fini(ctypes.byref(self._bytes))


def _libraries() -> tuple[Any, Any] | None:
    try:
        rcl, rcutils = ctypes.CDLL('librcl.so'), ctypes.CDLL('librcutils.so')
        rcl.rcl_take_serialized_message.argtypes = [ctypes.c_void_p] * 4
        rcutils.rcutils_get_default_allocator.restype = _Allocator
        rcutils.rcutils_uint8_array_fini.argtypes = [ctypes.c_void_p]
    except (OSError, AttributeError):
        return None
    return rcl, rcutils


LIBRARIES = _libraries()


def reset_error() -> None:
    """Forget the error that the middleware has set in this thread. rclpy leaves it when a message
    cannot be decoded, and the next error then writes ten lines about that to stderr."""
    if LIBRARIES is not None:
        LIBRARIES[1].rcutils_reset_error()


def take_unlocked(subscription: Any) -> Any:
    """The oldest message in the queue of a subscription with raw=True, as a buffer of bytes; None
    if there is none. Raises what rclpy raises if the subscription is gone."""
    if LIBRARIES is None:
        taken = take(subscription)
        return None if taken is None else taken[0]
    rcl, rcutils = LIBRARIES
    message = Serialized(rcutils)
    with subscription.handle:
        failed = rcl.rcl_take_serialized_message(
            subscription.handle.pointer, message.pointer, None, None)
    if failed:                       # the queue is empty, or the middleware cannot take
        reset_error()
        return None
    return message
