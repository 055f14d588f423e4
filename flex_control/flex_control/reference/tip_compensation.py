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
"""Joint corrections that put the sagging tip where the straight robot's tip would be."""
from __future__ import annotations

import numpy as np

from flex_control.errors import ControlError
from flex_control.reference.static_load import StaticLoad
from flex_control.trajectories.base import Reference
from flex_dynamics import DynamicsError, Model

CLOSE = 1e-6             # m, of the tip
MOST_STEPS = 20
STEPS_IN_MOTION = 2      # an update apart the correction hardly changes, and the next goes on
MOST_CORRECTION = 0.5    # rad or m: beyond, the pose is out of the sagging robot's reach
SINGULAR = 1e-3          # m, singular values of the Jacobian below count as none
JUMP = 0.02              # rad or m between two updates: a step of the reference, without a speed


class TipCompensation:
    """Finds d with tip(q_d + d, sagging under gravity) = tip(q_d, straight), the least d.

    frame: a link or frame of the robot; empty: the last link. Newton's method with the joints'
    part of the Jacobian, from the correction of the update before.
    """

    def __init__(self, model: Model, frame: str = '') -> None:
        self._model = model
        self.frame = frame or model.robot.links[-1].name
        try:
            model.pose(np.zeros(model.n), self.frame)
        except DynamicsError as error:
            raise ControlError(f'tip_frame: {error}') from None
        self._static_load = StaticLoad(model)
        self._straight = np.zeros(model.n)
        self.reset()

    def reset(self) -> None:
        """Forget the correction before."""
        self._correction = np.zeros(self._model.n_joints)
        self._asked: np.ndarray | None = None
        self._found = False

    def carry(self, model: Model) -> None:
        """Go on with the model of the same robot with another payload, from this correction."""
        self._model, self._static_load = model, StaticLoad(model)
        self._asked, self._found = None, False

    def _near(self, joints: np.ndarray) -> bool:
        last = self._asked
        return last is not None and bool(np.abs(joints - last).max(initial=0.0) < JUMP)

    def correction(self, joints: np.ndarray) -> np.ndarray:
        """What to add (n_joints,) to the joints (n_joints,); the nearest to it if the sagging tip
        cannot get there."""
        if (self._found and self._asked is not None
                and np.array_equal(self._asked, joints)):
            return self._correction
        near = self._near(joints)
        model, count = self._model, self._model.n_joints
        self._straight[:count] = joints
        goal = model.pose(self._straight, self.frame)[:3, 3]
        found = self._correction.copy()
        self._found = False
        for _ in range(STEPS_IN_MOTION if near else MOST_STEPS):
            q, _ = self._static_load.equilibrium(joints + found)
            miss = goal - model.pose(q, self.frame)[:3, 3]
            if np.abs(miss).max() < CLOSE:
                self._found = True
                break
            found += least_step(model.jacobian(q, self.frame)[:3, :count], miss)
            found = np.clip(found, -MOST_CORRECTION, MOST_CORRECTION)
        self._asked, self._correction = np.array(joints), found
        return found

    def reference(self, wanted: Reference, period: float) -> Reference:
        """The wanted motion, corrected; the correction's speed is the difference over `period`
        (s)."""
        near, before = self._near(wanted.position), self._correction
        change = self.correction(wanted.position) - before
        rate = change / period if near and period > 0.0 else np.zeros_like(change)
        return Reference(wanted.position + self._correction, wanted.velocity + rate,
                         wanted.acceleration, wanted.jerk, wanted.snap)


def least_step(jacobian: np.ndarray, miss: np.ndarray) -> np.ndarray:
    """The least joint step (n_joints,) that moves the tip by miss (3,), leaving out directions in
    which the joints can hardly move it."""
    left, values, right = np.linalg.svd(jacobian, full_matrices=False)
    useful = values > SINGULAR
    step: np.ndarray = right[useful].T @ ((left[:, useful].T @ miss) / values[useful])
    return step
