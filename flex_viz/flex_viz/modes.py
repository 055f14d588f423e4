"""Natural modes of the whole robot at a pose, to be animated."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_dynamics import DynamicsError, Model
from flex_viz.outline import outline

JOINTS = ('locked', 'free')
STILL = 1e-3      # Hz; slower is a rigid motion, which no spring brings back


@dataclass(frozen=True)
class Mode:
    """Frequency (Hz) and shape (n,), scaled so that no point moves more than 1 m from q, were it
    all linear; a unit of swing is then a metre."""

    frequency: float
    shape: np.ndarray

    def at(self, q: np.ndarray, swing: float, phase: float) -> np.ndarray:
        """The robot (n,) in its mode about q: `swing` m at the most moved point, phase in rad."""
        return q + swing * np.sin(phase) * self.shape


def modes(model: Model, q, joints: str = 'locked', count: int = 12) -> list[Mode]:
    """The lowest `count` elastic modes at q (n,). joints: `locked` holds them, `free` lets go."""
    if joints not in JOINTS:
        raise DynamicsError(f'joints: expected one of {", ".join(JOINTS)}, found {joints!r}')
    q = np.asarray(q, dtype=float)
    speeds, shapes = model.frequencies(q, joints)
    rest = _points(model, q)
    found: list[Mode] = []
    for speed, shape in zip(speeds, shapes.T):
        if speed / (2.0 * np.pi) < STILL or len(found) == count:
            continue
        small = 1e-6 / max(float(np.abs(shape).max()), 1e-300)
        moved = float(np.linalg.norm(_points(model, q + small * shape) - rest, axis=1).max())
        if moved > 0.0:
            found.append(Mode(float(speed / (2.0 * np.pi)), shape * (small / moved)))
    return found


def _points(model: Model, q: np.ndarray) -> np.ndarray:
    """Points (k, 3) all over the robot, and a hand's breadth off each beam: twist moves those."""
    lines = list(outline(model, q).values())
    for link in model.robot.links:
        if link.flexible is not None:
            pose = model.pose(q, link.name, link.flexible.length)
            lines.append((pose[:3, 3] + 0.05 * link.flexible.length * pose[:3, 1])[None])
    return np.concatenate(lines)
