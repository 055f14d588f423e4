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
"""Robots drawn in two dimensions: lines of the links, silhouettes of their visuals, a floor."""
from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from scipy.spatial import ConvexHull, QhullError

from flex_description.visuals.mesh_limits import MeshError
from flex_description.visuals.shapes import Visual, read_visuals, visual_corners
from flex_dynamics import Model
from flex_viz.geometry.coordinates import flexible_links, scaled
from flex_viz.geometry.frames import transform_points
from flex_viz.geometry.outline import outline
from flex_viz.shown_text import plain

LOGGER = logging.getLogger(__name__)
LINK, BEAM, GHOST = '#4d4f53', '#1f6fc4', '#c4c4c4'
ELEVATION, AZIMUTH = np.radians(26.0), np.radians(-62.0)      # of the camera
RIGHT = np.array([-np.sin(AZIMUTH), np.cos(AZIMUTH), 0.0])
UP = np.array([-np.sin(ELEVATION) * np.cos(AZIMUTH), -np.sin(ELEVATION) * np.sin(AZIMUTH),
               np.cos(ELEVATION)])
NEAR = np.cross(RIGHT, UP)      # direction to the camera, frame of the root
FLOOR = 0.25                    # half edge of the floor, share of the robot's size
MARGIN = 0.06                   # around the robot, share of its size


def project(points: np.ndarray) -> np.ndarray:
    """Points (..., 3) of the root frame on the screen (..., 2), m: right and up."""
    return points @ np.column_stack((RIGHT, UP))


@dataclass(frozen=True)
class Pose:
    """A robot at one state, projected (m).

    lines: (p, 2) by link. offsets: (2, 2) each, from the section of a beam to a joint beside its
    axis. hulls: (p, 2) each, silhouettes of the visuals of rigid links.
    """

    lines: dict[str, np.ndarray]
    offsets: list[np.ndarray]
    hulls: list[np.ndarray]

    @property
    def points(self) -> np.ndarray:
        """All of it (k, 2)."""
        return np.concatenate([*self.lines.values(), *self.offsets, *self.hulls, np.zeros((1, 2))])


class RobotDrawing:
    """Draws a robot at any state, with its deflection multiplied."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.beams = frozenset(flexible_links(model))
        self._hulls = self._read_hulls()
        self._attached = [(joint.parent, joint.section_x, joint.child)
                          for joint in model.robot.joints if joint.section_x is not None]

    def _read_hulls(self) -> list[tuple[str, np.ndarray]]:
        """Link and convex hull (p, 3), m, in its frame, of each visual of the rigid links."""
        found, problems = [], []
        for link, visuals in read_visuals(self.model.robot).items():
            if link in self.beams:
                continue
            for visual in visuals:
                try:
                    found.append((link, _hull(visual, self.model)))
                except MeshError as error:
                    problems.append(f'link {plain(link)}: {error}')
        if problems:
            LOGGER.warning(f'{len(problems)} visuals are not drawn; {problems[0]}')
        return found

    def at(self, q: np.ndarray, exaggeration: float = 1.0) -> Pose:
        """The robot at the state q (n,), rad and m; exaggeration: factor of the deflection."""
        q = scaled(self.model, q, exaggeration)
        poses = {link: self.model.pose(q, link) for link, _ in self._hulls}
        offsets = [np.array([self.model.pose(q, parent, x)[:3, 3],
                             self.model.pose(q, child)[:3, 3]])
                   for parent, x, child in self._attached]
        return Pose({name: project(line) for name, line in outline(self.model, q).items()},
                    [project(offset) for offset in offsets],
                    [_silhouette(project(transform_points(points, poses[link])))
                     for link, points in self._hulls])

    def draw(self, axis: Any, pose: Pose, straight: Pose, beams: bool = True) -> None:
        """Draw a pose over the one with straight links; `beams`: flexible links as lines, too."""
        axis.add_collection(PolyCollection(pose.hulls, facecolors=LINK, alpha=0.3,
                                           edgecolors=LINK, linewidths=0.6, zorder=2))
        rigid = [line for name, line in pose.lines.items() if name not in self.beams]
        blue = [line for name, line in pose.lines.items() if name in self.beams and beams]
        for lines, colour, width, order in (
                ([*straight.lines.values(), *straight.offsets], GHOST, 2.0, 1),
                ([*rigid, *pose.offsets], LINK, 3.0, 3), (blue, BEAM, 3.0, 4)):
            axis.add_collection(LineCollection(lines, colors=colour, linewidths=width,
                                               capstyle='round', zorder=order))

    def deflection(self, states: Sequence[np.ndarray]) -> float:
        """Largest distance, m on the screen, of a point of the lines from its place with straight
        links, in states (k, n)."""
        largest = 0.0
        for q in states:
            bent, straight = (self.at(q, factor).lines for factor in (1.0, 0.0))
            largest = max([largest, *(float(np.linalg.norm(line - straight[name], axis=1).max())
                                      for name, line in bent.items() if name in straight)])
        return largest


def _hull(visual: Visual, model: Model) -> np.ndarray:
    """Corners (p, 3), m, of the convex hull of a visual in the frame of its link."""
    corners = transform_points(visual_corners(visual, model.robot), visual.pose)
    try:
        return np.asarray(corners[ConvexHull(corners).vertices])
    except QhullError:      # flat
        return np.unique(corners, axis=0)


def _silhouette(points: np.ndarray) -> np.ndarray:
    """The convex outline of points (k, 2), in order."""
    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except QhullError:      # seen edge on
        return points[[*np.argsort(points @ np.ptp(points, axis=0))[[0, -1]]]]


def bounds(poses: Sequence[Pose]) -> tuple[np.ndarray, np.ndarray, float]:
    """Lower and upper corner (2,), m, of a frame around all poses with their floor, and the half
    edge of that floor, m."""
    points = np.concatenate([pose.points for pose in poses])
    size = max(float(np.ptp(points, axis=0).max()), 1e-6)
    points = np.concatenate([points, _floor(FLOOR * size)])
    low, high = points.min(axis=0), points.max(axis=0)
    return low - MARGIN * size, high + MARGIN * size, FLOOR * size


def _floor(half: float) -> np.ndarray:
    """A square (5, 2) at the height of the root, closed."""
    corners = np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0), (-1, -1, 0)])
    return project(half * corners)


def frame(axis: Any, low: np.ndarray, high: np.ndarray, floor: float) -> None:
    """Set the limits of an axis to what `bounds` gave, without ticks, and draw the floor."""
    axis.plot(*_floor(floor).T, color=GHOST, lw=0.8, zorder=0)
    axis.set_xlim(low[0], high[0])
    axis.set_ylim(low[1], high[1])
    axis.set_aspect('equal')
    axis.set_axis_off()
