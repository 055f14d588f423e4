"""Rigid pieces in a viser scene that move in the very picture in which bent surfaces do.

A browser puts a new pose into its next picture, but new vertices into the one after that. A tool
that moves by its pose is then ahead of the beam that carries it, and the straight link ahead of
the bent one, by as far as they go in one picture: what looks like deflection would be none. So
pieces move by their vertices, as bent surfaces do, unless they have very many.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from flex_viz.marker import quaternion
from flex_viz.skin import placed

MANY = 3000      # triangles; sending more thirty times a second would cost more than it mends


class Moved:
    """Pieces of one look, each the corners (3 f, 3) m of its triangles in a frame of its own."""

    def __init__(self, scene: Any, name: str, pieces: Sequence[np.ndarray], **looks: Any) -> None:
        self._pieces = pieces
        self._poses: np.ndarray | None = None
        self._whole = sum(map(len, pieces)) <= 3 * MANY
        parts = [np.concatenate(pieces)] if self._whole else pieces
        self._meshes = [scene.add_mesh_simple(
            f'{name}/{at}', part.astype(np.float32),
            np.arange(len(part), dtype=np.uint32).reshape(-1, 3), side='double', visible=False,
            **looks) for at, part in enumerate(parts)]

    def show(self, poses: Sequence[np.ndarray]) -> None:
        """Every piece at its pose (4, 4)."""
        now = np.array(poses)
        if self._poses is not None and np.array_equal(now, self._poses):
            return                        # what stands still costs browsers nothing
        if self._poses is None:
            for mesh in self._meshes:
                mesh.visible = True
        self._poses = now
        if self._whole:
            corners = [placed(piece, pose) for piece, pose in zip(self._pieces, now)]
            self._meshes[0].vertices = np.concatenate(corners).astype(np.float32)
            return
        for mesh, pose in zip(self._meshes, now):
            x, y, z, w = quaternion(pose)
            mesh.position, mesh.wxyz = pose[:3, 3], (w, x, y, z)

    def hide(self) -> None:
        for mesh in self._meshes:
            mesh.visible = False
        self._poses = None
