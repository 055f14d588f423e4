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
"""The deflected robot in a viser scene, without ROS."""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import viser

from flex_description.visuals.mesh_limits import LARGEST_ROBOT, MeshError
from flex_description.visuals.shapes import Visual, coloured_corners, visual_corners
from flex_dynamics import Model
from flex_viz.browser.rigid_pieces import RigidPieces
from flex_viz.browser.stage import Stage
from flex_viz.browser.surface import Surface
from flex_viz.geometry.bent_robot import BentRobot, RobotShape
from flex_viz.geometry.colours import ColourRange
from flex_viz.geometry.constraint_marks import REACTION, ConstraintMarks, ReactionForce
from flex_viz.geometry.coordinates import flexible_links, scaled, tip_frame
from flex_viz.geometry.simplify import simplified
from flex_viz.geometry.tip_path import TipPath
from flex_viz.geometry.wrench_arrows import FORCE, MOMENT, SHAFT_WIDTH, AppliedWrench, arrow
from flex_viz.shown_text import plain

# viser sends at most 128 messages at once; a frame, with three for each shade, must be one of
# them, or a browser draws half of it.
SHADES = 21
# Triangles that are sent and drawn: of all flexible links that are meshes, and of all rigid ones.
MOST_BENT, MOST_RIGID, FEWEST = 6_000, 6_000, 40
GREY, GHOST, PATH = (77, 79, 83), (120, 128, 140), (240, 150, 25)
PATH_SPAN, PATH_GAP = 5.0, 0.05      # s: length of the tip path, time between points


class Scene:
    """Draws states into `server`.

    Options: `coloured_by`, `exaggeration`, `ghost` (straight links), `path` (tip path),
    `strength` (the colour scale ends at the largest recent value divided by this), `constraints`
    (loops, wheels, supports), `reactions` (their forces) and `shadow`.
    """

    def __init__(self, server: viser.ViserServer, model: Model, tip: str = '') -> None:
        self.model, self._scene = model, server.scene
        self.robot = BentRobot(model, MOST_BENT // max(len(flexible_links(model)), 3))
        self.tip = tip or tip_frame(model)
        self.exaggeration, self.ghost, self.path = 1.0, True, True
        self.coloured_by, self.strength = 'strain', 1.0
        self.constraints = self.reactions = self.shadow = True
        self._reach = reach = self.robot.reach()
        self.stage = Stage(server, reach)
        self._framed = False
        self._surface = Surface(self._scene, '/bent', self.robot, SHADES)
        self._straight = RigidPieces(
            self._scene, '/straight', [skin.straight() for skin in self.robot.skins.values()],
            color=GHOST, opacity=0.3) if self.robot.skins else None
        self._rigid = self._add_rigid()
        self._shadow_faces = self._join_faces()
        self._shadowed = False
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

    def _add_rigid(self) -> list[tuple[list[tuple[str, Visual]], RigidPieces]]:
        """Add the visuals of rigid links, those of one colour together."""
        found: list[tuple[str, Visual, np.ndarray, tuple]] = []
        left = LARGEST_ROBOT
        for link, visuals in self.robot.visuals.items():
            for visual in visuals:
                try:
                    pieces = coloured_corners(visual, self.model.robot)
                    count = sum(len(corners) for corners, _ in pieces) // 3
                    if count > left:
                        raise MeshError(f'all meshes: expected {LARGEST_ROBOT} triangles at most, '
                                        'found more')
                except MeshError as error:
                    self.robot.problems.append(f'a visual of link {plain(link)} is not drawn: '
                                               f'{error}')
                    continue
                left -= count
                found += [(link, visual, corners, colour) for corners, colour in pieces]
        total = sum(len(corners) for *_, corners, _ in found) // 3
        share = min(1.0, MOST_RIGID / max(total, 1))
        groups: dict[tuple, list[tuple[str, Visual, np.ndarray]]] = defaultdict(list)
        for link, visual, corners, colour in found:
            most = max(int(share * len(corners) / 3), FEWEST)
            if visual.kind == 'mesh':
                corners = simplified(corners.reshape(-1, 3, 3), most).reshape(-1, 3)
            groups[colour].append((link, visual, corners))
        return [([(link, visual) for link, visual, _ in group], RigidPieces(
            self._scene, f'/rigid/{at}', [corners for *_, corners in group],
            color=np.array(colour[:3]), opacity=colour[3] if colour[3] < 1.0 else None))
            for at, (colour, group) in enumerate(groups.items())]

    def _add_marks(self) -> list[tuple[list[int], RigidPieces]]:
        """Add the shapes of the constraints, those of one colour together."""
        groups: dict[tuple, list[int]] = defaultdict(list)
        for at, visual in enumerate(self.marks.visuals):
            groups[visual.colour].append(at)
        return [(places, RigidPieces(
            self._scene, f'/constraints/{at}',
            [visual_corners(self.marks.visuals[place], self.model.robot) for place in places],
            color=np.array(colour[:3])))
            for at, (colour, places) in enumerate(groups.items())]

    def _join_faces(self) -> np.ndarray:
        """Faces (f, 3) of all that casts a shadow, whose vertices follow each other."""
        faces, offset = [self._surface.faces], int(self._surface.faces.max(initial=-1)) + 1
        for _, pieces in self._rigid:
            faces.append(pieces.faces + offset)
            offset += len(pieces.vertices)
        return np.concatenate(faces)

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
        surface = self._show_surface(time, q, bent)
        for visuals, pieces in self._rigid:
            pieces.show([bent.poses[link] @ visual.pose for link, visual in visuals])
        if self.shadow:
            self.stage.show_shadow(np.concatenate(
                [surface, *(pieces.vertices for _, pieces in self._rigid)]), self._shadow_faces)
        elif self._shadowed:
            self.stage.show_shadow(surface[:0], self._shadow_faces[:0])
        self._shadowed = self.shadow
        if self._straight is not None:
            # Drawn as they are, bent links would be inside of their straight ones, and flicker.
            if self.ghost and self.exaggeration != 0.0:
                self._straight.show(list(self.robot.straight(q).values()))
            else:
                self._straight.hide()
        if len(bent.lines):
            self._lines.points = bent.lines.astype(np.float32)
            self._lines.visible = True
        self._show_path(time, drawn)
        self._show_wrenches(drawn, wrenches)
        self._show_constraints(drawn, reactions)
        if not self._framed:
            self._framed = True
            self._frame(bent, surface)

    def _frame(self, bent: RobotShape, surface: np.ndarray) -> None:
        """Let the views show the whole robot."""
        points = np.concatenate([
            surface, *(pieces.vertices for _, pieces in self._rigid),
            *(pose[None, :3, 3] for pose in bent.poses.values())])
        low, high = points.min(axis=0), points.max(axis=0)
        # The robot will move: at least a part of its reach is visible.
        self.stage.aim((low + high) / 2.0, max(0.42 * self._reach,
                                               0.48 * float(np.linalg.norm(high - low))))

    def tip_place(self, q: np.ndarray) -> np.ndarray:
        """Where the tip is drawn at the state q (n,): (3,), m."""
        place: np.ndarray = self.model.pose(scaled(self.model, q, self.exaggeration),
                                            self.tip)[:3, 3]
        return place

    def _show_surface(self, time: float, q: np.ndarray, bent: RobotShape) -> np.ndarray:
        values = self.robot.values(q, self.coloured_by)
        largest = max((float(np.abs(some).max()) for some in values.values()), default=0.0)
        self.top = self._ranges[self.coloured_by].top(largest, time) / self.strength
        vertices = self._surface.vertices(bent)
        if len(vertices):
            self._surface.show(vertices, values, self.top, self.coloured_by)
        return vertices

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
