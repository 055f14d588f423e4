"""How large a mesh may be: what is beyond is a mistake or a trap."""
from __future__ import annotations

import numpy as np

LARGEST = 2_000_000                # triangles of a mesh
LARGEST_FILE = 200_000_000         # bytes
LARGEST_NUMBER = 1e12              # coordinate, in the unit of the file
LARGEST_SIZE = 1e6                 # m, from the frame of its link, as it is drawn
LARGEST_ROBOT = 4_000_000          # triangles of all meshes of a robot


class MeshError(ValueError):
    """A mesh that cannot be read or drawn; the text says why."""


def check_count(triangles: int) -> None:
    """ValueError if a mesh has more triangles than it may."""
    if triangles > LARGEST:
        raise ValueError(f'more than {LARGEST} triangles')


def check_size(points: np.ndarray, name: str) -> None:
    """MeshError if a point (..., 3), m, is so far out that nothing else could be seen."""
    if not (np.abs(points) <= LARGEST_SIZE).all():
        raise MeshError(f'{name}: expected points within {LARGEST_SIZE:g} m, found '
                        f'{np.abs(points).max():.3g} m')
