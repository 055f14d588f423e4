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
like deflection. Therefore pieces are moved by their vertices, as bent surfaces are, unless they
have too many.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from flex_description.math import quaternion_from_rotation
from flex_viz.geometry.frames import transform_points

MANY = 3000      # triangles; sending more of them thirty times a second costs too much


class RigidPieces:
    """Pieces of one material, each the corners (3 f, 3), m, of its triangles in its own frame."""

    def __init__(self, scene: Any, name: str, pieces: Sequence[np.ndarray],
                 **material: Any) -> None:
        self._pieces = pieces
        self._poses: np.ndarray | None = None
        self._whole = sum(map(len, pieces)) <= 3 * MANY
        parts = [np.concatenate(pieces)] if self._whole else pieces
        self._meshes = [scene.add_mesh_simple(
            f'{name}/{at}', part.astype(np.float32),
            np.arange(len(part), dtype=np.uint32).reshape(-1, 3), side='double', visible=False,
            **material) for at, part in enumerate(parts)]

    def show(self, poses: Sequence[np.ndarray]) -> None:
        """Show every piece at its pose (4, 4)."""
        now = np.array(poses)
        if self._poses is not None and np.array_equal(now, self._poses):
            return                        # nothing to send to the browsers
        if self._poses is None:
            for mesh in self._meshes:
                mesh.visible = True
        self._poses = now
        if self._whole:
            corners = [transform_points(piece, pose) for piece, pose in zip(self._pieces, now)]
            self._meshes[0].vertices = np.concatenate(corners).astype(np.float32)
            return
        for mesh, pose in zip(self._meshes, now):
            x, y, z, w = quaternion_from_rotation(pose[:3, :3])
            mesh.position, mesh.wxyz = pose[:3, 3], (w, x, y, z)

    def hide(self) -> None:
        for mesh in self._meshes:
            mesh.visible = False
        self._poses = None
