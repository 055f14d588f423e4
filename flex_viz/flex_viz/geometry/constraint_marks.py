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
"""Loops, wheels and supports as shapes, and where their reactions act; the same in RViz and in the
browser.

A pin is a cylinder along its axis, a ball or universal joint a sphere, a weld a box, a slide a
cylinder along its axis, a distance a rod between its points. A wheel has a point where it touches
the ground, and is drawn as a wheel itself if its link has no visual. A support is a flat disc at
its point.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_description import Attachment, Loop, Support, Wheel
from flex_description.visuals.shapes import Colour, Visual, read_visuals
from flex_dynamics import Model, Poses
from flex_viz.geometry.outline import reach
from flex_viz.geometry.wrench_arrows import arrow

PIN: Colour = (0.16, 0.18, 0.22, 1.0)
CONTACT: Colour = (0.93, 0.33, 0.12, 1.0)
TYRE: Colour = (0.10, 0.10, 0.10, 1.0)
REACTION: Colour = (0.15, 0.35, 0.95, 1.0)
SIZE = 0.011             # radius of a pin, share of the robot's reach
WIDTH = 0.3              # of a wheel without a visual, share of its radius
NO_FORCE = 1e-6          # N: below it a reaction is not drawn


@dataclass(frozen=True)
class ReactionForce:
    """Force (3,) N of a constraint on the link that it holds, along the axes of `frame`."""

    name: str
    frame: str
    force: np.ndarray

    def text(self) -> str:
        size = float(np.linalg.norm(self.force))
        return f'{size:.3g} N' if size < 1e4 else f'{1e-3 * size:.3g} kN'


class ConstraintMarks:
    """Shapes of a robot's constraints: `visuals`, whose places are `at(q)`, in the same order."""

    def __init__(self, model: Model) -> None:
        self._model = model
        robot = model.robot
        self._reach = reach(robot)
        self.names = [record.name for record in robot.constraints]
        self._loops = {loop.name for loop in robot.loops}
        self.visuals: list[Visual] = []
        self._own: list[tuple[int, bool]] = []      # by visual: constraint, and whether a wheel
        ends = []
        seen = read_visuals(robot)
        for at, record in enumerate(robot.constraints):
            first, second = _ends(record)
            ends += [first, second]
            self._add(at, record, second.frame in seen)
        self._offsets = np.array([end.pose for end in ends]).reshape(-1, 2, 4, 4)
        self._poses = Poses(model, [(end.frame, end.x) for end in ends]) if ends else None
        self._axes = [_upright(record.axis) if isinstance(record, (Loop, Wheel))
                      and record.axis is not None else np.eye(3) for record in robot.constraints]

    def _add(self, at: int, record: Loop | Wheel | Support, seen: bool) -> None:
        size = SIZE * self._reach

        def mark(kind: str, edges: tuple[float, float, float], colour: Colour,
                 wheel: bool = False) -> None:
            self.visuals.append(Visual(kind, np.eye(4), np.array(edges), colour))
            self._own.append((at, wheel))

        if isinstance(record, Wheel):
            if record.radius > 0.0 and not seen:
                mark('cylinder', (2 * record.radius, 2 * record.radius, WIDTH * record.radius),
                     TYRE, wheel=True)
            mark('sphere', (size, size, size), CONTACT)
        elif isinstance(record, Support):
            mark('cylinder', (3.0 * size, 3.0 * size, 0.5 * size), CONTACT)
        elif record.type in ('revolute', 'prismatic'):
            length = 4.0 if record.type == 'revolute' else 8.0
            mark('cylinder', (2.0 * size, 2.0 * size, length * size), PIN)
        elif record.type == 'distance':
            mark('cylinder', (size, size, record.length or 0.0), PIN)
        elif record.type == 'weld':
            mark('box', (2.5 * size, 2.5 * size, 2.5 * size), PIN)
        else:
            mark('sphere', (3.0 * size, 3.0 * size, 3.0 * size), PIN)

    def at(self, q: np.ndarray) -> list[np.ndarray]:
        """Poses (4, 4) of the visuals at the state q (n,), in the root's frame."""
        if self._poses is None:
            return []
        ends = self._places(q)
        return [self._pose(ends[at], at, wheel) for at, wheel in self._own]

    def points(self, q: np.ndarray) -> dict[str, np.ndarray]:
        """Where the reactions act (3,), m, by constraint: a wheel's is its point on the ground."""
        if self._poses is None:
            return {}
        ends = self._places(q)
        return {name: self._pose(ends[at], at, False)[:3, 3]
                for at, name in enumerate(self.names)}

    def arrows(self, q: np.ndarray, reactions: list[ReactionForce]) -> list[
            tuple[ReactionForce, np.ndarray]]:
        """Reactions that are drawn at the state q (n,), and their arrows (2, 3), m: from the
        ground to a wheel or foot, where nothing hides them, and away from the pin of a loop."""
        points, found = self.points(q), []
        for reaction in reactions:
            if reaction.name not in points or np.linalg.norm(reaction.force) < NO_FORCE:
                continue
            axes = self._model.pose(q, reaction.frame)[:3, :3]
            line = arrow(points[reaction.name], axes @ reaction.force, self._reach)
            if line is not None:
                from_pin = reaction.name in self._loops
                found.append((reaction, line + from_pin * (line[1] - line[0])))
        return found

    def label(self, reaction: ReactionForce, line: np.ndarray) -> np.ndarray:
        """Where the text of a reaction stands (3,), m: at the free end of its arrow."""
        end: np.ndarray = line[1 if reaction.name in self._loops else 0]
        return end

    def _places(self, q: np.ndarray) -> np.ndarray:
        assert self._poses is not None
        places: np.ndarray = self._poses.at(q).reshape(-1, 2, 4, 4) @ self._offsets
        return places

    def _pose(self, ends: np.ndarray, at: int, wheel: bool) -> np.ndarray:
        """Of a mark of constraint `at`, from the poses (2, 4, 4) of its ends."""
        record, (first, second) = self._model.robot.constraints[at], ends
        pose: np.ndarray = second.copy()
        pose[:3, :3] = pose[:3, :3] @ self._axes[at]
        if isinstance(record, Loop) and record.type == 'distance':
            along = second[:3, 3] - first[:3, 3]
            pose[:3, :3], pose[:3, 3] = _upright(along), first[:3, 3] + 0.5 * along
        if isinstance(record, Support):
            pose[:3, :3] = np.eye(3)
        if isinstance(record, Wheel) and not wheel:
            axis = pose[:3, 2]
            down = (record.normal @ axis) * axis - record.normal
            size = float(np.linalg.norm(down))
            if size > 1e-9:
                pose[:3, 3] += record.radius * down / size
        return pose


def _ends(record: Loop | Wheel | Support) -> tuple[Attachment, Attachment]:
    if isinstance(record, Loop):
        return record.first, record.second
    end = record.centre if isinstance(record, Wheel) else record.point
    return end, end


def _upright(axis: np.ndarray) -> np.ndarray:
    """A rotation (3, 3) whose z is along an axis (3,)."""
    size = float(np.linalg.norm(axis))
    z = axis / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
    helper = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = np.cross(helper, z)
    x /= np.linalg.norm(x)
    return np.column_stack((x, np.cross(z, x), z))
