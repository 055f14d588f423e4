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
"""The whole robot to be drawn: flexible links as deflected surfaces, rigid ones as visuals."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from flex_description.visuals.mesh_limits import LARGEST_MESH, MeshError
from flex_description.visuals.shapes import Visual, read_visuals, visual_corners
from flex_dynamics import Model, Poses
from flex_viz.geometry.coordinates import amplitudes, flexible_links, scaled, tip_frame
from flex_viz.geometry.frames import transform_points
from flex_viz.geometry.outline import reach
from flex_viz.geometry.simplify import simplified
from flex_viz.geometry.skin import Skin, bent_mesh, swept
from flex_viz.shown_text import plain


@dataclass(frozen=True)
class RobotShape:
    """A robot at one state, in the frame of the root.

    poses: (4, 4) by link. vertices: (p, 3) m by flexible link. lines: (s, 2, 3) m, segments of
    rigid links that have no visual.
    """

    poses: dict[str, np.ndarray]
    vertices: dict[str, np.ndarray]
    lines: np.ndarray


class BentRobot:
    """Surfaces of flexible links (`skins`) and visuals of rigid ones (`visuals`), by link.

    A flexible link is drawn as its section swept along its beam or, if its visuals are meshes, as
    these meshes, each vertex moved with its section. `problems` lists meshes that could not be
    read. `most`: triangles of each link that is drawn as a mesh, beyond which it is simplified.

    >>> import numpy as np
    >>> from flex_description import load_robot
    >>> from flex_dynamics import Model
    >>> robot = BentRobot(Model(load_robot('cibicik_arm')))
    >>> shape = robot.at(np.zeros(robot.model.n))
    >>> shape.vertices['link2'].shape
    (252, 3)
    """

    def __init__(self, model: Model, most: int = LARGEST_MESH) -> None:
        self.model, self._most = model, most
        self.problems: list[str] = []
        visuals = read_visuals(model.robot)
        self.skins: dict[str, Skin] = {
            name: self._skin(name, visuals.get(name, [])) for name in flexible_links(model)}
        self.visuals: dict[str, list[Visual]] = {
            name: shapes for name, shapes in visuals.items() if name not in self.skins}
        self._elastic = amplitudes(model)
        self._links = [link.name for link in model.robot.links]
        self._poses = Poses(model, [(name, None) for name in self._links])
        self._ends = Poses(model, [(tip_frame(model), None), *(
            (name, model.beam(name).flexible.length) for name in self.skins)])
        bare = {*self._links} - {*self.skins, *self.visuals}
        # No line joins a base that moves freely to where it started.
        self._pieces = [(joint.parent, joint.child) for joint in model.robot.joints
                        if joint.parent in bare and joint.type not in ('planar', 'floating')]

    def _skin(self, link: str, visuals: list[Visual]) -> Skin:
        meshes = [visual for visual in visuals if visual.kind == 'mesh']
        if not meshes:
            return swept(self.model, link)
        try:
            return self._bent_mesh(link, meshes)
        except MeshError as error:
            self.problems.append(f'link {plain(link)} is drawn as its section: {error}')
            return swept(self.model, link)

    def _bent_mesh(self, link: str, meshes: list[Visual]) -> Skin:
        joined, left = [], LARGEST_MESH
        for visual in meshes:
            corners = visual_corners(visual, self.model.robot)
            left -= len(corners) // 3
            if left < 0:
                raise MeshError(f'its meshes: expected {LARGEST_MESH} triangles at most, found '
                                'more')
            joined.append(transform_points(corners, visual.pose).reshape(-1, 3, 3))
        triangles = simplified(np.concatenate(joined), self._most)
        return bent_mesh(self.model, link, triangles, np.eye(4))

    def at(self, q: npt.ArrayLike) -> RobotShape:
        """The robot at the state q (n,), rad and m."""
        q = np.asarray(q, dtype=float)
        poses = dict(zip(self._links, self._poses.at(q)))
        vertices = {name: skin.vertices(q, poses[name]) for name, skin in self.skins.items()}
        lines = np.array([(poses[parent][:3, 3], poses[child][:3, 3])
                          for parent, child in self._pieces]).reshape(-1, 2, 3)
        if len(lines):
            lines = lines[np.abs(lines[:, 1] - lines[:, 0]).max(axis=1) > 1e-9]
        return RobotShape(poses, vertices, lines)

    def straight(self, q: npt.ArrayLike) -> dict[str, np.ndarray]:
        """Poses (4, 4) of the flexible links at the same joint positions, without deflection."""
        q = np.array(q, dtype=float)
        q[self._elastic] = 0.0
        poses = dict(zip(self._links, self._poses.at(q)))
        return {name: poses[name] for name in self.skins}

    def values(self, q: npt.ArrayLike, coloured_by: str) -> dict[str, np.ndarray]:
        """Strain, m/m, or deflection, m, (p,) at the vertices of every flexible link.

        coloured_by: `strain`, `deflection` or `none` (zeros).
        """
        q = np.asarray(q, dtype=float)
        if coloured_by == 'strain':
            return {name: skin.strain(q) for name, skin in self.skins.items()}
        if coloured_by == 'deflection':
            return {name: skin.deflection(q) for name, skin in self.skins.items()}
        return {name: np.zeros(int(skin.faces.max()) + 1) for name, skin in self.skins.items()}

    def largest_deflection(self, q: npt.ArrayLike) -> float:
        """m: of the ends of all flexible links and of the last link, from where they would be
        without deflection, at the state q (n,)."""
        q = np.asarray(q, dtype=float)
        moved = self._ends.at(q) - self._ends.at(scaled(self.model, q, 0.0))
        return float(np.linalg.norm(moved[:, :3, 3], axis=1).max())

    def reach(self) -> float:
        """A length, m, that no point of the robot exceeds, from the root."""
        return reach(self.model.robot)
