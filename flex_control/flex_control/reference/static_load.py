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
"""Efforts that hold a robot at rest, with its deflection, fast enough for every update."""
from __future__ import annotations

import numpy as np

from flex_control.reference.constrained_reference import ConstrainedReference
from flex_control.trajectories.base import Reference
from flex_dynamics import Model

MOST_SWEEPS = 20
TOLERANCE = 1e-9


class StaticLoad:
    """Solves K q + g(q) = B tau for the efforts and the elastic part of q at given joints.

    The unknowns enter linearly but for g, which changes little with deflection: sweeps with one
    inverse, each from the last pose's deflection, replace Newton's method. With constraints only
    the commanded ones of the joints count (ConstrainedReference).
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._constrained: ConstrainedReference | None = None
        if model.robot.constraints:
            self._constrained = ConstrainedReference(model)
            return
        joints = model.n_joints
        stiffness = model.stiffness_matrix()
        self._joint_stiffness = stiffness[:, :joints]
        matrix = np.hstack((stiffness[:, joints:], -model.input_matrix(np.zeros(model.n))))
        self._inverse = np.linalg.inv(matrix)
        self._q = np.zeros(model.n)
        self._still = np.zeros(model.n)
        self._efforts = np.zeros(joints)
        self._asked: np.ndarray | None = None

    def efforts(self, joints: np.ndarray) -> np.ndarray:
        """Efforts (n_joints,) that hold the joints (n_joints,) against gravity."""
        return self.equilibrium(joints)[1]

    def equilibrium(self, joints: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates (n,) of the robot at rest with these joints, and the efforts (n_joints,)
        that hold it; both are overwritten by the next call."""
        if self._constrained is not None:
            self._constrained.move_to(Reference.at_rest(joints), 0.0)
            return self._constrained.q, self._constrained.effort
        if self._asked is not None and np.array_equal(self._asked, joints):
            return self._q, self._efforts
        count = self._model.n_joints
        self._q[:count] = joints
        for _ in range(MOST_SWEEPS):
            load = self._model.bias_force(self._q, self._still)
            solved = self._inverse @ (-load - self._joint_stiffness @ joints)
            change = np.abs(solved[:-count] - self._q[count:]).max(initial=0.0)
            self._q[count:] = solved[:-count]
            if change < TOLERANCE:
                break
        self._asked, self._efforts = np.array(joints), solved[-count:]
        return self._q, self._efforts
