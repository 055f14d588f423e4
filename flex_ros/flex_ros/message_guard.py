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
"""Messages of anyone on the network: what cannot be decoded is counted and goes no further.

A broken driver, or a peer with another version of our messages, sends bytes that are no message
of the topic's type. The middleware matches topics by the names of their types, not by their
definitions, so such bytes arrive. Every subscription of flex takes bytes (`raw=True`) and decodes
them here.
"""
from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription

LONGEST = 1_000_000                 # bytes of a message, unless a topic asks for more
LARGEST = 1e9                       # of positions, speeds and readings, in SI units
LATEST = 2**31 * 10**9              # ns; stamps count seconds in 31 bits and a sign
WARN_PERIOD = 1.0                   # s of wall time between two warnings about one topic
# What calculations with extreme but finite numbers of a request may raise; numpy's LinAlgError and
# our own errors are ValueErrors.
CALCULATION_ERRORS = (ValueError, ArithmeticError)
LONGEST_TEXT = 300                  # characters of a text from outside in a log line or status


class DecodeError(ValueError):
    """Bytes that are no message of the type expected."""


def decode(data: bytes, kind: Any, longest: int = LONGEST) -> Any:
    """The message of type `kind` in its serialised form; DecodeError if the bytes are none.

    longest: bytes; to decode a longer message would hold the node up.
    """
    if len(data) > longest:
        raise DecodeError(f'expected at most {longest} bytes, found {len(data)}')
    try:
        return deserialize_message(data, kind)
    except Exception:       # which one depends on the middleware and on the bytes
        raise DecodeError(f'expected a serialised {kind.__name__}, found {len(data)} bytes that '
                          'cannot be decoded as one; does the sender have the same version of '
                          'the message?') from None


class DecodeErrors:
    """Counts of the messages of a node that could not be decoded, by topic."""

    def __init__(self, node: Node) -> None:
        self._logger = node.get_logger()
        self._counts: Counter[str] = Counter()
        self._next_warning: dict[str, float] = {}
        self.last = ''               # topic and reason of the last one

    @property
    def total(self) -> int:
        return self._counts.total()

    def count(self, topic: str, error: Exception | str) -> None:
        """Count one message; warn about its topic at most once a second."""
        self._counts[topic] += 1
        self.last = f'{topic}: {error}'
        now = time.monotonic()
        if now >= self._next_warning.get(topic, 0.0):
            self._next_warning[topic] = now + WARN_PERIOD
            self._logger.warning(f'{topic}: message ignored, {self._counts[topic]} so far: '
                                 f'{error}')


_OF_NODES: WeakKeyDictionary[Node, DecodeErrors] = WeakKeyDictionary()


def decode_errors(node: Node) -> DecodeErrors:
    """The counts of a node; the same object at every call."""
    if node not in _OF_NODES:
        _OF_NODES[node] = DecodeErrors(node)
    return _OF_NODES[node]


def subscribe(node: Node, kind: Any, topic: str, callback: Callable[[Any], None],
              quality: QoSProfile | int, group: CallbackGroup | None = None,
              longest: int = LONGEST) -> Subscription:
    """A subscription whose callback gets decoded messages, and none that cannot be decoded."""
    errors = decode_errors(node)

    def receive(data: bytes) -> None:
        try:
            message = decode(data, kind, longest)
        except DecodeError as error:
            errors.count(topic, error)
            return
        callback(message)

    return node.create_subscription(kind, topic, receive, quality, callback_group=group, raw=True)


def is_stamp(stamp_ns: int) -> bool:
    """Whether a time (ns) can be the stamp of a message: not before zero, and in 31 bits of
    seconds."""
    return 0 <= stamp_ns < LATEST


def shortened(text: str, most: int = LONGEST_TEXT) -> str:
    """A text from outside, cut to so many characters, for log lines and diagnostics."""
    return text if len(text) <= most else f'{text[:most]}... ({len(text)} characters)'
