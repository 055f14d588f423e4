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
"""Natural modes of the whole robot at a pose, for animation."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from flex_dynamics import DynamicsError, Model
from flex_viz.geometry.outline import outline

JOINTS = ('locked', 'free')
LOWEST = 1e-3      # Hz; below is a rigid-body motion without restoring force


@dataclass(frozen=True)
class Mode:
    """Frequency (Hz) and shape (n,) of a natural mode.

    The shape is scaled so that, to first order, the point of the robot that moves most moves 1 m:
    an amplitude of 1 is 1 m.
    """

    frequency: float
    shape: np.ndarray

    def at(self, q: np.ndarray, swing: float, phase: float) -> np.ndarray:
        """State (n,) of the mode about q (n,): `swing` is the amplitude, m, of the point that
        moves most, `phase` is in rad."""
        return q + swing * np.sin(phase) * self.shape


def natural_modes(model: Model, q: npt.ArrayLike, joints: str = 'locked',
                  count: int = 12) -> list[Mode]:
    """The lowest `count` elastic modes at q (n,), by frequency.

    joints: `locked` holds the joints, `free` lets them move. Rigid-body motions are left out.
    """
    if joints not in JOINTS:
        raise DynamicsError(f'joints: expected one of {", ".join(JOINTS)}, found {joints!r}')
    q = np.asarray(q, dtype=float)
    speeds, shapes = model.frequencies(q, joints)
    rest = _points(model, q)
    found: list[Mode] = []
    for speed, shape in zip(speeds, shapes.T):
        if speed / (2.0 * np.pi) < LOWEST or len(found) == count:
            continue
        small = 1e-6 / max(float(np.abs(shape).max()), 1e-300)
        moved = float(np.linalg.norm(_points(model, q + small * shape) - rest, axis=1).max())
        if moved > 0.0:
            found.append(Mode(float(speed / (2.0 * np.pi)), shape * (small / moved)))
    return found


def _points(model: Model, q: np.ndarray) -> np.ndarray:
    """Points (k, 3) all over the robot, and one beside the end of each beam, moved by twist."""
    lines = list(outline(model, q).values())
    for link in model.robot.links:
        if link.flexible is not None:
            pose = model.pose(q, link.name, link.flexible.length)
            lines.append((pose[:3, 3] + 0.05 * link.flexible.length * pose[:3, 1])[None])
    return np.concatenate(lines)
