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
"""Linear models of constrained motion about any state.

With I = M a + C v + g and the multipliers l, accelerations obey I - A'l + K q + D v + friction(v)
= B tau and A a + A_rate v = 0. Both are differentiated at constant a and l by the kernels of
kernels/derivatives. Then one solution with M and A gives da.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flex_dynamics.arrays import Array
from flex_dynamics.model.backends.base import NO_FORCE
from flex_dynamics.model.backends.constrained import ConstrainedBackend
from flex_dynamics.model.constraints.reactions import solve
from flex_dynamics.model.derivatives.frames import jacobian_slope
from flex_dynamics.model.loads import Loads

if TYPE_CHECKING:
    from flex_dynamics.model.data import Data
    from flex_dynamics.model.model import Model


def solve_slopes(model: Model, q: Array, v: Array, tau: Array, wrenches: Loads | None,
                 mass: Array, right: Array, data: Data) -> Array:
    """Derivatives of accelerations (n, 2n + n_joints) from those of the tree's forces, `right`,
    to which what constraints add comes here."""
    found = solve(model, q, v, tau, wrenches, data)[0]
    force, by_q, by_v = constrained_slopes(model, q, v, found.acceleration, found.multipliers,
                                           data)
    right[:, :model.n] += force
    rows = np.hstack((-by_q, -by_v, np.zeros((len(by_q), model.n_joints))))
    return solve_constrained(mass, model.constraint_jacobian(q, data), right, rows)


def constrained_slopes(model: Model, q: Array, v: Array, a: Array, multipliers: Array,
                       data: Data) -> tuple[Array, Array, Array]:
    """Derivatives of A'l by q (n, n), and of A a + A_rate v by q and by v (m, n)."""
    backend = model.backend
    assert isinstance(backend, ConstrainedBackend)
    slopes = backend.slopes(q, v, a, multipliers, data)
    ends, offset = data.backend_scratch.arrays, np.eye(4)
    for node, pose, pull in zip(ends.end_nodes, ends.end_poses, slopes.pulls, strict=True):
        if node >= 0 and pull.any():
            offset[:3, 3] = pose[9:]
            slopes.force[:] += np.tensordot(
                pull, jacobian_slope(q, int(node), NO_FORCE, offset, data), 1)
    return slopes.force, slopes.by_q, slopes.by_v


def solve_constrained(mass: Array, A: Array, force: Array, rows: Array) -> Array:
    """x (n, k) with M x - A'l = force (n, k) and A x = rows (m, k), redundant rows allowed."""
    scale = 1.0 / np.sqrt(np.diag(mass))
    root = np.linalg.cholesky(mass * np.outer(scale, scale))
    free = np.linalg.solve(root, scale[:, None] * force)
    across = np.linalg.solve(root, (A * scale).T)
    found = free + np.linalg.pinv(across.T, rcond=1e-10) @ (rows - across.T @ free)
    x: Array = scale[:, None] * np.linalg.solve(root.T, found)
    return x
