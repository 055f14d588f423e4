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
"""Serialises a MarkerArray without rclpy.

rclpy has one Python object per point: a message with the thousands of points of a bent robot takes
it tens of milliseconds. Publishers also accept serialised messages, and these are numpy arrays
after a few small fields. A test compares the bytes with those of rclpy.
"""
from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from flex_ros.cdr.encoding import COUNT, LITTLE_ENDIAN, PADS, TIME, changing_text, text
from flex_viz.rviz.marker import Marker

NAMES = struct.Struct('<3i')
# pose and scale, colour, lifetime, frame_locked: no padding between, three bytes after
LOOKS = struct.Struct('<10d4fiIB3x')
# texture_resource; texture: stamp, frame, format, no data; no uv_coordinates
NO_TEXTURE = text('') + TIME.pack(0, 0) + text('') + text('') + COUNT.pack(0) + COUNT.pack(0)
NO_FILE = text('') + COUNT.pack(0)      # mesh_file: name, no data


def _rows(out: bytearray, values: np.ndarray, kind: str) -> None:
    """Append a sequence of records (k, columns) of numbers of one type."""
    out += COUNT.pack(len(values))
    if len(values):
        out += PADS[-len(out) % np.dtype(kind).itemsize]
        out += np.ascontiguousarray(values, dtype=kind).data.cast('B')


def marker_array(markers: Sequence[Marker], frame: str, stamp_ns: int,
                 lifetime: float) -> bytes:
    """Serialised visualization_msgs/MarkerArray; lifetime in s, 0: unlimited."""
    out = bytearray(COUNT.pack(len(markers)))      # CDR aligns from after the encapsulation header
    header = TIME.pack(*divmod(stamp_ns, 10**9)) + text(frame)
    span = divmod(round(1e9 * lifetime), 10**9)
    for marker in markers:
        out += PADS[-len(out) % 4] + header + text(marker.ns)
        out += NAMES.pack(marker.id, marker.type, marker.action)
        out += PADS[-len(out) % 8]
        out += LOOKS.pack(*marker.position, *marker.orientation, *marker.scale, *marker.colour,
                          *span, 0)
        _rows(out, marker.points, '<f8')
        _rows(out, marker.colours, '<f4')
        out += NO_TEXTURE + changing_text(marker.text) + text(marker.mesh) + NO_FILE
        out.append(bool(marker.mesh) and not any(marker.colour))      # mesh_use_embedded_materials
    return LITTLE_ENDIAN + bytes(out)
