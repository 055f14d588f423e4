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
"""An input shaper for the modes of a robot at a pose."""
from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from flex_control.commanded_joints import ClosedPoses
from flex_control.errors import ControlError
from flex_control.shaping.impulses import Impulses, heights_of
from flex_control.shaping.modes import ringing_modes
from flex_dynamics import Model

CLOSE = 0.1      # frequencies nearer than this share are one mode to the shaper
MOST_MODES = 4


class Shaper:
    """Impulses that leave the lowest modes at a pose without residual vibration.

    Modes closer than a tenth of their frequency (the two bending planes of a round tube) count as
    one.

    Parameters
    ----------
    model : flex_dynamics.Model
        The robot.
    name : str
        'zv', 'zvd', 'zvdd' or 'ei'.
    modes : int
        How many modes are shaped, lowest first; 1 to 4.
    joint_stiffness, joint_damping : array-like, shape (n_joints,), optional
        Gains of the joints' PD loop, N m/rad and N m s/rad (prismatic: N/m and N s/m). Without
        them the joints are taken to follow their reference exactly.

    Examples
    --------
    >>> from flex_control import MinimumJerk, Shaped, Shaper
    >>> from flex_description import load_robot
    >>> from flex_dynamics import Model
    >>> shaper = Shaper(Model(load_robot('lab_link')), 'zvd')
    >>> shaped = Shaped(MinimumJerk([0.0], [1.0], 1.0), shaper)
    >>> shaped.end > 1.0 and shaped.delay == shaped.end - 1.0
    True
    """

    def __init__(self, model: Model, name: str = 'zvd', modes: int = 1,
                 joint_stiffness: ArrayLike | None = None,
                 joint_damping: ArrayLike | None = None) -> None:
        self._closed = ClosedPoses(model) if model.robot.constraints else None
        heights_of(name, 0.0)
        if not 1 <= modes <= MOST_MODES:
            raise ControlError(f'modes: expected 1 to {MOST_MODES}, found {modes}')
        self.model, self.name, self.modes = model, name, int(modes)
        self._gains = joint_stiffness, joint_damping

    def _damped(self, joints: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        q = np.zeros(self.model.n)
        q[:self.model.n_joints] = joints
        if self._closed is not None:      # of the joints, the commanded ones count
            q = self._closed.at(q[:self.model.n_joints])
        # Each plane of bending has a mode of its own near that of the other one.
        frequencies, ratios = ringing_modes(self.model, q, 3 * self.modes, *self._gains)
        return frequencies * np.sqrt(1.0 - ratios**2), ratios

    def groups_at(self, joints: ArrayLike) -> list[list[int]]:
        """Which modes, counted from the lowest, are taken together at these joints."""
        damped, _ = self._damped(joints)
        groups: list[list[int]] = []
        for at, frequency in enumerate(damped):
            if groups and frequency < (1.0 + CLOSE) * damped[groups[-1][0]]:
                groups[-1].append(at)
            else:
                groups.append([at])
        return groups[:self.modes]

    def modes_at(self, joints: ArrayLike,
                 groups: list[list[int]] | None = None) -> list[tuple[float, float]]:
        """(damped frequency rad/s, damping ratio) of each mode to shape at these joints, lowest
        first; fewer than asked where the robot has fewer.

        groups: those of another pose, so that frequencies change continuously from there to here.
        """
        damped, ratios = self._damped(joints)
        if not len(damped):
            return []
        most = len(damped) - 1
        chosen = self.groups_at(joints) if groups is None else groups
        return [(float(np.mean([damped[min(at, most)] for at in group])),
                 float(np.mean([ratios[min(at, most)] for at in group]))) for group in chosen]

    def impulses_at(self, joints: ArrayLike) -> Impulses:
        """The shaper for a robot that stays near this pose."""
        total = Impulses(np.ones(1), np.zeros(1))
        for damped, ratio in self.modes_at(joints):
            natural = damped / math.sqrt(1.0 - ratio**2)
            total = total.convolved(Impulses.of(self.name, natural, ratio))
        return total
