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
"""The transform tree of a deflected robot: links, beam tips and points on beams."""
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from flex_dynamics import DynamicsError, Model, Poses
from flex_viz.shown_text import plain


@dataclass(frozen=True)
class Point:
    """A frame `name` on the section at x (m) along the beam of `link`."""

    name: str
    link: str
    x: float


def read_point(text: str) -> Point:
    """Parse `link2@0.5`, or `elbow=link2@0.5` to name the frame elbow; else DynamicsError."""
    found = re.fullmatch(r'(?:\s*([^=@\s]+)\s*=)?\s*([^=@\s]+)\s*@\s*([-+.\deE]+)\s*', text)
    try:
        name, link, x = found.groups() if found else ('', '', 'none')
        return Point(name or text.strip(), link, float(x))
    except ValueError:
        raise DynamicsError(f'point: expected LINK@X or NAME=LINK@X, X in m along the beam, found '
                            f'{plain(text)!r}') from None


class Edges:
    """Edges of a transform tree: `pairs` of names, (parent, child) each."""

    def __init__(self, model: Model, pairs: list[tuple[str, str]],
                 where: Callable[[str], tuple[str, float | None]]) -> None:
        """where: frame and x of a name, the arguments of Model.pose."""
        self.pairs = pairs
        self._poses = Poses(model, [where(name) for pair in pairs for name in pair])
        self._proper = model.order != 'linear'      # its section rotations are not orthogonal

    def at(self, q: npt.ArrayLike) -> np.ndarray:
        """Poses (pairs, 4, 4) of the children in their parents at the state q (n,)."""
        outer, inner = self._poses.at(q).reshape(-1, 2, 4, 4).swapaxes(0, 1)
        back = (outer[:, :3, :3].transpose(0, 2, 1) if self._proper
                else np.linalg.inv(outer[:, :3, :3]))
        inner[:, :3, 3] -= outer[:, :3, 3]
        inner[:, :3] = back @ inner[:, :3]
        return inner


class Frames:
    """The transform tree of a robot at any state, as for tf: each link in its parent link.

    The tree has every link, every frame of the robot (the tip of a beam is `<link>/tip`) and the
    `points`, each below the link that carries it. `fixed` has the edges that no coordinate moves,
    `moving` the others.
    """

    def __init__(self, model: Model, points: Sequence[Point] = (), base: bool = True) -> None:
        """base: whether the edge from the root to a planar or floating base is one of them."""
        self._model = model
        robot = model.robot
        self._pairs = [(joint.parent, joint.child) for joint in robot.joints
                       if base or joint.type not in ('planar', 'floating')]
        self._pairs += [(frame.link, frame.name) for frame in robot.frames]
        self._points: dict[str, tuple[str, float]] = {}
        taken = {*(link.name for link in robot.links), *(child for _, child in self._pairs)}
        for point in points:
            if point.name in taken:
                raise DynamicsError(f'point {plain(point.name)!r}: expected a new name, but a '
                                    'frame has that name')
            model.pose(np.zeros(model.n), point.link, point.x)      # raises if it does not exist
            taken.add(point.name)
            self._points[point.name] = point.link, point.x
            self._pairs.append((point.link, point.name))
        fixed = [pair for pair in self._pairs if self._never_moves(pair)]
        moving = [pair for pair in self._pairs if pair not in fixed]
        self.fixed, self.moving = (Edges(model, some, self._where) for some in (fixed, moving))

    def _where(self, name: str) -> tuple[str, float | None]:
        return self._points.get(name, (name, None))

    def _never_moves(self, pair: tuple[str, str]) -> bool:
        """Whether no coordinate moves the child relative to its parent."""
        model = self._model
        still = np.zeros(model.n)
        outer, inner = (model.jacobian(still, *self._where(name)) for name in pair)
        start, end = (model.pose(still, *self._where(name)) for name in pair)
        carried = outer[:3] + np.cross(outer[3:].T, (end - start)[:3, 3]).T
        return bool(np.allclose(carried, inner[:3], atol=1e-12)
                    and np.allclose(outer[3:], inner[3:], atol=1e-12))


def transform_points(points: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Points (p, 3) of a frame at `pose` (4, 4), in the frame in which the pose is given."""
    return points @ pose[:3, :3].T + pose[:3, 3]
