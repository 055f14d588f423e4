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
"""The coloured surfaces of the flexible links in a viser scene.

A mesh of viser has one colour. Therefore the triangles of all flexible links are sorted into one
mesh for each shade.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from flex_viz.geometry.bent_robot import BentRobot, RobotShape
from flex_viz.geometry.colours import rgb


class Surface:
    """The flexible links of `robot`, below `name`, in `shades` colours."""

    def __init__(self, scene: Any, name: str, robot: BentRobot, shades: int) -> None:
        self._robot, self._shades = robot, shades
        self._meshes = [scene.add_mesh_simple(
            f'{name}/{at}', np.zeros((3, 3), dtype=np.float32), np.arange(3).reshape(1, 3),
            side='double', visible=False, cast_shadow=False, receive_shadow=False)
            for at in range(shades)]
        self._sources, faces, offset = {}, [np.zeros((0, 3), dtype=int)], 0
        for link, skin in robot.skins.items():
            source, own = skin.smooth()
            self._sources[link] = source
            faces.append(own + offset)
            offset += len(source)
        self.faces = np.concatenate(faces)
        self._shown: np.ndarray | None = None      # shade of each triangle

    def vertices(self, bent: RobotShape) -> np.ndarray:
        """All vertices (p, 3), m, that `faces` (f, 3) refers to."""
        return np.concatenate([np.zeros((0, 3)), *(
            bent.vertices[link][source] for link, source in self._sources.items())])

    def show(self, vertices: np.ndarray, values: dict[str, np.ndarray], top: float,
             coloured_by: str) -> None:
        """Show `vertices`, coloured by values (p,) by link on a scale that ends at `top`."""
        value = np.concatenate([np.zeros(0), *(
            values[link][source] for link, source in self._sources.items())])
        low = -top if coloured_by == 'strain' else 0.0
        levels = np.linspace(low, top, self._shades)
        share = (value[self.faces].mean(axis=1) - low) / (top - low)
        shade = np.clip(np.rint(share * (self._shades - 1)), 0, self._shades - 1).astype(int)
        same = self._shown is not None and np.array_equal(shade, self._shown)
        self._shown = shade
        colours = np.rint(255.0 * rgb(levels, top, coloured_by)).astype(int)
        points = vertices.astype(np.float32)
        number = np.zeros(len(points), dtype=np.uint32)
        for at, mesh in enumerate(self._meshes):
            mine = self.faces[shade == at]
            if not len(mine):
                if mesh.visible:
                    mesh.visible = False
                continue
            used = np.unique(mine)
            mesh.vertices = points[used]
            if not same:
                number[used] = np.arange(len(used), dtype=np.uint32)
                mesh.faces = number[mine]
            colour = (int(colours[at, 0]), int(colours[at, 1]), int(colours[at, 2]))
            if mesh.color != colour:
                mesh.color = colour
            if not mesh.visible:
                mesh.visible = True

    def remove(self) -> None:
        for mesh in self._meshes:
            mesh.remove()
