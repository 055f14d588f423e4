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
"""Linear models about any state: A and B of d(q, v)/dt.

With I(q, v, a) = M a + C v + g, accelerations obey I + K q + D v + friction(v) = B tau, so that

    da/dq = -M^-1 (dI/dq + K)   and   da/dv = -M^-1 (dI/dv + D + dfriction/dv)

at constant a. K, D and the slope of Coulomb friction are known exactly. I has no poles, as
M^-1 has: in a joint angle it has few harmonics, in an amplitude it is a low power times the sine
and cosine of the turn of a section. So a stencil of eighth order errs by 1e-13 with a step as
large as 1/64 rad, at which rounding does no harm. In v it is a quadratic form, for which central
differences are exact with any step.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from flex_dynamics import checks
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.build.linear_beam import largest_turn
from flex_dynamics.kernels.base import layout
from flex_dynamics.model.constraints.linearization import (
    constrained_slopes,
    solve_constrained,
)

if TYPE_CHECKING:
    from flex_dynamics.model.data import Data
    from flex_dynamics.model.model import Model

STEP = 1.0 / 64.0                # rad that a joint or a section turns
SPEED = 1.0                      # rad/s, or the largest speed if that is more
# Central differences of eighth order: weights of f(x + k h) - f(x - k h), k = 1 ... 4, by h
WEIGHTS = (4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0)


def linearize(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
              data: Data | None = None) -> tuple[Array, Array]:
    """A (2n, 2n) and B (2n, n_joints) of d(q, v)/dt about (q, v, tau)."""
    n = model.n
    q, v = checks.state(model, q, v)
    data = model.create_data() if data is None else data
    tau = model.finite_vector(tau, 'tau', model.n_joints)
    a = model.forward_dynamics(q, v, tau, data=data)
    scales = _turns(model)
    by_position = model.stiffness_matrix() + _by_position(model, q, v, a, STEP / scales, data)
    by_speed = (model.damping_matrix() + _by_speed(model, q, v, 1.0 / scales, data)
                + _friction_slope(model, v))
    right = np.hstack((-by_position, -by_speed, model.input_matrix()))
    if model.robot.constraints:
        slopes = constrained_slopes(model, q, v, tau, STEP / scales, data)
        right[:, :n] -= slopes[0]
        rows = np.hstack((-slopes[1], -slopes[2], np.zeros((len(slopes[1]), model.n_joints))))
        solved = solve_constrained(model.mass_matrix(q, data),
                                   model.constraint_jacobian(q, data), right, rows)
    else:
        solved = _solve(model.mass_matrix(q, data), right)
    A, B = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, model.n_joints))
    A[:n, n:] = np.eye(n)
    A[n:], B[n:] = solved[:, :2 * n], solved[:, 2 * n:]
    return A, B


def _by_position(model: Model, q: Array, v: Array, a: Array, steps: Array, data: Data) -> Array:
    """dI/dq (n, n) at constant a."""
    force = model.backend.inertial_force
    slope = np.zeros((model.n, model.n))
    moved = q.copy()
    for j, step in enumerate(steps):
        for k, weight in enumerate(WEIGHTS, 1):
            moved[j] = q[j] + k * step
            ahead = force(moved, v, a, data)
            moved[j] = q[j] - k * step
            slope[:, j] += weight / step * (ahead - force(moved, v, a, data))
        moved[j] = q[j]
    return slope


def _by_speed(model: Model, q: Array, v: Array, units: Array, data: Data) -> Array:
    """dI/dv (n, n): exact but for rounding. units (n,): what to count a speed in."""
    force, still = model.backend.inertial_force, np.zeros(model.n)
    slope = np.zeros((model.n, model.n))
    steps = units * max(SPEED, float(np.max(np.abs(v) / units, initial=0.0)))
    moved = v.copy()
    for j, step in enumerate(steps):
        moved[j] = v[j] + step
        ahead = force(q, moved, still, data)
        moved[j] = v[j] - step
        slope[:, j] = (ahead - force(q, moved, still, data)) / (2.0 * step)
        moved[j] = v[j]
    return slope


def _friction_slope(model: Model, v: Array) -> Array:
    """d/dv (n, n) of Coulomb friction, which acts where applied_forces.py has it."""
    slope = np.zeros((model.n, model.n))
    packed = model.assembly.packed
    for row, body in zip(packed.table, packed.body, strict=True):
        if row[layout.DOF] == 1 and body[layout.COULOMB] > 0.0:
            column = np.zeros(model.n)
            column[row[layout.Q]] = 1.0
            if row[layout.PINNED] >= 0:
                column = model.input_matrix()[:, row[layout.Q]]
            rate = abs(body[layout.RATIO]) / layout.FRICTION_SPEED
            share = np.tanh(rate * (column @ v))
            slope += (body[layout.COULOMB] * rate * (1.0 - share * share)
                      * np.outer(column, column))
    return slope


def _turns(model: Model) -> Array:
    """By how much a unit of each coordinate turns something, rad: sets the size of its steps."""
    turns = np.ones(model.n)
    for node, fields in model.assembly.packed.fields.items():
        start = model.assembly.packed.table[node, layout.ELASTIC]
        turns[start:start + fields.n_modes] = largest_turn(fields)
    return turns


def _solve(mass: Array, right: Array) -> Array:
    """M^-1 right, with M scaled to a unit diagonal: amplitudes and joints differ in size."""
    scale = 1.0 / np.sqrt(np.diag(mass))
    factor = cho_factor(mass * np.outer(scale, scale), lower=True, check_finite=False)
    solved: Array = cho_solve(factor, scale[:, None] * right, check_finite=False)
    return scale[:, None] * solved
