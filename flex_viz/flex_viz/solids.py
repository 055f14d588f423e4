"""Boxes, cylinders and spheres as triangles, corner by corner."""
from __future__ import annotations

from functools import lru_cache

import numpy as np

AROUND, ALONG = 24, 12      # edges of a circle; rings of a sphere from pole to pole


@lru_cache
def solid(kind: str) -> np.ndarray:
    """Corners (3 f, 3) of the triangles of a box, cylinder (along z) or sphere of size one about
    the origin; outer faces look outwards."""
    if kind == 'box':
        return _turned(4, np.array([np.sqrt(0.5)] * 2), np.array([-0.5, 0.5]), 0.125)
    if kind == 'cylinder':
        return _turned(AROUND, np.array([0.5, 0.5]), np.array([-0.5, 0.5]), 0.0)
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, ALONG + 1)
    return _turned(AROUND, 0.5 * np.cos(angles), 0.5 * np.sin(angles), 0.0)


def _turned(edges: int, radii: np.ndarray, heights: np.ndarray, start: float) -> np.ndarray:
    """A line (radii, heights) turned about z in so many edges, from a share `start` of a turn,
    closed below and above."""
    radii = np.concatenate(([0.0], radii, [0.0]))
    heights = np.concatenate((heights[:1], heights, heights[-1:]))
    angles = 2.0 * np.pi * (np.arange(edges + 1) / edges + start)
    rings = np.empty((len(radii), edges + 1, 3))
    rings[..., 0] = radii[:, None] * np.cos(angles)
    rings[..., 1] = radii[:, None] * np.sin(angles)
    rings[..., 2] = heights[:, None]
    low, high = rings[:-1], rings[1:]
    pieces = np.stack((low[:, :-1], low[:, 1:], high[:, 1:], low[:, :-1], high[:, 1:],
                       high[:, :-1]), axis=2).reshape(-1, 3, 3)
    areas = np.linalg.norm(np.cross(pieces[:, 1] - pieces[:, 0], pieces[:, 2] - pieces[:, 0]),
                           axis=1)
    corners = pieces[areas > 1e-9].reshape(-1, 3)
    corners.setflags(write=False)
    return corners
