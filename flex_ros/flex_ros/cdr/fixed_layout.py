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
"""Messages of one shape, read and written in their serialised form.

At a thousand states a second most of a node's time would go into building Python messages whose
names never change. What changes, the stamp and arrays of numbers, has a fixed place in the bytes
as long as names and lengths stay. That place is found by serialising a message with known numbers
in it. Where it cannot be found, messages are read and written as always.
"""
from __future__ import annotations

import copy
import struct
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock

STAMP = struct.Struct('=iI')             # builtin_interfaces/Time: sec, nanosec
COUNT = struct.Struct('=I')              # before the elements of an array and before a text
PROBE_STAMP = (0x31415926, 0x27182818)
BILLION = 10**9


class Layout:
    """Where the stamp and the float64 arrays `fields` of a message are in its bytes.

    Arrays that are empty in `message` have no place. ValueError if a place is not found once.
    """

    def __init__(self, message: Any, fields: Sequence[str]) -> None:
        probe = copy.deepcopy(message)
        probe.header.stamp.sec, probe.header.stamp.nanosec = PROBE_STAMP
        rng = np.random.default_rng(0)
        numbers = {}
        for field in fields:
            count = len(getattr(message, field))
            if count:
                numbers[field] = rng.random(count)
                setattr(probe, field, numbers[field].tolist())
        data = serialize_message(probe)
        self.length = len(data)
        self.stamp = _only(data, STAMP.pack(*PROBE_STAMP))
        self.places = {field: (_only(data, values.tobytes()), len(values))
                       for field, values in numbers.items()}
        self.fixed = self._fixed(data, [message.header.frame_id, *message.name,
                                        *getattr(message, 'constraint_name', ())])

    def _fixed(self, data: bytes, texts: Sequence[str]) -> int:
        """The bytes that stay, as the bits of a number: not what changes, and not the gaps for
        alignment, in which there may be anything."""
        stays = bytearray(b'\xff' * len(data))
        stays[self.stamp:self.stamp + STAMP.size] = bytes(STAMP.size)
        at = 0
        for text in texts:
            code = text.encode() + b'\0'
            at = data.index(COUNT.pack(len(code)) + code, at) + COUNT.size + len(code)
            stays[at:at + -at % 4] = bytes(-at % 4)
        for begin, count in self.places.values():
            gap = 4 if COUNT.unpack_from(data, begin - 4)[0] != count else 0
            stays[begin - gap:begin + 8 * count] = bytes(gap + 8 * count)
        return int.from_bytes(stays, 'little')


class Topic(Protocol):
    """What takes bytes: a publisher, and who stands before one."""

    def publish(self, message: Any) -> None: ...


class FixedLayoutPublisher:
    """Publishes messages that differ in their stamp and in some float64 arrays only."""

    def __init__(self, publisher: Topic, message: Any, fields: Sequence[str]) -> None:
        """message: all that stays, and arrays of the right lengths."""
        self._publisher = publisher
        layout = Layout(message, fields)
        self._stamp = layout.stamp
        self._buffer = bytearray(serialize_message(message))
        self._views = [np.frombuffer(self._buffer, np.float64, count, at)
                       for at, count in (layout.places.get(field, (0, 0)) for field in fields)]

    def publish(self, time: int, *arrays: np.ndarray) -> None:
        """time: the stamp, ns; arrays: the values of the fields, in their order."""
        STAMP.pack_into(self._buffer, self._stamp, time // BILLION, time % BILLION)
        for view, array in zip(self._views, arrays):
            view[:] = array.ravel()
        self.repeat()

    def repeat(self) -> None:
        """The last message again."""
        self._publisher.publish(bytes(self._buffer))


class ClockPublisher:
    """Publishes rosgraph_msgs/Clock."""

    def __init__(self, publisher: Topic) -> None:
        self._publisher = publisher
        probe = Clock()
        probe.clock.sec, probe.clock.nanosec = PROBE_STAMP
        self._buffer = bytearray(serialize_message(probe))
        self._stamp = _only(self._buffer, STAMP.pack(*PROBE_STAMP))

    def publish(self, time: int) -> None:
        """time: ns."""
        STAMP.pack_into(self._buffer, self._stamp, time // BILLION, time % BILLION)
        self._publisher.publish(bytes(self._buffer))


class FixedLayoutReader:
    """Reads messages like one that was learnt, without building them."""

    def __init__(self, fields: Sequence[str]) -> None:
        self._fields = fields
        self._layout: Layout | None = None

    def learn(self, data: bytes, message: Any) -> None:
        """From now on read what has the names and lengths of this message, whose bytes these are.

        If its bytes are not as expected, nothing is learnt, and `read` gives None.
        """
        try:
            layout = Layout(message, self._fields)
        except ValueError:
            self._layout = None
            return
        self._layout = layout
        self._fixed = int.from_bytes(data, 'little') & layout.fixed
        taken = self.read(data)
        if taken is None or any(array.tobytes() != np.array(getattr(message, field)).tobytes()
                                for field, array in zip(self._fields, taken[1])):
            self._layout = None

    def stamp(self, data: bytes) -> int | None:
        """The stamp (ns) alone, if the message is as long as the one learnt."""
        layout = self._layout
        if layout is None or len(data) != layout.length:
            return None
        seconds, nanoseconds = STAMP.unpack_from(data, layout.stamp)
        return seconds * BILLION + nanoseconds

    def read(self, data: bytes) -> tuple[int, list[np.ndarray]] | None:
        """Stamp (ns) and new arrays in the order of the fields; None: another kind of message."""
        layout, time = self._layout, self.stamp(data)
        if layout is None or time is None:
            return None
        if int.from_bytes(data, 'little') & layout.fixed != self._fixed:
            return None
        arrays = []
        for field in self._fields:
            at, count = layout.places.get(field, (0, 0))
            arrays.append(np.frombuffer(data, np.float64, count, at).copy())
        return time, arrays


def _only(data: bytes | bytearray, part: bytes) -> int:
    """Where the part is, if it is there once."""
    at = data.find(part)
    if at < 0 or data.find(part, at + 1) >= 0:
        raise ValueError(f'expected {len(part)} known bytes once in a message, found {at}')
    return at
