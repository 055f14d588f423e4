"""A MarkerArray written straight to its bytes.

rclpy keeps a point as an object of its own: an array with the thousands of points of a bent robot
costs it tens of milliseconds. Publishers take ready bytes too, and those are numpy's own arrays
behind a few small fields: CDR, little-endian, each number at a multiple of its size, as every
middleware of ROS 2 sends it. A test holds it byte by byte to what rclpy writes.
"""
from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from flex_viz.marker import Marker

LITTLE_ENDIAN = b'\x00\x01\x00\x00'


class _Writer:
    """Appends numbers at the place that CDR gives them, counted from behind the header."""

    def __init__(self) -> None:
        self.data = bytearray()

    def align(self, size: int) -> None:
        self.data += bytes(-len(self.data) % size)

    def record(self, form: struct.Struct, size: int, *values: float) -> None:
        """Numbers one behind the other, the first at a multiple of `size`."""
        self.align(size)
        self.data += form.pack(*values)

    def count(self, number: int) -> None:
        self.record(COUNT, 4, number)

    def text(self, value: str) -> None:
        raw = value.encode() + b'\0'
        self.count(len(raw))
        self.data += raw

    def rows(self, values: np.ndarray, kind: str) -> None:
        """A sequence of records of numbers of one type: (k, columns)."""
        self.count(len(values))
        if len(values):
            self.align(np.dtype(kind).itemsize)
            self.data += np.ascontiguousarray(values, dtype=kind).data.cast('B')


COUNT, TIME, NAMES = struct.Struct('<I'), struct.Struct('<iI'), struct.Struct('<3i')
# pose and scale, colour, lifetime, frame_locked: no gap between them
LOOKS = struct.Struct('<10d4fiIB')


def marker_array(markers: Sequence[Marker], frame: str, time: int, lifetime: float) -> bytes:
    """visualization_msgs/MarkerArray. time: ns of its stamps; lifetime: s, 0 for ever."""
    out = _Writer()
    out.count(len(markers))
    stamp, span = divmod(time, 10**9), divmod(round(1e9 * lifetime), 10**9)
    for marker in markers:
        out.record(TIME, 4, *stamp)
        out.text(frame)
        out.text(marker.ns)
        out.record(NAMES, 4, marker.id, marker.type, marker.action)
        out.record(LOOKS, 8, *marker.position, *marker.turn, *marker.scale, *marker.colour, *span,
                   0)
        out.rows(marker.points, '<f8')
        out.rows(marker.colours, '<f4')
        out.text('')                              # texture_resource
        out.record(TIME, 4, 0, 0)                 # texture: stamp, frame, format, no data
        out.text('')
        out.text('')
        out.count(0)
        out.count(0)                              # uv_coordinates
        out.text(marker.text)
        out.text(marker.mesh)
        out.text('')                              # mesh_file: name, no data
        out.count(0)
        out.data.append(marker.mesh.lower().endswith('.dae'))      # its own materials
    return LITTLE_ENDIAN + bytes(out.data)
