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
"""Exact derivatives of the dynamics and of frames, by kernels/derivatives."""
from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from flex_dynamics import checks
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.kernels.base.layout import COULOMB, DOF, FRICTION_SPEED, PINNED, RATIO, Q
from flex_dynamics.model.backends.base import NO_FORCE
from flex_dynamics.model.constraints import linearization as constrained
from flex_dynamics.model.derivatives.frames import jacobian_slope, load_slope
from flex_dynamics.model.derivatives.solving import solve_mass
from flex_dynamics.model.loads import Loads, generalised_force, point_wrenches
from flex_dynamics.model.places import place

if TYPE_CHECKING:
    from flex_dynamics.model.data import Data
    from flex_dynamics.model.model import Model

NO_SLOPE = np.zeros((0, 0))


class ForwardDerivatives(NamedTuple):
    """Derivatives of accelerations by q (n, n), by v (n, n) and by tau (n, n_joints)."""

    by_q: Array
    by_v: Array
    by_tau: Array


class InverseDerivatives(NamedTuple):
    """Derivatives of generalised forces by q, by v and by a (n, n) each; the last is M."""

    by_q: Array
    by_v: Array
    by_a: Array


def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                     data: Data) -> InverseDerivatives:
    """Of M a + C v + D v + K q + g + friction."""
    q, v = checks.state(model, q, v)
    a = model.finite_vector(a, 'a', model.n)
    by_q, by_v, mass = model.backend.force_derivatives(q, v, a, data)
    return InverseDerivatives(by_q + model.stiffness_matrix(),
                              by_v + model.damping_matrix() + friction_slope(model, v), mass)


def gravity_force(model: Model, q: ArrayLike, data: Data) -> Array:
    """dg/dq (n, n)."""
    still = np.zeros(model.n)
    return model.backend.force_derivatives(checks.position(model, q), still, still, data)[0]


def forward_dynamics(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
                     wrenches: Loads | None, data: Data) -> tuple[Array, ForwardDerivatives]:
    """Accelerations (n,) and their derivatives; loads stay as they are in world axes."""
    external, slope = NO_FORCE, NO_SLOPE
    # Masked arrays are arrays to numba, which would not see the mask.
    if (wrenches is None and q.__class__ is np.ndarray and v.__class__ is np.ndarray
            and tau.__class__ is np.ndarray):
        found = model.backend.quick_forward_derivatives(q, v, tau, external, slope, data)
        if found is not None:
            return _split(model, *found)
    q, v = checks.state(model, q, v)
    tau = model.finite_vector(tau, 'tau', model.n_joints)
    if wrenches is not None:
        loads = point_wrenches(model, wrenches)
        external = generalised_force(model, q, loads, data)
        slope = load_slope(model, q, loads, data)
    found = model.backend.quick_forward_derivatives(q, v, tau, external, slope, data)
    if found is not None:
        return _split(model, *found)
    a = model.backend.forward_dynamics(q, v, tau, external, data)
    return a, _solved(model, q, v, a, tau, wrenches, slope, data)


def _split(model: Model, a: Array, solved: Array) -> tuple[Array, ForwardDerivatives]:
    n, joints = model.n, model.n_joints
    return a, ForwardDerivatives(solved[:, :n].copy(), solved[:, n:2 * n].copy(),
                                 solved[:, 2 * n:2 * n + joints].copy())


def _solved(model: Model, q: Array, v: Array, a: Array, tau: Array, wrenches: Loads | None,
            slope: Array, data: Data) -> ForwardDerivatives:
    """By a solution with M in full, and the constraints if there are some."""
    n = model.n
    by = inverse_dynamics(model, q, v, a, data)
    right = np.hstack((-by.by_q, -by.by_v, model.input_matrix()))
    if slope.size:
        right[:, :n] += slope
    if model.robot.constraints:
        solved = constrained.solve_slopes(model, q, v, tau, wrenches, by.by_a, right, data)
    else:
        solved = solve_mass(by.by_a, right)
    return ForwardDerivatives(*np.split(solved, (n, 2 * n), axis=1))


def friction_slope(model: Model, v: Array) -> Array:
    """d/dv (n, n) of Coulomb friction, which acts where applied_forces.py has it."""
    slope = np.zeros((model.n, model.n))
    packed = model.assembly.packed
    if not packed.body[:, COULOMB].any():
        return slope
    for row, body in zip(packed.table, packed.body, strict=True):
        if row[DOF] == 1 and body[COULOMB] > 0.0:
            column = np.zeros(model.n)
            column[row[Q]] = 1.0
            if row[PINNED] >= 0:
                column = model.input_matrix()[:, row[Q]]
            rate = abs(body[RATIO]) / FRICTION_SPEED
            share = np.tanh(rate * (column @ v))
            slope += body[COULOMB] * rate * (1.0 - share * share) * np.outer(column, column)
    return slope


def jacobian(model: Model, q: ArrayLike, frame: str, x: float | None, data: Data) -> Array:
    """(6, n, n): [:, m, j] is the derivative of the Jacobian's column m by q_j."""
    q = checks.position(model, q)
    return jacobian_slope(q, *place(model.assembly, frame, x, data), data)


def pose(model: Model, q: ArrayLike, frame: str, x: float | None, data: Data) -> Array:
    """(n, 4, 4): [j] is the derivative of the pose by q_j."""
    q = checks.position(model, q)
    at, columns, _ = model.frame_motion(q, np.zeros(model.n), frame, x, data)
    slope = np.zeros((model.n, 4, 4))
    slope[:, :3, 3] = columns[:3].T
    # o x R, column by column of R.
    slope[:, :3, :3] = np.cross(columns[3:].T[:, None, :], at[:3, :3].T[None]).swapaxes(1, 2)
    return slope
