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
"""The quasi-static deflection and the efforts of a desired joint motion."""
from __future__ import annotations

import numpy as np

from flex_control.errors import refuse_constraints
from flex_control.reference.constrained_reference import ConstrainedReference
from flex_control.trajectories.base import Feedforward, Reference
from flex_dynamics import Model
from flex_dynamics.simulation.simulation import amplitude_limits

MOST_SWEEPS = 20
CLOSE = 1e-10            # change of the deflection at which sweeps end
LARGEST_SHARE = 0.05     # of the amplitudes at which a motion counts as diverged
LARGEST = 1e6            # rad, of motors
FAST = 0.02              # rad or m between two updates: a jump, which has no speed


def deflected_reference(model: Model) -> DeflectedReference | ConstrainedReference:
    """The one for a tree, or for a robot with loops or supports."""
    return ConstrainedReference(model) if model.robot.constraints else DeflectedReference(model)


class DeflectedReference:
    """Elastic coordinates and efforts of a joint motion, quasi-statically.

    Solves  M a + C v + D v + K q + g = B tau  with the joints' wanted position, velocity and
    acceleration and elastic coordinates at rest. One factored slope serves all
    sweeps, and each update starts from the one before: in motion one sweep does. A motion that
    would bend a link by half its length has no such deflection: the one before is kept. close: the
    change of the deflection (m or rad) at which sweeps end.
    """

    def __init__(self, model: Model, close: float = CLOSE) -> None:
        refuse_constraints(model, 'deflected reference')
        self._model, self._close = model, close
        self.q, self.v = np.zeros(model.n), np.zeros(model.n)
        self._a = np.zeros(model.n)
        self.effort = np.zeros(model.n_joints)
        self._inputs = np.asarray(model.input_matrix())
        still = np.zeros(model.n)
        joints = model.n_joints
        slope = model.inverse_dynamics_derivatives(still, still, still).by_q
        self._inverse = np.linalg.inv(np.hstack((slope[:, joints:], -self._inputs)))
        self._reach = np.minimum(LARGEST_SHARE * amplitude_limits(model)[joints:], LARGEST)
        self._last: Reference | None = None
        self._settled = False

    def reset(self) -> None:
        """Forget the motion before, so that what follows is the same as from a new object."""
        self.q[:], self.v[:] = 0.0, 0.0
        self.effort = np.zeros(self._model.n_joints)
        self._last, self._settled = None, False

    def move_to(self, reference: Reference, period: float) -> None:
        """Set q, v (n,) and effort (n_joints,) for the wanted motion, `period` (s) after the last.

        Speeds of elastic coordinates are differences between updates; none after a jump. A
        reference that has a feedforward keeps it.
        """
        if reference.feedforward is not None:
            self._take(reference, reference.feedforward)
            return
        last = self._last
        if self._settled and last is not None and _same(last, reference):
            return
        joints = self._model.n_joints
        before, efforts = self.q[joints:].copy(), self.effort
        jump = (last is None or period <= 0.0
                or np.abs(reference.position - last.position).max(initial=0.0) > FAST)
        self.q[:joints], self.v[:joints] = reference.position, reference.velocity
        self._a[:joints] = reference.acceleration
        # Differences fed back into the deflection they come from would grow.
        self.v[joints:] = 0.0
        most = MOST_SWEEPS if jump or (last is not None and _same(last, reference)) else 1
        for _ in range(most):
            left = self._model.inverse_dynamics(self.q, self.v, self._a)
            step = self._inverse @ (left - self._inputs @ self.effort)
            self.q[joints:] -= step[:-joints]
            self.effort = self.effort - step[-joints:]
            if not (np.abs(self.q[joints:]) <= self._reach).all():
                self.q[joints:], self.effort, self._last = before, efforts, reference
                self._settled = False
                return
            if np.abs(step[:-joints]).max(initial=0.0) < self._close:
                break
        resting = not (reference.velocity.any() or reference.acceleration.any())
        if not (jump or resting):
            self.v[joints:] = (self.q[joints:] - before) / period
        self._settled = resting and bool(np.abs(step[:-joints]).max(initial=0.0)
                                              < self._close)
        self._last = reference

    def _take(self, reference: Reference, planned: Feedforward) -> None:
        self.q = np.concatenate((reference.position, planned.position))
        self.v = np.concatenate((reference.velocity, planned.velocity))
        self.effort = planned.effort
        self._last, self._settled = reference, False


def _same(one: Reference, other: Reference) -> bool:
    return one is other or (np.array_equal(one.position, other.position)
                            and np.array_equal(one.velocity, other.velocity)
                            and np.array_equal(one.acceleration, other.acceleration))
