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
= B tau and A a + A_rate v = 0. Both are differentiated at constant a and l: what the tree has by
kernels/derivatives, and A by the stencils of backends/stencils.py. Then one solution with M and A
gives da.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flex_dynamics.arrays import Array
from flex_dynamics.model.backends.stencils import STEP, WEIGHTS, turns
from flex_dynamics.model.constraints.reactions import solve
from flex_dynamics.model.constraints.terms import terms
from flex_dynamics.model.loads import Loads

if TYPE_CHECKING:
    from flex_dynamics.model.data import Data
    from flex_dynamics.model.model import Model


def solve_slopes(model: Model, q: Array, v: Array, tau: Array, wrenches: Loads | None,
                 mass: Array, right: Array, data: Data) -> Array:
    """Derivatives of accelerations (n, 2n + n_joints) from those of the tree's forces, `right`,
    to which what constraints add comes here."""
    n = model.n
    slopes = constrained_slopes(model, q, v, tau, wrenches, STEP / turns(model.assembly), data)
    right[:, :n] -= slopes[0]
    rows = np.hstack((-slopes[1], -slopes[2], np.zeros((len(slopes[1]), model.n_joints))))
    return solve_constrained(mass, model.constraint_jacobian(q, data), right, rows)


def constrained_slopes(model: Model, q: Array, v: Array, tau: Array, wrenches: Loads | None,
                       steps: Array, data: Data) -> tuple[Array, Array, Array]:
    """What constraints add: d(-A'l)/dq (n, n), and d(A a + A_rate v) by q and by v (m, n)."""
    found = solve(model, q, v, tau, wrenches, data)[0]
    a, multipliers = found.acceleration, found.multipliers
    m, n = len(multipliers), model.n
    force, by_position, by_speed = np.zeros((n, n)), np.zeros((m, n)), np.zeros((m, n))
    moved = q.copy()
    for j, step in enumerate(steps):
        for k, weight in enumerate(WEIGHTS, 1):
            for sign in (1.0, -1.0):
                moved[j] = q[j] + sign * k * step
                arrays = terms(model, moved, v, data)
                share = sign * weight / step
                force[:, j] -= share * (arrays.A.T @ multipliers)
                by_position[:, j] += share * (arrays.A @ a + arrays.A_rate @ v)
        moved[j] = q[j]
    size = max(1.0, float(np.abs(v).max(initial=0.0)))
    for j in range(n):
        for sign in (1.0, -1.0):
            speed = v.copy()
            speed[j] += sign * size
            by_speed[:, j] += sign * (terms(model, q, speed, data).A_rate @ speed) / (2.0 * size)
    return force, by_position, by_speed


def solve_constrained(mass: Array, A: Array, force: Array, rows: Array) -> Array:
    """x (n, k) with M x - A'l = force (n, k) and A x = rows (m, k), redundant rows allowed."""
    scale = 1.0 / np.sqrt(np.diag(mass))
    root = np.linalg.cholesky(mass * np.outer(scale, scale))
    free = np.linalg.solve(root, scale[:, None] * force)
    across = np.linalg.solve(root, (A * scale).T)
    found = free + np.linalg.pinv(across.T, rcond=1e-10) @ (rows - across.T @ free)
    x: Array = scale[:, None] * np.linalg.solve(root.T, found)
    return x
