"""Where every link truly is: relative poses of links and beam tips, deflection included."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_dynamics import Model


@dataclass(frozen=True)
class Transform:
    """Pose (4, 4) of the frame `child` in the frame `parent`."""

    parent: str
    child: str
    pose: np.ndarray


class Frames:
    """The transform tree of a robot at any state, as tf wants it: each link in its parent link.

    The tree has every link, and every frame of the robot (a beam's tip is `<link>/tip`) under the
    link that carries it.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._pairs = [(joint.parent, joint.child) for joint in model.robot.joints]
        self._pairs += [(frame.link, frame.name) for frame in model.robot.frames]
        self._fixed = {pair for pair in self._pairs if self._never_moves(pair)}

    def _never_moves(self, pair: tuple[str, str]) -> bool:
        """Whether the child is rigid in its parent: no coordinate moves one against the other."""
        model = self._model
        still = np.zeros(model.n)
        outer, inner = (model.jacobian(still, name) for name in pair)
        lever = (model.pose(still, pair[1]) - model.pose(still, pair[0]))[:3, 3]
        carried = outer[:3] + np.cross(outer[3:].T, lever).T
        return np.allclose(carried, inner[:3], atol=1e-12) and np.allclose(
            outer[3:], inner[3:], atol=1e-12)

    def _poses(self, q: np.ndarray) -> list[np.ndarray]:
        world = {name: self._model.pose(q, name)
                 for name in {name for pair in self._pairs for name in pair}}
        return [np.linalg.inv(world[parent]) @ world[child] for parent, child in self._pairs]

    def _transforms(self, q: np.ndarray, fixed: bool) -> list[Transform]:
        return [Transform(*pair, pose) for pair, pose in zip(self._pairs, self._poses(q))
                if (pair in self._fixed) == fixed]

    def fixed(self) -> list[Transform]:
        """Those that never change."""
        return self._transforms(np.zeros(self._model.n), fixed=True)

    def moving(self, q) -> list[Transform]:
        """Those that change with the state q (n,)."""
        return self._transforms(np.asarray(q, dtype=float), fixed=False)
