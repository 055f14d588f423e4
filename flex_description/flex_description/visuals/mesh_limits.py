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
"""Limits of meshes: a larger mesh is a mistake or an attack."""
from __future__ import annotations

import numpy as np

from flex_description.math import Array

LARGEST_MESH = 2_000_000                # triangles of a mesh
LARGEST_FILE = 200_000_000         # bytes
LARGEST_NUMBER = 1e12              # coordinate, in the unit of the file
LARGEST_SIZE = 1e6                 # m, from the frame of its link, after scaling
LARGEST_ROBOT = 4_000_000          # triangles of all meshes of a robot


class MeshError(ValueError):
    """A mesh that cannot be read or drawn; the text gives the reason."""


def check_count(triangles: int) -> None:
    """Raise a ValueError if a mesh has too many triangles."""
    if triangles > LARGEST_MESH:
        raise ValueError(f'more than {LARGEST_MESH} triangles')


def check_size(points: Array, name: str) -> None:
    """Raise a MeshError if a point (..., 3), m, is so far away that nothing else is visible."""
    if not (np.abs(points) <= LARGEST_SIZE).all():
        raise MeshError(f'{name}: expected points within {LARGEST_SIZE:g} m, found '
                        f'{np.abs(points).max():.3g} m')
