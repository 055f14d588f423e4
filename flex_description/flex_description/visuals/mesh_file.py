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
"""Triangles of a mesh file: STL (binary and text), OBJ and COLLADA (DAE).

Mesh files are untrusted: reading any file gives triangles or a MeshError, within the limits of
mesh_limits.py.
"""
from __future__ import annotations

import io
import re
import stat
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np

from flex_description.errors import one_line
from flex_description.math import Array
from flex_description.visuals.mesh_collada import collada_mesh
from flex_description.visuals.mesh_limits import (
    LARGEST_FILE,
    LARGEST_MESH,
    LARGEST_NUMBER,
    MeshError,
    check_count,
)

# Errors of the parsers and of numpy for malformed numbers, invalid indices and the like.
WRONG_DATA = (ValueError, LookupError, SyntaxError, ArithmeticError, TypeError, struct.error,
              RecursionError, MemoryError)
VERTEX = re.compile(rb'\bvertex\s+(\S+)\s+(\S+)\s+(\S+)')


def load_mesh(path: Path) -> Array:
    """Triangles (f, 3, 3) in the frame and unit of the file (COLLADA: in m, z up, as in RViz)."""
    return load_coloured_mesh(path)[0]


def load_coloured_mesh(path: Path) -> tuple[Array, Array]:
    """Triangles (f, 3, 3), and their colours (f, 4): red, green, blue, opacity, 0 to 1, NaN where
    the file has none. Only COLLADA files have colours of their own."""
    readers: dict[str, Callable[[bytes], tuple[Array, Array]]] = {
        '.stl': _without_colours(_stl), '.obj': _without_colours(_obj), '.dae': collada_mesh}
    reader = readers.get(path.suffix.lower())
    name = one_line(str(path), 300)
    if reader is None:
        raise MeshError(f'{name}: expected a mesh in a file .stl, .obj or .dae')
    try:
        with np.errstate(all='ignore'):      # overflows are detected below
            triangles, colours = reader(_read(path))
    except OSError as error:
        raise MeshError(f'{name}: expected a readable file, found: {error.strerror}') from None
    except WRONG_DATA as error:
        found = one_line(str(error), 200) or type(error).__name__
        raise MeshError(f'{name}: expected a {path.suffix[1:].upper()} mesh, found: '
                        f'{found}') from None
    if not 0 < len(triangles) <= LARGEST_MESH:
        raise MeshError(f'{name}: expected 1 to {LARGEST_MESH} triangles, found {len(triangles)}')
    if not (np.abs(triangles) <= LARGEST_NUMBER).all():      # false for NaN, too
        raise MeshError(f'{name}: expected finite coordinates up to {LARGEST_NUMBER:g}, found '
                        'others')
    return triangles, colours


def _without_colours(read: Callable[[bytes], Array]) -> Callable[[bytes], tuple[Array, Array]]:
    def reader(data: bytes) -> tuple[Array, Array]:
        triangles = read(data)
        return triangles, np.full((len(triangles), 4), np.nan)
    return reader


def _read(path: Path) -> bytes:
    """The bytes of a regular file: reading a device or a pipe might never end."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError('something that is not a regular file')
    with path.open('rb') as file:
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise ValueError(f'a file larger than {LARGEST_FILE // 10**6} MB')
    return data


def _stl(data: bytes) -> Array:
    count = int.from_bytes(data[80:84], 'little')
    # Binary, even if it begins with "solid".
    if len(data) >= 84 + 50 * count and len(data) > 84 and count:
        check_count(count)
        rows = np.frombuffer(data, np.uint8, 50 * count, 84).reshape(count, 50)
        return rows[:, 12:48].copy().view('<f4').reshape(count, 3, 3).astype(float)
    if data[:1000].split()[:1] != [b'solid']:
        raise ValueError('neither a text that begins with "solid" nor that many binary triangles')
    corners = len(re.findall(rb'\bvertex\b', data))
    if corners % 3:
        raise ValueError(f'{corners} vertices, which is no multiple of three')
    check_count(corners // 3)
    numbers = np.array([found.groups() for found in VERTEX.finditer(data)], dtype=float)
    if len(numbers) != corners:
        raise ValueError('a vertex without three coordinates')
    return numbers.reshape(-1, 3, 3)


def _obj(data: bytes) -> Array:
    points: list[tuple[float, float, float]] = []
    triangles: list[tuple[int, int, int]] = []
    for number, line in enumerate(io.BytesIO(data), 1):
        words = line.split()
        if words[:1] == [b'v']:
            if len(words) < 4:
                raise ValueError(f'a vertex with {len(words) - 1} coordinates in line {number}')
            points.append((float(words[1]), float(words[2]), float(words[3])))
        elif words[:1] == [b'f']:
            corners = [int(word.partition(b'/')[0]) for word in words[1:]]
            corners = [at - 1 if at > 0 else len(points) + at for at in corners]
            if corners and not 0 <= min(corners) <= max(corners) < len(points):
                raise ValueError(f'a face of a vertex that is not there in line {number}')
            check_count(len(triangles) + len(corners) - 2)
            triangles += [(corners[0], corners[k], corners[k + 1])
                          for k in range(1, len(corners) - 1)]
    if not triangles:
        raise ValueError('no face')
    found: Array = np.array(points, dtype=float)[np.array(triangles, dtype=int)]
    return found
