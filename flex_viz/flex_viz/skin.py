"""The surface of a flexible link: every point moves with the section of the beam nearest to it."""
from __future__ import annotations

import numpy as np

from flex_description import FlexibleLink
from flex_dynamics import Model
from flex_viz.bent_beam import BentBeam

STATIONS = 21      # sections along a beam: enough for its fourth mode
CORNERS = 12       # points around a section
HAIR, THIN = 0.002, 0.01      # half widths, shares of the length: under the first one a section
#                               could not be seen, and is drawn as wide as the second
SLIM = 0.9      # width of a straight link that is drawn beside the bent one, share
ROUND = ('circle', 'hollow_circle', '')


class Skin:
    """Points and triangles around one beam: `faces` (f, 3) stay, `vertices` (p, 3) move."""

    def __init__(self, model: Model, link: str, points: np.ndarray, faces: np.ndarray,
                 straight: np.ndarray | None = None, wider: np.ndarray | None = None) -> None:
        """points (p, 3): m, in the beam's frame with the link straight. straight (c, 3): corners
        of fewer triangles, which do for a link that is not bent. wider (p,): how many times as
        wide as the section they are; strain is that of the section."""
        self.link, self.faces = link, faces
        flexible = model.beam(link).flexible
        self._beam = BentBeam(model, link, np.linspace(0.0, flexible.length, STATIONS))
        self._origin = flexible.origin
        x = np.clip(points[:, 0], 0.0, flexible.length)
        place = x / flexible.length * (STATIONS - 1)
        self._left = np.minimum(place.astype(int), STATIONS - 2)
        self._weight = place - self._left
        # A swept section needs no values between two stations.
        nearest = np.rint(place).astype(int)
        self._station = nearest if np.abs(place - nearest).max() < 1e-9 else None
        self._offset = points - x[:, None] * np.eye(3)[0]       # from the axis, section's axes
        self._fibre = self._offset if wider is None else self._offset / wider[:, None]
        self._from_axis = np.column_stack((self._offset, np.ones(len(points))))
        self._points = points
        self._straight = points[faces.ravel()] if straight is None else straight

    def _between(self, values: np.ndarray) -> np.ndarray:
        """Values at the stations (k, ...) as values at the points (p, ...)."""
        if self._station is not None:
            return values.take(self._station, axis=0)
        weight = self._weight.reshape(-1, *([1] * (values.ndim - 1)))
        return (1.0 - weight) * values[self._left] + weight * values[self._left + 1]

    def in_beam(self, q: np.ndarray) -> np.ndarray:
        """Points (p, 3), m, in the beam's frame at the state q (n,)."""
        return self._at_sections(q, np.eye(4))

    def vertices(self, q: np.ndarray, pose: np.ndarray) -> np.ndarray:
        """Points (p, 3), m, in the world, the link's frame being at `pose` (4, 4)."""
        return self._at_sections(q, pose @ self._origin)

    def _at_sections(self, q: np.ndarray, root: np.ndarray) -> np.ndarray:
        """Points (p, 3) with their sections, the beam's frame being at `root` (4, 4)."""
        position, rotation = self._beam.sections(q)
        sections = np.empty((len(position), 3, 4))
        np.matmul(root[:3, :3], rotation, out=sections[:, :, :3])
        sections[:, :, 3] = placed(position, root)
        return np.einsum('pij,pj->pi', self._between(sections), self._from_axis)

    def straight(self) -> np.ndarray:
        """Corners (c, 3), m, of the triangles of the straight link, in the link's frame.

        Slimmer than the bent one: where both are in one place, it is inside and is not seen.
        """
        return placed(self._straight * (1.0, SLIM, SLIM), self._origin)

    def strain(self, q: np.ndarray) -> np.ndarray:
        """(p,) m/m: axial strain by bending, -y v'' - z w'', positive in tension."""
        curvature = self._between(self._beam.curvature(q))
        return self._fibre[:, 2] * curvature[:, 1] - self._fibre[:, 1] * curvature[:, 2]

    def deflection(self, q: np.ndarray) -> np.ndarray:
        """(p,) m: how far each point is from where the straight link has it."""
        return np.linalg.norm(self.in_beam(q) - self._points, axis=1)


def placed(points: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Points (p, 3) of a frame at `pose` (4, 4) in the outer frame."""
    return points @ pose[:3, :3].T + pose[:3, 3]


def swept(model: Model, link: str) -> Skin:
    """The section swept along the beam, closed at both ends; outer faces look outwards."""
    rings, wider = _outline(model.beam(link).flexible)
    turns = np.abs(rings[2:] - 2.0 * rings[1:-1] + rings[:-2]).max(axis=(1, 2)) > 1e-9
    few = rings[np.concatenate(([True], turns, [True]))]        # where the outline turns
    return Skin(model, link, rings.reshape(-1, 3), _triangles(len(rings)),
                few.reshape(-1, 3)[_triangles(len(few)).ravel()], wider.repeat(CORNERS))


def _outline(flexible: FlexibleLink) -> tuple[np.ndarray, np.ndarray]:
    """Points (stations, corners, 3) of the sections' outlines in the beam's frame, m, and how
    many times as wide as the sections they are (stations,): papers give stiffness and mass of
    sections as thin as a hair."""
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
