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
"""The quasi-static motion of all coordinates, and the efforts, of commanded joints with loops."""
from __future__ import annotations

import numpy as np

from flex_control.commanded_joints import commanded_places, rigid_motion, start_pose
from flex_control.trajectories.base import Reference
from flex_dynamics import Model
from flex_dynamics.simulation.simulation import amplitude_limits

MOST_SWEEPS = 20
CLOSE = 1e-10            # change of positions at which sweeps end
LARGEST_SHARE = 0.05     # of the amplitudes at which a motion counts as diverged
LARGEST = 1e6            # rad, of motors
FAST = 0.02              # rad or m between two updates: a jump, which has no speed
SMALLEST = 1e-11         # singular value, relative, of what redundant constraints leave open


class ConstrainedReference:
    """What DeflectedReference is for a tree: q, v (n,) and effort (n_joints,) of a wanted motion.

    Of the reference only the commanded joints count. Solves  M a + C v + D v + K q + g =
    A' multipliers + B tau  with the constraints for all other positions, the multipliers and the
    efforts of the commanded joints; accelerations and speeds are those of straight links. Each
    update starts from the one before. A motion that bends a link by half its length, or that the
    constraints do not allow, has no such solution: the one before is kept.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        joints = model.n_joints
        self.places = commanded_places(model)
        self._others = np.setdiff1d(np.arange(joints), self.places)
        self._free = np.concatenate((self._others, np.arange(joints, model.n)))
        self._inputs = np.asarray(model.input_matrix())[:, self.places]
        self._stiffness = np.asarray(model.stiffness_matrix())
        self._holonomic = model.assembly.constraints.holonomic
        self._start = start_pose(model)
        self._scale = 1.0 / np.sqrt(np.diag(model.mass_matrix(self._start))
                                    + np.diag(self._stiffness))
        self._reach = np.minimum(LARGEST_SHARE * amplitude_limits(model)[joints:], LARGEST)
        self._still = np.zeros(model.n)
        self.reset()

    def reset(self) -> None:
        """Forget the motion before, so that what follows is the same as from a new object."""
        self.q, self.v, self.a = self._start.copy(), np.zeros(self._model.n), np.zeros(
            self._model.n)
        self.effort = np.zeros(self._model.n_joints)
        self._last: Reference | None = None
        self._settled = False

    def move_to(self, reference: Reference, period: float) -> None:
        """Set q, v (n,) and effort (n_joints,) for the wanted motion, `period` (s) after the last.
        """
        joints, places, last = self._model.n_joints, self.places, self._last
        if self._settled and last is not None and self._same(last, reference):
            return
        before = self.q.copy(), self.v.copy(), self.effort
        way = reference.position[places] - self.q[places]
        jump = (last is None or period <= 0.0
                or bool((np.abs(reference.position - last.position)[places] > FAST).any()))
        resting = not (reference.velocity[places].any() or reference.acceleration[places].any())
        self._last, self._settled = reference, False
        self.v[:], self.a[:] = 0.0, 0.0
        count = int(np.ceil(np.abs(way).max(initial=0.0) / FAST)) if jump else 1
        for k in range(1, max(count, 1)):
            self.q[places] = before[0][places] + way * (k / count)
            if not self._sweep() < np.inf:
                self.q, self.v, self.effort = before
                return
        self.q[places] = reference.position[places]
        change = np.inf
        for _ in range(MOST_SWEEPS if jump or resting else 1):
            self._set_rates(reference)
            change = self._sweep()
            if change < CLOSE or not change < np.inf:
                break
        if not change < np.inf:
            self.q, self.v, self.effort = before
            return
        if not (jump or resting):
            self.v[joints:] = (self.q[joints:] - before[0][joints:]) / period
        self._settled = resting and change < CLOSE

    def completed(self, reference: Reference) -> Reference:
        """The reference after move_to, with the joints that follow where they are then."""
        joints, found = self._model.n_joints, [np.array(part) for part in (
            reference.position, reference.velocity, reference.acceleration)]
        for part, own in zip(found, (self.q, self.v, self.a), strict=True):
            part[self._others] = own[:joints][self._others]
        return Reference(*found)

    def _set_rates(self, reference: Reference) -> None:
        """Speeds and accelerations of all joints, links not bending."""
        model, places, others = self._model, self.places, self._others
        motion = rigid_motion(model, self.q, places)
        self.v = motion @ reference.velocity[places]
        self.a = motion @ reference.acceleration[places]
        if len(others) and self.v.any():
            left = model.constraint_jacobian_rate(self.q, self.v) @ self.v
            A = model.constraint_jacobian(self.q)[:, others]
            self.a[others] -= np.linalg.lstsq(A, left, rcond=1e-9)[0]

    def _sweep(self) -> float:
        """One step of Newton's method with the stiffness of the links; the largest change of a
        position, infinite if the motion has diverged."""
        model, free, n = self._model, self._free, self._model.n
        A = np.array(model.constraint_jacobian(self.q))
        error = np.where(self._holonomic, model.constraint_error(self.q), 0.0)
        force = model.inverse_dynamics(self.q, self.v, self.a)
        rows = len(A)
        matrix = np.zeros((n + rows, n + rows))
        matrix[:n, :len(free)] = self._stiffness[:, free]
        matrix[:n, len(free):len(free) + rows] = -A.T
        matrix[:n, len(free) + rows:] = -self._inputs
        matrix[n:, :len(free)] = A[:, free]
        across = np.concatenate((self._scale[free], np.ones(rows + len(self.places))))
        down = np.concatenate((self._scale, np.ones(rows)))
        step = across * np.linalg.lstsq(down[:, None] * matrix * across,
                                        -down * np.concatenate((force, error)),
                                        rcond=SMALLEST)[0]
        self.q[free] += step[:len(free)]
        joints = model.n_joints
        if not (np.abs(self.q[joints:]) <= self._reach).all() or not (
                np.abs(step[:len(free)]) < 1.0).all():
            return np.inf
        self.effort = np.zeros(joints)
        self.effort[self.places] = step[len(free) + rows:]
        return float(np.abs(step[:len(free)]).max(initial=0.0))

    def _same(self, one: Reference, other: Reference) -> bool:
        return one is other or all(np.array_equal(a[self.places], b[self.places]) for a, b in (
            (one.position, other.position), (one.velocity, other.velocity),
            (one.acceleration, other.acceleration)))
