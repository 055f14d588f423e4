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
"""The surface of a flexible link: every point moves with the nearest section of the beam.

The surface is the section swept along the beam, or the mesh of the link, which is cut across the
beam first so that long triangles can bend.
"""
from __future__ import annotations

import numpy as np

from flex_description import FlexibleLink
from flex_description.visuals.mesh_limits import LARGEST_MESH, MeshError
from flex_dynamics import Model
from flex_viz.geometry.frames import transform_points
from flex_viz.geometry.simplify import indexed

STATIONS = 21      # sections along a beam: enough for its fourth mode
CORNERS = 12       # points around a section
# Half widths as shares of the length: a section below the first would be invisible, and is drawn
# with the second.
HAIR, THIN = 0.002, 0.01
SLIM = 0.9      # width of a straight link relative to the bent one
ROUND = ('circle', 'hollow_circle', '')


class Skin:
    """Points and triangles around one beam: constant `faces` (f, 3), moving `vertices` (p, 3)."""

    def __init__(self, model: Model, link: str, points: np.ndarray, faces: np.ndarray,
                 straight: np.ndarray | None = None, wider: np.ndarray | None = None) -> None:
        """points (p, 3): m, in the frame of the beam, with the link straight. straight (c, 3):
        corners of fewer triangles, sufficient for a link that is not bent. wider (p,): ratio of
        the drawn width to that of the section; strain is that of the section."""
        self.link, self.faces = link, faces
        flexible = model.beam(link).flexible
        self._beam = model.sections(link, np.linspace(0.0, flexible.length, STATIONS))
        self._origin = flexible.origin
        x = np.clip(points[:, 0], 0.0, flexible.length)
        place = x / flexible.length * (STATIONS - 1)
        self._left = np.minimum(place.astype(int), STATIONS - 2)
        self._weight = place - self._left
        # A swept section needs no interpolation between stations.
        nearest = np.rint(place).astype(int)
        self._station = nearest if np.abs(place - nearest).max() < 1e-9 else None
        self._offset = points - x[:, None] * np.eye(3)[0]       # from the axis, section's axes
        self._fibre = self._offset if wider is None else self._offset / wider[:, None]
        self._from_axis = np.column_stack((self._offset, np.ones(len(points))))
        self._points = points
        self._straight = points[faces.ravel()] if straight is None else straight

    def smooth(self) -> tuple[np.ndarray, np.ndarray]:
        """Points (v,) and faces (f, 3) among them, for a display that shades smoothly: along
        sharp edges each side has its own vertex."""
        served, faces = indexed(self._points[self.faces])
        return self.faces.ravel()[served], faces

    def _between(self, values: np.ndarray) -> np.ndarray:
        """Values at the stations (k, ...) interpolated at the points (p, ...)."""
        if self._station is not None:
            return values.take(self._station, axis=0)
        weight = self._weight.reshape(-1, *([1] * (values.ndim - 1)))
        return (1.0 - weight) * values[self._left] + weight * values[self._left + 1]

    def in_beam(self, q: np.ndarray) -> np.ndarray:
        """Points (p, 3), m, in the beam's frame at the state q (n,)."""
        return self._at_sections(q, np.eye(4))

    def vertices(self, q: np.ndarray, pose: np.ndarray) -> np.ndarray:
        """Points (p, 3), m, in the world, with the frame of the link at `pose` (4, 4)."""
        return self._at_sections(q, pose @ self._origin)

    def _at_sections(self, q: np.ndarray, root: np.ndarray) -> np.ndarray:
        """Points (p, 3) carried by their sections, with the frame of the beam at `root` (4, 4)."""
        position, rotation = self._beam.poses(q)
        sections = np.empty((len(position), 3, 4))
        np.matmul(root[:3, :3], rotation, out=sections[:, :, :3])
        sections[:, :, 3] = transform_points(position, root)
        return np.einsum('pij,pj->pi', self._between(sections), self._from_axis)

    def straight(self) -> np.ndarray:
        """Corners (c, 3), m, of the triangles of the straight link, in the link's frame.

        Slimmer than the bent link: where both coincide, it is hidden inside.
        """
        return transform_points(self._straight * (1.0, SLIM, SLIM), self._origin)

    def strain(self, q: np.ndarray) -> np.ndarray:
        """(p,) m/m: axial strain by bending, -y v'' - z w'', positive in tension."""
        curvature = self._between(self._beam.curvature(q))
        return self._fibre[:, 2] * curvature[:, 1] - self._fibre[:, 1] * curvature[:, 2]

    def deflection(self, q: np.ndarray) -> np.ndarray:
        """(p,) m: distance of each point from its position on the straight link."""
        return np.linalg.norm(self.in_beam(q) - self._points, axis=1)


def swept(model: Model, link: str) -> Skin:
    """The section swept along the beam, closed at both ends, with outward normals."""
    rings, wider = _outline(model.beam(link).flexible)
    turns = np.abs(rings[2:] - 2.0 * rings[1:-1] + rings[:-2]).max(axis=(1, 2)) > 1e-9
    few = rings[np.concatenate(([True], turns, [True]))]        # where the outline turns
    return Skin(model, link, rings.reshape(-1, 3), _triangles(len(rings)),
                few.reshape(-1, 3)[_triangles(len(few)).ravel()], wider.repeat(CORNERS))


def _outline(flexible: FlexibleLink) -> tuple[np.ndarray, np.ndarray]:
    """Outlines of the sections (stations, corners, 3), m, in the frame of the beam, and the ratio
    (stations,) of the drawn width to that of the section: the sections of some papers are too thin
    to be visible."""
    stations = np.linspace(0.0, flexible.length, STATIONS)
    properties = flexible.properties(stations)
    thin = np.full(STATIONS, THIN * flexible.length)     # where the size is not known
    half_y = thin if properties.half_y is None else np.asarray(properties.half_y)
    half_z = thin if properties.half_z is None else np.asarray(properties.half_z)
    widest = np.maximum(half_y, half_z)
    wider = np.where(widest < HAIR * flexible.length, thin / widest, 1.0)
    angles = 2.0 * np.pi * (np.arange(CORNERS) + 0.5) / CORNERS
    around = np.column_stack((np.cos(angles), np.sin(angles)))
    if flexible.section_shape not in ROUND:
        around /= np.abs(around).max(axis=1, keepdims=True)      # the circle, made square
    points = np.empty((STATIONS, CORNERS, 3))
    points[..., 0] = stations[:, None]
    points[..., 1] = (wider * half_y)[:, None] * around[:, 0]
    points[..., 2] = (wider * half_z)[:, None] * around[:, 1]
    return points, wider


def _triangles(rings: int) -> np.ndarray:
    rows, columns = np.meshgrid(np.arange(rings - 1), np.arange(CORNERS), indexing='ij')
    first = rows * CORNERS + columns
    second = rows * CORNERS + (columns + 1) % CORNERS
    sides = np.concatenate([
        np.stack((first, second, second + CORNERS), axis=-1).reshape(-1, 3),
        np.stack((first, second + CORNERS, first + CORNERS), axis=-1).reshape(-1, 3)])
    fan = np.array([(0, k, k + 1) for k in range(1, CORNERS - 1)])
    return np.concatenate((sides, fan[:, ::-1], fan + (rings - 1) * CORNERS))


def bent_mesh(model: Model, link: str, triangles: np.ndarray, pose: np.ndarray) -> Skin:
    """triangles (f, 3, 3) of a mesh that lies at `pose` (4, 4, scale included) in the link."""
    flexible = model.beam(link).flexible
    into_beam = np.linalg.inv(flexible.origin) @ pose
    corners = transform_points(triangles.reshape(-1, 3), into_beam).reshape(-1, 3, 3)
    if np.linalg.det(into_beam[:3, :3]) < 0.0:
        corners = corners[:, ::-1]                              # mirrored: restore outward normals
    for x in np.linspace(0.0, flexible.length, STATIONS):
        corners = cut(corners, x)
        if len(corners) > LARGEST_MESH:
            raise MeshError(f'expected {LARGEST_MESH} triangles at most, found more after the '
                            'mesh was cut so that it can bend')
    served, faces = indexed(corners)
    return Skin(model, link, corners.reshape(-1, 3)[served], faces)


def cut(triangles: np.ndarray, x: float) -> np.ndarray:
    """The same surface (g, 3, 3), without triangles that cross the plane at x.

    A crossing triangle has one corner alone on its side and is split into three. Neighbours split
    their common edge at the same point, so that no gap opens.
    """
    tiny = 1e-9 * max(float(np.abs(triangles).max(initial=0.0)), 1.0)
    side = np.where(np.abs(triangles[..., 0] - x) <= tiny, 0, np.sign(triangles[..., 0] - x))
    across = (side.max(axis=1) > 0) & (side.min(axis=1) < 0)
    whole, crossing, side = triangles[~across], triangles[across], side[across]
    if not len(crossing):
        return triangles
    # The lone corner has the sign of the minority (a corner in the plane counts as the others).
    positive = (side > 0).sum(axis=1) == 1
    lone = np.where(positive, (side > 0).argmax(axis=1), (side < 0).argmax(axis=1))
    order = (lone[:, None] + np.arange(3)) % 3
    a, b, c = np.moveaxis(np.take_along_axis(crossing, order[..., None], axis=1), 1, 0)

    def meet(other: np.ndarray) -> np.ndarray:
        run = other[:, :1] - a[:, :1]
        return a + np.clip((x - a[:, :1]) / run, 0.0, 1.0) * (other - a)

    p, q = meet(b), meet(c)
    parts = [np.stack(three, axis=1) for three in ((a, p, q), (p, b, c), (p, c, q))]
    made = np.concatenate(parts)
    area = np.linalg.norm(np.cross(made[:, 1] - made[:, 0], made[:, 2] - made[:, 0]), axis=1)
    # A corner in the plane gives triangles without area.
    return np.concatenate((whole, made[area > 0.0]))
