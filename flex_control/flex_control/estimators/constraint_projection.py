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
"""Estimates of a robot with constraints, put back on them."""
from __future__ import annotations

import numpy as np

from flex_control.design.rest_model import RestModel
from flex_dynamics import Model

SMALLEST = 1e-9         # singular value of scaled rows, relative, below which it counts as zero


class ConstraintProjection:
    """The nearest positions and speeds that the constraints of a model allow.

    Nearest in kinetic energy at the pose of the last `begin`, and for positions in the metric
    M + K (1 s)^2, so that joints move and beams do not bend.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._holonomic = model.assembly.constraints.holonomic

    def begin(self, rest: RestModel) -> None:
        """Take the metric at the pose of `rest`."""
        stiffness = np.asarray(self._model.stiffness_matrix())
        self._by_position = np.linalg.inv(rest.M + stiffness)
        self._by_speed = np.linalg.inv(rest.M)

    def apply(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions after one step of Newton's method, and speeds there, each (n,)."""
        model, holonomic = self._model, self._holonomic
        A = model.constraint_jacobian(q)[holonomic]
        q = q - _nearest(A, self._by_position, model.constraint_error(q)[holonomic])
        A = model.constraint_jacobian(q)
        return q, v - _nearest(A, self._by_speed, A @ v)

    def accelerations(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """The accelerations nearest to a (n,) with which the constraints stay fulfilled."""
        A = self._model.constraint_jacobian(q)
        missing = A @ a + self._model.constraint_jacobian_rate(q, v) @ v
        found: np.ndarray = a - _nearest(A, self._by_speed, missing)
        return found


def _nearest(A: np.ndarray, inverse: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """The smallest x (n,) with A x = missing (m,), in the metric whose inverse (n, n) is given."""
    across = inverse @ A.T
    spread = A @ across
    sizes = np.sqrt(np.diag(spread))
    sizes[sizes == 0.0] = 1.0
    found: np.ndarray = across @ (np.linalg.pinv(spread / np.outer(sizes, sizes), SMALLEST,
                                                 hermitian=True) @ (missing / sizes) / sizes)
    return found
