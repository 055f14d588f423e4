"""A mesh that bends with a beam: cut across the beam first, so that long triangles can bend."""
from __future__ import annotations

import numpy as np

from flex_dynamics import Model
from flex_viz.mesh_limits import LARGEST, MeshError
from flex_viz.skin import STATIONS, Skin, placed


def bent_mesh(model: Model, link: str, triangles: np.ndarray, pose: np.ndarray) -> Skin:
    """triangles (f, 3, 3) of a mesh that lies at `pose` (4, 4, scale included) in the link."""
    flexible = model.beam(link).flexible
    into_beam = np.linalg.inv(flexible.origin) @ pose
    corners = placed(triangles.reshape(-1, 3), into_beam).reshape(-1, 3, 3)
    if np.linalg.det(into_beam[:3, :3]) < 0.0:
        corners = corners[:, ::-1]                              # mirrored: turn faces outwards
    for x in np.linspace(0.0, flexible.length, STATIONS):
        corners = cut(corners, x)
        if len(corners) > LARGEST:
            raise MeshError(f'expected {LARGEST} triangles at most, found more where the mesh is '
                            'cut so that it can bend')
    points = corners.reshape(-1, 3)
    return Skin(model, link, points, np.arange(len(points)).reshape(-1, 3))


def cut(triangles: np.ndarray, x: float) -> np.ndarray:
    """The same surface (g, 3, 3), no triangle of which crosses the plane at x.

    A triangle across has one corner alone on its side; it becomes three. Neighbours cut their
    common edge at the same point, so that no gap opens.
    """
    tiny = 1e-9 * max(float(np.abs(triangles).max(initial=0.0)), 1.0)
    side = np.where(np.abs(triangles[..., 0] - x) <= tiny, 0, np.sign(triangles[..., 0] - x))
    across = (side.max(axis=1) > 0) & (side.min(axis=1) < 0)
    whole, crossing, side = triangles[~across], triangles[across], side[across]
    if not len(crossing):
        return triangles
    # The lone corner: its sign is the minority's (a corner in the plane counts with the others).
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
    return np.concatenate((whole, made[area > 0.0]))      # a corner in the plane gives empty ones
