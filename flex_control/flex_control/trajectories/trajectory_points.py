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
"""The points of a trajectory_msgs/JointTrajectory as arrays, straight from the serialised message.

rclpy makes six Python objects of every point: 100,000 points take it seconds. But in CDR, the
serialised form, points with arrays of the same lengths follow each other at equal distances: each
field of all points is one strided array.
"""
from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flex_control.errors import ControlError

MOST_POINTS = 100_000
MOST_JOINTS = 1000
LONGEST = 64_000_000         # bytes of a message: MOST_POINTS points of 20 joints
ARRAYS = ('positions', 'velocities', 'accelerations', 'effort')


@dataclass(frozen=True)
class TrajectoryPoints:
    """k points for joints `names`: stamp (s) of the message, steps (k,) s after it, and arrays
    (k, m), None where no point has them; m may be wrong."""

    names: tuple[str, ...]
    stamp: float
    steps: np.ndarray
    positions: np.ndarray | None
    velocities: np.ndarray | None
    accelerations: np.ndarray | None
    effort: np.ndarray | None

    def __len__(self) -> int:
        return len(self.steps)

    @classmethod
    def of(cls, message: Any) -> TrajectoryPoints:
        """Of a JointTrajectory; ControlError if the points do not fit together."""
        points = message.points
        _check_count(len(points))
        steps = np.array([p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec
                          for p in points], dtype=float)
        arrays = [_rows([getattr(point, what) for point in points], what,
                        len(message.joint_names)) for what in ARRAYS]
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        return cls(tuple(message.joint_names), stamp, steps, *arrays)

    @classmethod
    def from_bytes(cls, data: Any, skip: int = 0) -> TrajectoryPoints:
        """Of a serialised JointTrajectory, any buffer of bytes, with `skip` bytes of other fields
        before it. ValueError if it is none; ControlError, which is one too, if it is one whose
        points do not fit together."""
        cursor, names, stamp, count = _begin(data, skip)
        if not count:
            return cls(names, stamp, np.zeros(0), None, None, None, None)
        first, others = _layouts(cursor, count)
        steps = np.concatenate([layout.steps(many) for layout, many in (
            (first, 1), (others, count - 1))])
        arrays = [np.concatenate([layout.array(what, many) for layout, many in (
            (first, 1), (others, count - 1))]) if first.sizes[what] else None
            for what in range(len(ARRAYS))]
        return cls(names, stamp, steps, *arrays)


def with_one_point(data: bytes, skip: int = 0) -> bytes:
    """The serialised message without all points but the first; errors as from_bytes. What comes
    behind the points stays as it is: the distance of points is a multiple of 8 bytes."""
    cursor, _, _, count = _begin(data, skip)
    if count < 2:
        return bytes(data)
    before = cursor.at           # behind the count
    first, others = _layouts(cursor, count)
    return b''.join((data[:before], struct.pack(f'{cursor.order}I', 1),
                     data[4 + before:4 + first.end],
                     data[4 + first.end + (count - 1) * others.stride:]))


def _begin(data: Any, skip: int) -> tuple[_Cursor, tuple[str, ...], float, int]:
    """Read up to the points: names, stamp (s) and the number of points."""
    cursor = _Cursor(data)
    cursor.at = skip
    stamp = cursor.time()
    cursor.text()                                  # frame_id
    names = tuple(cursor.text() for _ in range(cursor.count(MOST_JOINTS, 'joint_names')))
    count = cursor.count(2**32, 'points')
    _check_count(count)
    return cursor, names, stamp, count


def _layouts(cursor: _Cursor, count: int) -> tuple[_Layout, _Layout]:
    """Of the first point, whose beginning is aligned in its own way, and of the others."""
    first = _Layout(cursor, cursor.at)
    others = _Layout(cursor, first.end, first.sizes)
    others.check(count - 1)
    return first, others


class _Cursor:
    """Reads CDR from its beginning on. Offsets count from behind the header, as CDR aligns."""

    def __init__(self, data: Any) -> None:
        self.data = memoryview(data).cast('B')
        if len(self.data) < 4 or bytes(self.data[:2]) not in (b'\0\0', b'\0\1'):
            raise ValueError('expected CDR of version 1')
        self.order = '<' if self.data[1] else '>'
        self._count = struct.Struct(f'{self.order}I')
        self._time = struct.Struct(f'{self.order}iI')
        self.at = 0

    def _take(self, kind: struct.Struct) -> tuple[int, ...]:
        self.at += -self.at % 4
        if self.at + 4 + kind.size > len(self.data):
            raise ValueError('the message ends too early')
        values = kind.unpack_from(self.data, self.at + 4)
        self.at += kind.size
        return values

    def count(self, most: int, what: str) -> int:
        count, = self._take(self._count)
        if count > most:
            raise ValueError(f'{what}: expected at most {most}, found {count}')
        return count

    def time(self) -> float:
        seconds, nanoseconds = self._take(self._time)
        return seconds + 1e-9 * nanoseconds

    def text(self) -> str:
        size = self.count(2**32, 'text')
        if self.at + 4 + size > len(self.data):
            raise ValueError('the message ends within a text')
        raw = bytes(self.data[self.at + 4:self.at + 4 + size])
        self.at += size
        return raw.split(b'\0')[0].decode('utf-8', 'replace')


class _Layout:
    """Where the fields of points are that begin at the offset `begin` and follow each other.

    sizes: lengths of the four arrays, read from the point itself unless given.
    """

    def __init__(self, cursor: _Cursor, begin: int, sizes: Sequence[int] = ()) -> None:
        self._cursor, self._begin = cursor, begin
        self.sizes, self._counts, self._arrays = list(sizes), [], []
        at = begin
        for what in range(len(ARRAYS)):
            self._counts.append(at)
            if not sizes:
                cursor.at = at
                self.sizes.append(cursor.count(MOST_JOINTS, ARRAYS[what]))
            at += 4
            if self.sizes[what]:
                at += -at % 8
                self._arrays.append(at)
                at += 8 * self.sizes[what]
            else:
                self._arrays.append(at)
        self._time = at
        self.end = at + 8
        self.stride = self.end - begin
        if not sizes and 4 + self.end > len(cursor.data):
            raise ValueError('the message ends within its first point')

    def _view(self, kind: str, at: int, shape: tuple[int, ...]) -> np.ndarray:
        if not shape[0]:           # there may be nothing at that offset
            return np.zeros(shape, kind)
        size = np.dtype(kind).itemsize
        return np.ndarray(shape, f'{self._cursor.order}{kind}', self._cursor.data, 4 + at,
                          (self.stride, size)[:len(shape)])

    def check(self, count: int) -> None:
        """Whether there are so many such points; ControlError if one has other lengths,
        ValueError if the message ends before."""
        whole = (len(self._cursor.data) - 4 - self._begin) // self.stride
        there = min(count, whole)
        different = [(int(np.argmax(found != size)), what, found)
                     for what, size in enumerate(self.sizes)
                     if (found := self._view('u4', self._counts[what], (there,))).size
                     and (found != size).any()]
        if different:
            at, what, found = min(different, key=lambda one: one[:2])
            raise ControlError(f'point {at + 2}, {ARRAYS[what]}: expected {self.sizes[what]} '
                               f'numbers, as in the first point, found {found[at]}')
        if there < count:
            raise ValueError(f'the message ends after {there + 1} of {count + 1} points')

    def steps(self, count: int) -> np.ndarray:
        seconds, nanoseconds = (self._view(kind, self._time + shift, (count,))
                                for kind, shift in (('i4', 0), ('u4', 4)))
        return seconds + 1e-9 * nanoseconds

    def array(self, what: int, count: int) -> np.ndarray:
        return self._view('f8', self._arrays[what], (count, self.sizes[what])).astype(float)


def _check_count(count: int) -> None:
    if count > MOST_POINTS:
        raise ControlError(f'points: expected at most {MOST_POINTS}, found {count}')


def _rows(rows: list[Any], what: str, joints: int) -> np.ndarray | None:
    """One row a point; None if no point has it."""
    if not any(len(row) for row in rows):
        return None
    expected = joints or len(rows[0])          # that names are missing is said elsewhere
    for at, row in enumerate(rows):
        if len(row) != expected:
            raise ControlError(f'point {at + 1}, {what}: expected {expected} numbers, one a '
                               f'joint, found {len(row)}')
    return np.array([list(row) for row in rows], dtype=float)
