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
"""Derivatives of forward dynamics: da = -M^-1 dI, I the inverse dynamics at the accelerations a.

M^-1 is applied by the factors that the recursion for a has left, to all columns together.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import (
    DOF,
    ELASTIC,
    FULL,
    GEAR,
    MODES,
    MOTOR,
    OPTIONS,
    PINNED,
    Q,
)
from flex_dynamics.kernels.base.vector import address_of
from flex_dynamics.kernels.base.workspace import carve
from flex_dynamics.kernels.derivatives.inverse_dynamics_derivatives import force_derivatives
from flex_dynamics.kernels.derivatives.passive_derivatives import add_passive_derivatives
from flex_dynamics.kernels.derivatives.responses import responses
from flex_dynamics.kernels.tree.applied_forces import applied_forces
from flex_dynamics.kernels.tree.recursive_forward_dynamics import forward_dynamics


@njit(**OPTIONS)
def set_inputs(table, body, coef, Y, column):
    """Y[:, column:] = B (n, joint coordinates): the mirror of applied_forces."""
    for i in range(table.shape[0]):
        at, modes, start = table[i, Q], table[i, MODES], table[i, ELASTIC]
        for m in range(table[i, DOF] if table[i, DOF] > 1 else 0):
            Y[at + m, column + at + m] = 1.0
        if table[i, DOF] != 1 or table[i, FULL] != at:
            continue
        if table[i, MOTOR] >= 0:
            Y[table[i, MOTOR], column + at] = 1.0 / body[i, GEAR]
            continue
        Y[at, column + at] = 1.0
        if table[i, PINNED] >= 0:
            for m in range(modes):
                Y[start + m, column + at] = coef[table[i, PINNED] + m]


@njit(**OPTIONS)
def forward_derivatives(m, space, q, v, tau, external, slope, a, force, by_q, by_v, M, Y):
    """Y (n, width) = da by q, v and tau side by side, zeros behind them; a (n,): accelerations.

    external (n,): generalised forces, or empty; slope (n, n): their derivative by q, or empty.
    force (n,), by_q, by_v, M (n, n): scratch. Returns what forward_dynamics returns.
    """
    n = a.shape[0]
    zeros = m.work[m.work.shape[0] - n:]
    applied_forces(m.table, m.body, m.coef, q, v, tau, force)
    for i in range(external.shape[0]):
        force[i] += external[i]
    status = forward_dynamics(m.table, m.body, m.coef, m.size, m.work, m.gravity, q, v, force,
                              zeros, 0.0, 0.0, a)
    if status:
        return status
    responses_space = force_derivatives(m, space, q, v, a, force, by_q, by_v, M)
    add_passive_derivatives(m.table, m.body, m.coef, v, by_q, by_v)
    for i in range(slope.shape[0]):
        for j in range(n):
            by_q[i, j] -= slope[i, j]
    for i in range(n):
        for j in range(n):
            Y[i, j] = -by_q[i, j]
            Y[i, n + j] = -by_v[i, j]
        for j in range(2 * n, Y.shape[1]):
            Y[i, j] = 0.0
    set_inputs(m.table, m.body, m.coef, Y, 2 * n)
    responses(m.table, m.body, carve(m.work, m.size), address_of(Y), Y.shape[1], responses_space)
    return 0
