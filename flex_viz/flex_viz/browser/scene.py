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
"""The deflected robot in a viser scene, without ROS.

A mesh of viser has one colour. Therefore the triangles of all flexible links are sorted into one
mesh for each shade.
"""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import viser

from flex_description.visuals.mesh_limits import LARGEST_ROBOT, MeshError
from flex_description.visuals.shapes import Visual, visual_corners
from flex_dynamics import Model
from flex_viz.browser.rigid_pieces import RigidPieces
from flex_viz.geometry.bent_robot import BentRobot, RobotShape
from flex_viz.geometry.colours import ColourRange, rgb, rounded_up
from flex_viz.geometry.constraint_marks import REACTION, ConstraintMarks, ReactionForce
from flex_viz.geometry.coordinates import scaled, tip_frame
from flex_viz.geometry.tip_path import TipPath
from flex_viz.geometry.wrench_arrows import FORCE, MOMENT, SHAFT_WIDTH, AppliedWrench, arrow
from flex_viz.shown_text import plain

SHADES = 9
GREY, GHOST, PATH = (77, 79, 83), (170, 170, 170), (240, 150, 25)
FLOOR = (190, 190, 190)
FIELD_OF_VIEW = 0.9      # rad, vertical
EMPTY = np.zeros((3, 3), dtype=np.float32)
PATH_SPAN, PATH_GAP = 5.0, 0.05      # s: length of the tip path, time between points


class Scene:
    """Draws states into `server`.

    Options: `coloured_by`, `exaggeration`, `ghost` (straight links), `path` (tip path),
    `strength` (the colour scale ends at the largest recent value divided by this), `constraints`
    (loops, wheels, supports) and `reactions` (their forces).
    """

    def __init__(self, server: viser.ViserServer, model: Model, tip: str = '') -> None:
        self.model, self._server, self._scene = model, server, server.scene
        self.robot = BentRobot(model)
        self.tip = tip or tip_frame(model)
        self.exaggeration, self.ghost, self.path = 1.0, True, True
        self.coloured_by, self.strength = 'strain', 1.0
        self.constraints = self.reactions = True
        self._reach = reach = self.robot.reach()
        self._scene.set_up_direction('+z')
        # Lines instead of viser's grid, which is a shaded plane: without a graphics card it takes
        # a fifth of the time of a frame.
        self._scene.add_line_segments('/floor', _floor(reach), FLOOR, thickness=1.0,
                                      thickness_units='screen')
        # The default light makes all colours pale; this one keeps the strain visible.
        self._scene.configure_environment_map(None)
        self._scene.configure_default_lights(False)
        self._scene.add_light_ambient('/light/ambient', intensity=2.2)
        self._scene.add_light_directional('/light/sun', intensity=1.5,
                                          position=(0.5 * reach, -reach, 2.0 * reach))
        self._camera_set = False
        self._aim_camera(np.array([0.2 * reach, 0.0, 0.3 * reach]), 0.6 * reach)
        faces = np.arange(3).reshape(1, 3)
        self._bent = [self._scene.add_mesh_simple(f'/bent/{at}', EMPTY, faces, side='double',
                                                  visible=False) for at in range(SHADES)]
        self._straight = RigidPieces(
            self._scene, '/straight', [skin.straight() for skin in self.robot.skins.values()],
            color=GHOST, opacity=0.35, cast_shadow=False,
            receive_shadow=False) if self.robot.skins else None
        self._rigid = self._add_rigid()
        self.marks = ConstraintMarks(model)
        self._pieces = self._add_marks()
        line = np.zeros((1, 2, 3), dtype=np.float32)
        width = 0.004 * reach
        self._lines = self._scene.add_line_segments('/lines', line, GREY, thickness=2.0 * width,
                                                    visible=False)
        self._path_lines = self._scene.add_line_segments('/tip', line, PATH, thickness=width,
                                                  visible=False)
        self._tip_path = TipPath(PATH_SPAN, PATH_GAP)
        self._ranges = {by: ColourRange(by) for by in ('strain', 'deflection', 'none')}
        self.top = 0.0                 # end of the colour scale
        thin = SHAFT_WIDTH * reach
        forces, moments, reactions = (self._scene.add_arrows(
            f'/wrenches/{name}', line, np.array(colour[:3]),
            shaft_radius=0.5 * thin, head_radius=1.5 * thin, head_length=4.5 * thin, visible=False)
            for name, colour in (('forces', FORCE), ('moments', MOMENT), ('reactions', REACTION)))
        self._arrows, self._reaction_arrows = [forces, moments], reactions
        self._labels: dict[str, viser.LabelHandle] = {}      # by frame
        self._reaction_labels: dict[str, viser.LabelHandle] = {}      # by constraint

    def _aim_camera(self, centre: np.ndarray, radius: float) -> None:
        """Point the initial camera of new browsers at a sphere about `centre` (3,), m."""
        camera = self._server.initial_camera
        camera.fov = FIELD_OF_VIEW
        camera.look_at = tuple(centre)
        direction = np.array([0.45, -0.8, 0.35])
        distance = radius / np.sin(FIELD_OF_VIEW / 2.0)
        camera.position = tuple(centre + distance * direction / np.linalg.norm(direction))

    def _add_rigid(self) -> list[tuple[list[tuple[str, Visual]], RigidPieces]]:
        """Add the visuals of rigid links, those of one colour together."""
        groups: dict[tuple, list[tuple[str, Visual, np.ndarray]]] = defaultdict(list)
        left = LARGEST_ROBOT
        for link, visuals in self.robot.visuals.items():
            for visual in visuals:
                try:
                    corners = visual_corners(visual, self.model.robot)
                    if len(corners) // 3 > left:
                        raise MeshError(f'all meshes: expected {LARGEST_ROBOT} triangles at most, '
                                        'found more')
                except MeshError as error:
                    self.robot.problems.append(f'a visual of link {plain(link)} is not drawn: '
                                               f'{error}')
                    continue
                left -= len(corners) // 3
                groups[visual.colour].append((link, visual, corners))
        return [([(link, visual) for link, visual, _ in group], RigidPieces(
            self._scene, f'/rigid/{at}', [corners for *_, corners in group],
            color=np.array(colour[:3]), opacity=colour[3] if colour[3] < 1.0 else None,
            flat_shading=True)) for at, (colour, group) in enumerate(groups.items())]

    def _add_marks(self) -> list[tuple[list[int], RigidPieces]]:
        """Add the shapes of the constraints, those of one colour together."""
        groups: dict[tuple, list[int]] = defaultdict(list)
        for at, visual in enumerate(self.marks.visuals):
            groups[visual.colour].append(at)
        return [(places, RigidPieces(
            self._scene, f'/constraints/{at}',
            [visual_corners(self.marks.visuals[place], self.model.robot) for place in places],
            color=np.array(colour[:3]), flat_shading=True))
            for at, (colour, places) in enumerate(groups.items())]

    def reset_history(self) -> None:
        """Clear the tip path and the range of the colours."""
        self._tip_path.clear()
        for one in self._ranges.values():
            one.reset()

    def show(self, time: float, q: np.ndarray, wrenches: Sequence[AppliedWrench] = (),
             reactions: Sequence[ReactionForce] = ()) -> None:
        """Draw the state q (n,) at `time` (s), with the wrenches and reactions that act."""
        drawn = scaled(self.model, q, self.exaggeration)
        bent = self.robot.at(drawn)
        self._show_surface(time, q, bent)
        for visuals, pieces in self._rigid:
            pieces.show([bent.poses[link] @ visual.pose for link, visual in visuals])
        if self._straight is not None:
            if self.ghost:
                self._straight.show(list(self.robot.straight(q).values()))
            else:
                self._straight.hide()
        if len(bent.lines):
            self._lines.points = bent.lines.astype(np.float32)
            self._lines.visible = True
        self._show_path(time, drawn)
        self._show_wrenches(drawn, wrenches)
        self._show_constraints(drawn, reactions)
        if not self._camera_set:
            self._camera_set = True
            boxes = [(bent.poses[link] @ visual.pose)[:3, 3] + 0.5 * np.outer((-1, 1), visual.size)
                     for link, visuals in self.robot.visuals.items() for visual in visuals
                     if visual.kind != 'mesh']
            points = np.concatenate([pose[None, :3, 3] for pose in bent.poses.values()]
                                    + boxes + list(bent.vertices.values()))
            low, high = points.min(axis=0), points.max(axis=0)
            # The robot will move: at least half its reach is visible.
            self._aim_camera((low + high) / 2.0, max(0.5 * self._reach,
                                               0.55 * float(np.linalg.norm(high - low))))

    def _show_surface(self, time: float, q: np.ndarray, bent: RobotShape) -> None:
        values = self.robot.values(q, self.coloured_by)
        largest = max((float(np.abs(some).max()) for some in values.values()), default=0.0)
        self.top = self._ranges[self.coloured_by].top(largest, time) / self.strength
        corners, means = [np.zeros((0, 3, 3))], [np.zeros(0)]
        for name, skin in self.robot.skins.items():
            corners.append(bent.vertices[name][skin.faces])
            means.append(values[name][skin.faces].mean(axis=1))
        triangles, value = np.concatenate(corners), np.concatenate(means)
        low = -self.top if self.coloured_by == 'strain' else 0.0
        levels = np.linspace(low, self.top, SHADES)
        share = (value - low) / (self.top - low)
        shade = np.clip(np.rint(share * (SHADES - 1)), 0, SHADES - 1).astype(int)
        colours = np.rint(255.0 * rgb(levels, self.top, self.coloured_by)).astype(int)
        for at, mesh in enumerate(self._bent):
            mine = triangles[shade == at].reshape(-1, 3)
            mesh.visible = bool(len(mine))
            if not len(mine):
                continue
            mesh.vertices = mine.astype(np.float32)
            if len(mesh.faces) != len(mine) // 3:
                mesh.faces = np.arange(len(mine), dtype=np.uint32).reshape(-1, 3)
            mesh.color = (int(colours[at, 0]), int(colours[at, 1]), int(colours[at, 2]))

    def _show_path(self, time: float, drawn: np.ndarray) -> None:
        path = self._tip_path.add(time, self.model.pose(drawn, self.tip)[:3, 3])
        self._path_lines.visible = self.path and len(path) > 1
        if len(path) > 1:
            self._path_lines.points = np.stack((path[:-1], path[1:]), axis=1).astype(np.float32)

    def _show_wrenches(self, drawn: np.ndarray, wrenches: Sequence[AppliedWrench]) -> None:
        found: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])      # forces, moments
        for frame, label in self._labels.items():
            label.visible = any(wrench.frame == frame for wrench in wrenches)
        for wrench in wrenches:
            pose = self.model.pose(drawn, wrench.frame)
            place = pose[:3, 3]
            for lines, vector in zip(found[::-1], (wrench.moment, wrench.force)):
                line = arrow(pose[:3, 3], pose[:3, :3] @ vector, self._reach)
                if line is not None:
                    lines.append(line)
                    place = line[0]      # text at the tail, away from the robot
            if wrench.frame not in self._labels:
                # By number: a slash in the name of a frame would nest it in the scene tree.
                self._labels[wrench.frame] = self._scene.add_label(
                    f'/wrenches/label/{len(self._labels)}', wrench.text(), anchor='top-center')
            label = self._labels[wrench.frame]
            label.text, label.position = wrench.text(), place
        for handle, lines in zip(self._arrows, found):
            handle.visible = bool(lines)
            if lines:
                handle.points = np.array(lines, dtype=np.float32)


    def _show_constraints(self, drawn: np.ndarray, reactions: Sequence[ReactionForce]) -> None:
        poses = self.marks.at(drawn)
        for places, pieces in self._pieces:
            if self.constraints:
                pieces.show([poses[place] for place in places])
            else:
                pieces.hide()
        arrows = self.marks.arrows(drawn, list(reactions)) if self.reactions else []
        for name, label in self._reaction_labels.items():
            label.visible = any(one.name == name for one, _ in arrows)
        for one, line in arrows:
            if one.name not in self._reaction_labels:
                self._reaction_labels[one.name] = self._scene.add_label(
                    f'/wrenches/reaction/{len(self._reaction_labels)}', one.text(),
                    anchor='top-center')
            label = self._reaction_labels[one.name]
            label.text, label.position = one.text(), self.marks.label(one, line)
        self._reaction_arrows.visible = bool(arrows)
        if arrows:
            self._reaction_arrows.points = np.array([line for _, line in arrows],
                                                    dtype=np.float32)


def _floor(reach: float) -> np.ndarray:
    """Lines (s, 2, 3), m, of a grid around the root, with cells of 1, 2 or 5 times 10^k m."""
    cell = rounded_up(reach / 8.0)
    places = cell * np.arange(-round(reach / cell), round(reach / cell) + 1)
    end = np.full(len(places), places[-1])
    along_x = np.stack((np.column_stack((-end, places)), np.column_stack((end, places))), axis=1)
    lines = np.concatenate((along_x, along_x[..., ::-1]))
    return np.concatenate((lines, np.zeros((*lines.shape[:2], 1))), axis=2).astype(np.float32)
