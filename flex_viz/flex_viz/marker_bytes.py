"""A MarkerArray written straight to its bytes.

rclpy keeps a point as an object of its own: an array with the thousands of points of a bent robot
costs it tens of milliseconds. Publishers take ready bytes too, and those are numpy's own arrays
behind a few small fields. A test holds it byte by byte to what rclpy writes.
"""
from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from flex_ros.cdr.encoding import COUNT, LITTLE_ENDIAN, PADS, TIME, text
from flex_viz.marker import Marker

NAMES = struct.Struct('<3i')
# pose and scale, colour, lifetime, frame_locked: no gap between them, and three bytes behind
LOOKS = struct.Struct('<10d4fiIB3x')
# texture_resource; texture: stamp, frame, format, no data; no uv_coordinates
NO_TEXTURE = text('') + TIME.pack(0, 0) + text('') + text('') + COUNT.pack(0) + COUNT.pack(0)
NO_FILE = text('') + COUNT.pack(0)      # mesh_file: name, no data


def _rows(out: bytearray, values: np.ndarray, kind: str) -> None:
    """A sequence of records of numbers of one type: (k, columns)."""
    out += COUNT.pack(len(values))
    if len(values):
        out += PADS[-len(out) % np.dtype(kind).itemsize]
        out += np.ascontiguousarray(values, dtype=kind).data.cast('B')


def marker_array(markers: Sequence[Marker], frame: str, time: int, lifetime: float) -> bytes:
    """visualization_msgs/MarkerArray. time: ns of its stamps; lifetime: s, 0 for ever."""
    out = bytearray(COUNT.pack(len(markers)))      # behind the header, from which CDR counts
    header = TIME.pack(*divmod(time, 10**9)) + text(frame)
    span = divmod(round(1e9 * lifetime), 10**9)
    for marker in markers:
        out += PADS[-len(out) % 4] + header + text(marker.ns)
        out += NAMES.pack(marker.id, marker.type, marker.action)
        out += PADS[-len(out) % 8]
        out += LOOKS.pack(*marker.position, *marker.turn, *marker.scale, *marker.colour, *span, 0)
        _rows(out, marker.points, '<f8')
        _rows(out, marker.colours, '<f4')
        out += NO_TEXTURE + text(marker.text) + text(marker.mesh) + NO_FILE
        out.append(bool(marker.mesh) and not any(marker.colour))      # the file's own materials
    return LITTLE_ENDIAN + bytes(out)
