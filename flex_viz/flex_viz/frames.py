"""Where every link truly is: relative poses of links, beam tips and asked-for points."""
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flex_dynamics import DynamicsError, Model


@dataclass(frozen=True)
class Transform:
    """Pose (4, 4) of the frame `child` in the frame `parent`."""

    parent: str
    child: str
    pose: np.ndarray


@dataclass(frozen=True)
class Point:
    """A frame `name` on the section at x (m) along the beam of `link`."""

    name: str
    link: str
    x: float


def read_point(text: str) -> Point:
    """`link2@0.5`, or `elbow=link2@0.5` to call the frame elbow; DynamicsError if it is neither.
    """
    found = re.fullmatch(r'(?:\s*([^=@\s]+)\s*=)?\s*([^=@\s]+)\s*@\s*([-+.\deE]+)\s*', text)
    try:
        name, link, x = found.groups() if found else ('', '', 'none')
        return Point(name or text.strip(), link, float(x))
    except ValueError:
        raise DynamicsError(f'point: expected LINK@X or NAME=LINK@X, X in m along the beam, found '
                            f'{text!r}') from None


class Frames:
    """The transform tree of a robot at any state, as tf wants it: each link in its parent link.

    The tree has every link, every frame of the robot (a beam's tip is `<link>/tip`) and the
    `points`, each under the link that carries it.
    """

    def __init__(self, model: Model, points: Sequence[Point] = ()) -> None:
        self._model = model
        robot = model.robot
        self._pairs = [(joint.parent, joint.child) for joint in robot.joints]
        self._pairs += [(frame.link, frame.name) for frame in robot.frames]
        self._points = {}
        taken = {robot.links[0].name, *(child for _, child in self._pairs)}
        for point in points:
            if point.name in taken:
                raise DynamicsError(f'point {point.name!r}: expected a name of its own, but a '
                                    'frame is called so')
            model.pose(np.zeros(model.n), point.link, point.x)      # refuses what is not there
            taken.add(point.name)
            self._points[point.name] = point.link, point.x
            self._pairs.append((point.link, point.name))
        self._names = sorted({name for pair in self._pairs for name in pair})
        fixed = [self._never_moves(pair) for pair in self._pairs]
        self._moving = np.flatnonzero(~np.array(fixed, dtype=bool))
        self._fixed = np.flatnonzero(fixed)
        place = {name: at for at, name in enumerate(self._names)}
        self._ends = np.array([[place[name] for name in pair] for pair in self._pairs],
                              dtype=int).reshape(-1, 2)

    def _where(self, name: str) -> tuple[str, float | None]:
        return self._points.get(name, (name, None))

    def _never_moves(self, pair: tuple[str, str]) -> bool:
        """Whether the child is rigid in its parent: no coordinate moves one against the other."""
        model = self._model
        still = np.zeros(model.n)
        outer, inner = (model.jacobian(still, *self._where(name)) for name in pair)
        start, end = (model.pose(still, *self._where(name)) for name in pair)
        carried = outer[:3] + np.cross(outer[3:].T, (end - start)[:3, 3]).T
        return np.allclose(carried, inner[:3], atol=1e-12) and np.allclose(
            outer[3:], inner[3:], atol=1e-12)

    def _transforms(self, q: np.ndarray, which: np.ndarray) -> list[Transform]:
        model = self._model
        used = np.unique(self._ends[which])
        world = np.zeros((len(self._names), 4, 4))
        for at in used:
            world[at] = model.pose(q, *self._where(self._names[at]))
        outer, inner = world[self._ends[which].T]
        back = outer[:, :3, :3].transpose(0, 2, 1)
        if model.order == 'linear':      # whose section rotations are no proper ones
            back = np.linalg.inv(outer[:, :3, :3])
        inner[:, :3, 3] -= outer[:, :3, 3]
        inner[:, :3] = back @ inner[:, :3]
        return [Transform(self._pairs[at][0], self._pairs[at][1], pose)
                for at, pose in zip(which, inner)]

    def fixed(self) -> list[Transform]:
        """Those that never change."""
        return self._transforms(np.zeros(self._model.n), self._fixed)

    def moving(self, q) -> list[Transform]:
        """Those that change with the state q (n,)."""
        return self._transforms(np.asarray(q, dtype=float), self._moving)
