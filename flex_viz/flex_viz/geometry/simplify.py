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
"""Fewer triangles for a mesh, and indexed triangles with sharp edges.

Simplification: Lindstrom, Out-of-core simplification of large polygonal models, SIGGRAPH 2000.
The vertices in a cell of a grid become one, placed where the sum of the squared distances from
the planes of their triangles is least (Garland and Heckbert 1997); triangles with two corners in a
cell vanish. The grid is as fine as the number of triangles allows.
"""
from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

SHARP = np.cos(np.radians(35.0))      # an edge between triangles that are turned by more is sharp
KEPT = 1e-3                           # singular values of a quadric below this share are ignored
FINEST, STEPS = 400, 12               # cells along the longest edge; halvings of the search


def simplified(triangles: np.ndarray, most: int) -> np.ndarray:
    """The surface of triangles (f, 3, 3) with at most `most` of them, or nearly so: (g, 3, 3)."""
    if len(triangles) <= most:
        return triangles
    low, high = triangles.reshape(-1, 3).min(axis=0), triangles.reshape(-1, 3).max(axis=0)
    size = float((high - low).max())
    if not size > 0.0:
        return triangles[:1]
    coarse, fine = 1.0, float(FINEST)
    for _ in range(STEPS):      # the finest grid that leaves few enough
        cells = np.sqrt(coarse * fine)
        if _count(triangles, low, size / cells) > most:
            fine = cells
        else:
            coarse = cells
    return _clustered(triangles, low, size / coarse)


def _cells(triangles: np.ndarray, low: np.ndarray, edge: float) -> tuple[np.ndarray, np.ndarray]:
    """Number of the cell of each corner (f, 3), and whether a triangle keeps its three corners."""
    places = np.floor((triangles - low) / edge).astype(np.int64)
    key = (places[..., 0] * 2048 + places[..., 1]) * 2048 + places[..., 2]
    a, b, c = key.T
    return key, (a != b) & (b != c) & (c != a)


def _count(triangles: np.ndarray, low: np.ndarray, edge: float) -> int:
    key, kept = _cells(triangles, low, edge)
    return len(np.unique(np.sort(key[kept], axis=1), axis=0))


def _clustered(triangles: np.ndarray, low: np.ndarray, edge: float) -> np.ndarray:
    key, kept = _cells(triangles, low, edge)
    _, cell = np.unique(key, return_inverse=True)
    cell = cell.reshape(key.shape)
    count = int(cell.max()) + 1
    corners = triangles.reshape(-1, 3)
    number = np.bincount(cell.ravel(), minlength=count)[:, None]
    centre = np.column_stack([np.bincount(cell.ravel(), column, minlength=count)
                              for column in corners.T]) / number
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    # Quadrics A x = b about the centre of each cell; a triangle counts for each of its corners.
    owner, normal = cell.ravel(), normals.repeat(3, axis=0)
    distance = np.einsum('ij,ij->i', normal, corners - centre[owner])
    a, b = np.empty((count, 3, 3)), np.empty((count, 3))
    for i in range(3):
        b[:, i] = np.bincount(owner, normal[:, i] * distance, minlength=count)
        for j in range(3):
            a[:, i, j] = np.bincount(owner, normal[:, i] * normal[:, j], minlength=count)
    moved = np.einsum('kij,kj->ki', np.linalg.pinv(a, rcond=KEPT, hermitian=True), b)
    far = np.linalg.norm(moved, axis=1) > edge      # outside of its cell: keep the mean
    points = centre + np.where(far[:, None], 0.0, moved)
    faces = cell[kept]
    first = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)[1]
    return points[faces[first]]


def indexed(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners (p,) that serve as vertices, and faces (f, 3), of triangles (f, 3, 3).

    Corner k is that of triangle k // 3; the vertices are `triangles.reshape(-1, 3)[corners]`.
    Triangles share a vertex where the surface is smooth, so that its shading is; along sharp edges
    each side has its own.
    """
    if not len(triangles):
        return np.zeros(0, dtype=int), np.zeros((0, 3), dtype=int)
    size = max(float(np.ptp(triangles.reshape(-1, 3), axis=0).max()),
               1e-9 * float(np.abs(triangles).max()), 1e-12)
    rounded = np.rint(triangles.reshape(-1, 3) / (1e-6 * size)).astype(np.int64)
    _, place = np.unique(rounded, axis=0, return_inverse=True)
    place = place.reshape(-1, 3)
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    # Half edges, sorted so that those of one edge follow each other.
    first, second = place.ravel(), place[:, (1, 2, 0)].ravel()
    order = np.lexsort((np.maximum(first, second), np.minimum(first, second)))
    one, two = order[:-1], order[1:]
    same = ((np.minimum(first, second)[one] == np.minimum(first, second)[two])
            & (np.maximum(first, second)[one] == np.maximum(first, second)[two]))
    smooth = same & (np.einsum('ij,ij->i', normals[one // 3], normals[two // 3]) > SHARP)
    one, two = one[smooth], two[smooth]
    # Corners of both triangles at the two ends of a smooth edge; corner k starts half edge k.
    ends = [(one, two, first[one] == first[two]), (one, _next(two), first[one] != first[two]),
            (_next(one), _next(two), second[one] == second[two]),
            (_next(one), two, second[one] != second[two])]
    rows = np.concatenate([a[where] for a, _, where in ends])
    columns = np.concatenate([b[where] for _, b, where in ends])
    corners = 3 * len(triangles)
    graph = coo_matrix((np.ones(len(rows), dtype=bool), (rows, columns)), (corners, corners))
    count, vertex = connected_components(graph, directed=False)
    served = np.empty(count, dtype=int)
    served[vertex] = np.arange(corners)
    return served, vertex.reshape(-1, 3)


def _next(corner: np.ndarray) -> np.ndarray:
    """The next corner of the same triangle."""
    return corner - corner % 3 + (corner + 1) % 3
