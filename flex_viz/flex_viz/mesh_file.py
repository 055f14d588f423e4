"""Triangles of a mesh file: STL (binary and text), OBJ and COLLADA (DAE)."""
from __future__ import annotations

from pathlib import Path

import numpy as np

from flex_viz.mesh_collada import collada_triangles

LARGEST = 2_000_000      # triangles; more is a mistake


class MeshError(ValueError):
    """A mesh that cannot be read; the text says why."""


def load_mesh(path: Path) -> np.ndarray:
    """Triangles (f, 3, 3) in the file's own frame and unit (COLLADA: in m, z up, as RViz has it).
    """
    readers = {'.stl': _stl, '.obj': _obj, '.dae': collada_triangles}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise MeshError(f'{path}: expected a mesh in a file .stl, .obj or .dae')
    try:
        triangles = reader(path.read_bytes())
    except OSError as error:
        raise MeshError(f'{path}: expected a readable file, found: {error.strerror}') from None
    except (ValueError, IndexError, KeyError, SyntaxError) as error:
        raise MeshError(f'{path}: expected a {path.suffix[1:].upper()} mesh, found: '
                        f'{error}') from None
    if not 0 < len(triangles) <= LARGEST or not np.isfinite(triangles).all():
        raise MeshError(f'{path}: expected 1 to {LARGEST} triangles of finite numbers, found '
                        f'{len(triangles)}')
    return triangles


def _stl(data: bytes) -> np.ndarray:
    count = int.from_bytes(data[80:84], 'little')
    if len(data) >= 84 + 50 * count and len(data) > 84 and count:      # binary, whatever it says
        rows = np.frombuffer(data, np.uint8, 50 * count, 84).reshape(count, 50)
        return rows[:, 12:48].copy().view('<f4').reshape(count, 3, 3).astype(float)
    words = data.decode('ascii', 'replace').split()
    if not words or words[0] != 'solid':
        raise ValueError('neither a text that begins with "solid" nor that many binary triangles')
    starts = [at + 1 for at, word in enumerate(words) if word == 'vertex']
    if len(starts) % 3:
        raise ValueError(f'{len(starts)} vertices, which is no multiple of three')
    return np.array([[float(word) for word in words[at:at + 3]] for at in starts]).reshape(
        -1, 3, 3)


def _obj(data: bytes) -> np.ndarray:
    points: list[list[float]] = []
    triangles = []
    for line in data.decode('utf-8', 'replace').splitlines():
        words = line.split()
        if words[:1] == ['v']:
            points.append([float(word) for word in words[1:4]])
        elif words[:1] == ['f']:
            corners = [int(word.split('/')[0]) for word in words[1:]]
            corners = [at - 1 if at > 0 else len(points) + at for at in corners]
            triangles += [(corners[0], corners[k], corners[k + 1])
                          for k in range(1, len(corners) - 1)]
    if triangles and (np.min(triangles) < 0 or np.max(triangles) >= len(points)):
        raise ValueError('a face of a vertex that is not there')
    return np.array(points, dtype=float)[np.array(triangles, dtype=int).reshape(-1, 3)]
