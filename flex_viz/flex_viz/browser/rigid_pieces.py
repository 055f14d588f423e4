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
"""Rigid pieces in a viser scene that move in the same frame as the bent surfaces.

A browser applies a new pose in its next frame, but new vertices one frame later. A tool that moves
by its pose would be ahead of the beam that carries it by the motion of one frame, which would look
like deflection. Therefore pieces are moved by their vertices, as bent surfaces are; meshes are
simplified first, so that these are few.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from flex_viz.geometry.frames import transform_points
from flex_viz.geometry.simplify import indexed


class RigidPieces:
    """Pieces of one material, each the corners (3 f, 3), m, of its triangles in its own frame."""

    def __init__(self, scene: Any, name: str, pieces: Sequence[np.ndarray],
                 **material: Any) -> None:
        self._pieces: list[np.ndarray] = []
        faces, offset = [np.zeros((0, 3), dtype=int)], 0
        for piece in pieces:
            served, own = indexed(piece.reshape(-1, 3, 3))
            self._pieces.append(piece.reshape(-1, 3)[served])
            faces.append(own + offset)
            offset += len(served)
        self.faces = np.concatenate(faces)
        self._poses: np.ndarray | None = None
        self._vertices = np.concatenate([np.zeros((0, 3)), *self._pieces])
        self._mesh = scene.add_mesh_simple(
            name, self._vertices.astype(np.float32), self.faces.astype(np.uint32), side='double',
            visible=False, cast_shadow=False, receive_shadow=False, **material)

    @property
    def vertices(self) -> np.ndarray:
        """All vertices (p, 3), m, that `faces` (f, 3) refers to, as shown last."""
        return self._vertices

    def show(self, poses: Sequence[np.ndarray]) -> None:
        """Show every piece at its pose (4, 4)."""
        now = np.array(poses)
        if self._poses is not None and np.array_equal(now, self._poses):
            return                        # nothing to send to the browsers
        self._vertices = np.concatenate([
            transform_points(piece, pose) for piece, pose in zip(self._pieces, now, strict=True)])
        self._mesh.vertices = self._vertices.astype(np.float32)
        if self._poses is None:
            self._mesh.visible = True
        self._poses = now

    def hide(self) -> None:
        self._mesh.visible = False
        self._poses = None

    def remove(self) -> None:
        self._mesh.remove()
