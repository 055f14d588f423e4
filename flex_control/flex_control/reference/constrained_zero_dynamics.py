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
"""The elastic motion of a robot with loops whose commanded joints are on their reference."""
from __future__ import annotations

import numpy as np

from flex_control.reference.constrained_reference import ConstrainedReference
from flex_control.trajectories.base import Reference
from flex_dynamics import Model

STABILISATION = 0.2      # share of a constraint's error that one period takes away
SMALLEST = 1e-11         # singular value, relative, of what redundant constraints leave open


class ConstrainedZeroDynamics:
    """M a + C v + D v + K q + g = A' multipliers + B tau with the commanded joints prescribed.

    All other coordinates follow, by the implicit midpoint rule for stiffness and damping; what is
    left of the constraints is taken away at every update.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._rest = ConstrainedReference(model)
        self._inputs = np.asarray(model.input_matrix())[:, self._rest.places]
        self._stiffness = np.array(model.stiffness_matrix())
        self._damping = np.array(model.damping_matrix())
        self.q, self.v = np.zeros(model.n), np.zeros(model.n)

    def begin(self, reference: Reference) -> None:
        """At rest where the reference is."""
        self._rest.reset()
        self._rest.move_to(Reference.at_rest(reference.position), 0.0)
        self.q, self.v = self._rest.q.copy(), np.zeros(self._model.n)

    def step(self, wanted: Reference, extra: np.ndarray, period: float) -> np.ndarray:
        """Efforts (n_joints,) of the motion over the next `period` (s); extra (n, n): damping
        besides the model's own."""
        model, places, n = self._model, self._rest.places, self._model.n
        q, v = self.q, self.v
        q[places], v[places] = wanted.position[places], wanted.velocity[places]
        A = np.array(model.constraint_jacobian(q))
        per_period = STABILISATION / period if period > 0.0 else 0.0
        missing = (model.constraint_jacobian_rate(q, v) @ v + 2.0 * per_period * (A @ v)
                   + per_period**2 * np.where(model.assembly.constraints.holonomic,
                                              model.constraint_error(q), 0.0))
        half, mass = 0.5 * period, model.mass_matrix(q)
        damping = self._damping + extra
        force = (model.inverse_dynamics(q, v, np.zeros(n)) + extra @ v
                 + half * self._stiffness @ v)
        rows, size = len(A), len(A) + len(places)
        matrix = np.zeros((n + size, n + size))
        matrix[:n, :n] = mass + half * damping + half**2 * self._stiffness
        matrix[:n, n:n + rows], matrix[:n, n + rows:] = -A.T, -self._inputs
        matrix[n:n + rows, :n] = A
        matrix[range(n + rows, n + size), places] = 1.0
        scale = np.concatenate((1.0 / np.sqrt(np.diag(matrix)[:n]), np.ones(size)))
        right = np.concatenate((-force, -missing, wanted.acceleration[places]))
        found = scale * np.linalg.lstsq(scale[:, None] * matrix * scale, scale * right,
                                        rcond=SMALLEST)[0]
        efforts = np.zeros(model.n_joints)
        efforts[places] = found[n + rows:]
        q += period * (v + 0.5 * period * found[:n])
        v += period * found[:n]
        return efforts
