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
"""The markers of a deflected robot: links, ghost, tip path, gauges, wrenches, legend.

A marker keeps its namespace and id in every frame, so that RViz moves it without flicker:

    bent       each flexible link: section swept along its deflected axis, a triangle list
    straight   the same links at the same joint positions, undeformed, translucent
    rigid      visuals of the other links; lines where a link has none
    tip        the path of the tip
    gauges     strain gauges on the bent surface, and their readings
    wrenches   forces (arrow to the point of action) and moments (about the arrow)
    constraints  pins, balls, rods of loops, wheels and their points on the ground, supports
    reactions  forces of the constraints, arrows to where they act
    legend     the colour scale, with its values
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from flex_description.math import quaternion_from_rotation
from flex_description.visuals.mesh_path import mesh_uri
from flex_description.visuals.shapes import GREY, capsule
from flex_dynamics import Model
from flex_viz.geometry.bent_robot import BentRobot, RobotShape
from flex_viz.geometry.colours import ColourRange, rgba, value_text
from flex_viz.geometry.constraint_marks import REACTION, ConstraintMarks, ReactionForce
from flex_viz.geometry.coordinates import scaled, tip_frame
from flex_viz.geometry.exaggeration import AutomaticExaggeration
from flex_viz.geometry.gauges import Gauges
from flex_viz.geometry.tip_path import TipPath
from flex_viz.geometry.wrench_arrows import FORCE, MOMENT, SHAFT_WIDTH, AppliedWrench, arrow
from flex_viz.rviz.marker import (
    ARROW,
    CUBE,
    CYLINDER,
    DELETE,
    LINE_LIST,
    LINE_STRIP,
    MESH,
    SPHERE,
    SPHERE_LIST,
    TRIANGLES,
    Marker,
    text_marker,
)

GHOST, PATH = (0.6, 0.6, 0.6, 0.25), (0.95, 0.6, 0.1, 1.0)
INK, NO_COLOUR = (0.35, 0.35, 0.35, 1.0), (0.0, 0.0, 0.0, 0.0)
TEXT_HEIGHT = 0.03     # share of the reach: about 13 points in the window of RViz
LEGEND_RINGS = 16      # the colour scale is linear between them
SHAPES = {'box': CUBE, 'sphere': SPHERE, 'cylinder': CYLINDER}


@dataclass(frozen=True)
class Options:
    """What to draw. exaggeration: factor of the deflection, unless it is automatic; top: end of
    the colour scale, m/m or m, 0 for the largest recent value; path: length of the tip path, s;
    tip: its frame. constraints, reactions: of loops, wheels and supports."""

    coloured_by: str = 'strain'
    top: float = 0.0
    exaggeration: float = 1.0
    automatic: bool = False
    ghost: bool = True
    path: float = 5.0
    gauges: bool = True
    legend: bool = True
    tip: str = ''
    constraints: bool = True
    reactions: bool = True


DEFAULT = Options()


class RobotMarkers:
    """Draws states of one robot."""

    def __init__(self, model: Model, options: Options = DEFAULT) -> None:
        self.model, self.robot = model, BentRobot(model)
        self._gauges = Gauges(model)
        self._marks = ConstraintMarks(model)
        self._reacting: set[str] = set()           # constraints with arrows in RViz
        self._reach = self.robot.reach()
        self._corners = {name: skin.faces.ravel() for name, skin in self.robot.skins.items()}
        self._straight = {name: skin.straight() for name, skin in self.robot.skins.items()}
        self._slots: list[str] = []                # frames with a wrench so far, in order
        self._pushed: set[str] = set()             # those with arrows in RViz
        self.options = options

    @property
    def options(self) -> Options:
        return self._options

    @options.setter
    def options(self, options: Options) -> None:
        tip = options.tip or tip_frame(self.model)
        self.model.pose(np.zeros(self.model.n), tip)      # raises if the frame is unknown
        self.tip = tip
        self._options = options
        # The end of the scale and the factor in the legend that is drawn.
        self._legend_of: tuple[float, float] | None = None
        self._automatic = AutomaticExaggeration(self._reach)
        self._legend_markers: list[Marker] = []
        self._range = ColourRange(options.coloured_by, options.top)
        self._tip_path = TipPath(options.path)

    def at(self, time: float, q: np.ndarray, wrenches: Iterable[AppliedWrench] = (),
           reactions: Iterable[ReactionForce] = ()) -> list[Marker]:
        """The markers of the state q (n,) at `time` (s)."""
        options, robot = self._options, self.robot
        q = np.asarray(q, dtype=float)
        factor = options.exaggeration
        if options.automatic:
            factor = self._automatic.factor(time, time, robot.largest_deflection(q))
        drawn = scaled(self.model, q, factor)
        bent = robot.at(drawn)
        values = robot.values(q, options.coloured_by)
        largest = max((float(np.abs(value).max()) for value in values.values()), default=0.0)
        top = self._range.top(largest, time)
        markers = []
        for at, (name, corners) in enumerate(self._corners.items()):
            colours = rgba(values[name], top, options.coloured_by)
            markers.append(Marker('bent', at, TRIANGLES,
                                  points=bent.vertices[name].take(corners, axis=0),
                                  colours=colours.take(corners, axis=0)))
        markers += self._ghost(q)
        markers += self._rigid(bent)
        markers += self._path(time, drawn)
        markers += self._gauge_markers(q, drawn, bent, top)
        markers += self._wrench_markers(drawn, wrenches)
        markers += self._constraint_markers(drawn)
        markers += self._reaction_markers(drawn, reactions)
        told = float(f'{factor:.3g}')
        if self._legend_of != (top, told):
            self._legend_of, self._legend_markers = (top, told), self._legend(top, told)
        markers += self._legend_markers
        return markers

    def _ghost(self, q: np.ndarray) -> list[Marker]:
        if not self._options.ghost:
            return [Marker('straight', at, action=DELETE)
                    for at in range(len(self.robot.skins))]
        return [Marker('straight', at, TRIANGLES, colour=GHOST, points=self._straight[name],
                       position=pose[:3, 3].tolist(),
                       orientation=quaternion_from_rotation(pose[:3, :3]))
                for at, (name, pose) in enumerate(self.robot.straight(q).items())]

    def _rigid(self, bent: RobotShape) -> list[Marker]:
        markers: list[Marker] = []
        for link, visuals in self.robot.visuals.items():
            for visual in visuals:
                place = bent.poses[link] @ visual.pose
                size = (float(visual.size[0]), float(visual.size[1]), float(visual.size[2]))
                if visual.kind == 'capsule':      # RViz has no such marker
                    markers.append(Marker('rigid', len(markers), TRIANGLES,
                                          position=place[:3, 3].tolist(),
                                          orientation=quaternion_from_rotation(place[:3, :3]),
                                          colour=visual.colour,
                                          points=capsule(0.5 * size[0], size[2])))
                    continue
                mesh = mesh_uri(visual.mesh, self.model.robot)
                # RViz mixes the colour with the materials of the file: none if the URDF has none.
                own = mesh.lower().endswith('.dae') and visual.colour == GREY
                markers.append(Marker('rigid', len(markers), SHAPES.get(visual.kind, MESH),
                                      position=place[:3, 3].tolist(),
                                      orientation=quaternion_from_rotation(place[:3, :3]),
                                      scale=size, colour=NO_COLOUR if own else visual.colour,
                                      mesh=mesh))
        if len(bent.lines):
            markers.append(Marker('rigid', len(markers), LINE_LIST, colour=INK,
                                  scale=(0.006 * self._reach, 0.0, 0.0),
                                  points=bent.lines.reshape(-1, 3)))
        return markers

    def _path(self, time: float, drawn: np.ndarray) -> list[Marker]:
        if not self._options.path:
            return [Marker('tip', 0, action=DELETE)]
        points = self._tip_path.add(time, self.model.pose(drawn, self.tip)[:3, 3])
        if len(points) == 1:
            points = points.repeat(2, axis=0)      # RViz rejects a line with one point
        return [Marker('tip', 0, LINE_STRIP, colour=PATH,
                       scale=(0.002 * self._reach, 0.0, 0.0), points=points)]

    def _gauge_markers(self, q: np.ndarray, drawn: np.ndarray, bent: RobotShape,
                       top: float) -> list[Marker]:
        names = self._gauges.names
        if not names:
            return []
        if not self._options.gauges:
            return [Marker('gauges', at, action=DELETE) for at in range(len(names) + 1)]
        strain = self._gauges.strain(q)
        places = self._gauges.positions(drawn, bent.poses)
        scale = top if self._options.coloured_by == 'strain' else max(np.abs(strain).max(), 1e-6)
        colours = rgba(strain, scale, 'strain')
        size = 0.012 * self._reach
        markers = [Marker('gauges', 0, SPHERE_LIST, scale=(size, size, size), points=places,
                          colours=colours)]
        for at, name in enumerate(names):
            # Texts of gauges at one section would overlap: one line per gauge.
            x, y, z = places[at].tolist()
            place = (x, y, z + TEXT_HEIGHT * self._reach * (1.0 + 1.2 * at))
            markers.append(text_marker('gauges', at + 1,
                                       f'{name} {value_text(strain[at], "strain")}', place,
                                       TEXT_HEIGHT * self._reach, INK))
        return markers

    def _wrench_markers(self, drawn: np.ndarray,
                        wrenches: Iterable[AppliedWrench]) -> list[Marker]:
        """Three markers per frame: force, moment, text; removed when the wrench has ended."""
        given = {wrench.frame: wrench for wrench in wrenches}
        self._slots += [frame for frame in given if frame not in self._slots]
        markers = []
        thin = SHAFT_WIDTH * self._reach
        for slot, frame in enumerate(self._slots):
            ids = range(3 * slot, 3 * slot + 3)
            if frame not in given:
                if frame in self._pushed:
                    markers += [Marker('wrenches', at, action=DELETE) for at in ids]
                continue
            wrench, pose = given[frame], self.model.pose(drawn, frame)
            place = pose[:3, 3]
            for at, vector, colour in ((ids[1], wrench.moment, MOMENT),
                                       (ids[0], wrench.force, FORCE)):
                points = arrow(pose[:3, 3], pose[:3, :3] @ vector, self._reach)
                if points is None:
                    markers.append(Marker('wrenches', at, action=DELETE))
                    continue
                place = points[0]      # text at the tail, away from the robot
                markers.append(Marker('wrenches', at, ARROW, colour=colour, points=points,
                                      scale=(thin, 3.0 * thin, 4.5 * thin)))
            x, y, z = place.tolist()
            markers.append(text_marker('wrenches', ids[2], wrench.text(),
                                       (x, y, z - 0.04 * self._reach),
                                       TEXT_HEIGHT * self._reach, INK))
        self._pushed = set(given)
        return markers

    def _constraint_markers(self, drawn: np.ndarray) -> list[Marker]:
        marks = self._marks
        if not self._options.constraints:
            return [Marker('constraints', at, action=DELETE) for at in range(len(marks.visuals))]
        return [Marker('constraints', at, SHAPES[visual.kind], position=pose[:3, 3].tolist(),
                       orientation=quaternion_from_rotation(pose[:3, :3]), colour=visual.colour,
                       scale=(float(visual.size[0]), float(visual.size[1]),
                              float(visual.size[2])))
                for at, (visual, pose) in enumerate(zip(marks.visuals, marks.at(drawn),
                                                        strict=True))]

    def _reaction_markers(self, drawn: np.ndarray,
                          reactions: Iterable[ReactionForce]) -> list[Marker]:
        """Two markers a constraint: force and text; removed when there is none."""
        shown = list(reactions) if self._options.reactions else []
        arrows = {one.name: (one, line) for one, line in self._marks.arrows(drawn, shown)}
        markers, thin = [], SHAFT_WIDTH * self._reach
        for at, name in enumerate(self._marks.names):
            if name not in arrows:
                if name in self._reacting:
                    markers += [Marker('reactions', 2 * at + k, action=DELETE) for k in (0, 1)]
                continue
            reaction, line = arrows[name]
            markers.append(Marker('reactions', 2 * at, ARROW, colour=REACTION, points=line,
                                  scale=(thin, 3.0 * thin, 4.5 * thin)))
            x, y, z = self._marks.label(reaction, line).tolist()
            markers.append(text_marker('reactions', 2 * at + 1, reaction.text(),
                                       (x, y, z - 0.03 * self._reach),
                                       TEXT_HEIGHT * self._reach, INK))
        self._reacting = set(arrows)
        return markers

    def _legend(self, top: float, factor: float) -> list[Marker]:
        by = self._options.coloured_by
        if by == 'none' or not self._options.legend or not self.robot.skins:
            return [Marker('legend', at, action=DELETE) for at in range(4)]
        height, radius = 0.3 * self._reach, 0.008 * self._reach
        foot = np.array([-0.35 * self._reach, 0.35 * self._reach, 0.05 * self._reach])
        low = -top if by == 'strain' else 0.0
        points, shares = _column(radius, height)
        colours = rgba(low + shares * (top - low), top, by)
        markers = [Marker('legend', 0, TRIANGLES, points=points + foot, colours=colours)]
        lines: Sequence[tuple[float, str]] = (
            (0.0, value_text(low, by)), (1.0, value_text(top, by)),
            (1.2, by if factor == 1.0 else f'{by}, drawn {factor:g} times'))
        for at, (share, text) in enumerate(lines):
            gap = (0.03 if share else -0.03) * self._reach
            place = (*foot[:2], foot[2] + share * height + gap)
            markers.append(text_marker('legend', at + 1, text, place,
                                       1.3 * TEXT_HEIGHT * self._reach, INK))
        return markers


def _column(radius: float, height: float) -> tuple[np.ndarray, np.ndarray]:
    """A hexagonal column: corners of its triangles (k, 3), and their heights, 0 to 1 (k,)."""
    points, shares = [], []
    angles = np.arange(7) * np.pi / 3.0
    ring = radius * np.column_stack((np.cos(angles), np.sin(angles)))
    for at in range(LEGEND_RINGS):
        low, high = at / LEGEND_RINGS, (at + 1) / LEGEND_RINGS
        for side in range(6):
            for corner, share in ((0, low), (1, low), (1, high), (0, low), (1, high), (0, high)):
                points.append((*ring[side + corner], share * height))
                shares.append(share)
    return np.array(points), np.array(shares)
