"""Bent and twisted links as solids: sections swept along the deflected axis of a beam."""
from __future__ import annotations

import numpy as np

from flex_dynamics import Model
from flex_viz.outline import scaled

STATIONS = 25      # sections along a beam
CORNERS = 16       # points around a section
ROUND = ('circle', 'hollow_circle', '')


class Tube:
    """The surface of one flexible link: `faces` (f, 3) stay, `vertices(q)` (p, 3) move."""

    def __init__(self, model: Model, link: str) -> None:
        self._model, self._link = model, link
        flexible = model.beam(link).flexible
        self._stations = np.linspace(0.0, flexible.length, STATIONS)
        self._sections = self._outline(flexible)
        self.faces = self._triangles()

    def _outline(self, flexible) -> np.ndarray:
        """Points (stations, corners, 3) of the sections, each in its own frame, m."""
        properties = flexible.properties(self._stations)
        thin = np.full(STATIONS, 0.01 * flexible.length)     # where the size is not known
        half_y = thin if properties.half_y is None else np.asarray(properties.half_y)
        half_z = thin if properties.half_z is None else np.asarray(properties.half_z)
        angles = 2.0 * np.pi * (np.arange(CORNERS) + 0.5) / CORNERS
        around = np.column_stack((np.cos(angles), np.sin(angles)))
        if flexible.section_shape not in ROUND:
            around /= np.abs(around).max(axis=1, keepdims=True)      # the circle, made square
        points = np.zeros((STATIONS, CORNERS, 3))
        points[..., 1] = half_y[:, None] * around[:, 0]
        points[..., 2] = half_z[:, None] * around[:, 1]
        return points

    def _triangles(self) -> np.ndarray:
        rows, columns = np.meshgrid(np.arange(STATIONS - 1), np.arange(CORNERS), indexing='ij')
        first = rows * CORNERS + columns
        second = rows * CORNERS + (columns + 1) % CORNERS
        sides = np.concatenate([
            np.stack((first, second, second + CORNERS), axis=-1).reshape(-1, 3),
            np.stack((first, second + CORNERS, first + CORNERS), axis=-1).reshape(-1, 3)])
        fan = np.array([(0, k, k + 1) for k in range(1, CORNERS - 1)])
        return np.concatenate((sides, fan[:, ::-1], fan + (STATIONS - 1) * CORNERS))

    def vertices(self, q, exaggeration: float = 1.0) -> np.ndarray:
        """Points (stations * corners, 3) in the root's frame, m, at the state q (n,)."""
        q = scaled(self._model, q, exaggeration)
        poses = np.array([self._model.pose(q, self._link, x) for x in self._stations])
        turned = np.einsum('sij,scj->sci', poses[:, :3, :3], self._sections)
        return (turned + poses[:, None, :3, 3]).reshape(-1, 3)
