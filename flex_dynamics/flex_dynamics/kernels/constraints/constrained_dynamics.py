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
"""Forward dynamics with constraints: the tree's recursion, then the forces that keep them.

M a + bias = force + A' multiplier and A a = -A_rate v (Mladenova (244), (248)): with the tree's
own acceleration u, A M^-1 A' multiplier = -A_rate v - A u. O(nodes) for each row, and the third
power of the number of rows.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.finite import BAD_INPUT, LARGEST, LARGEST_POSITION, finite
from flex_dynamics.kernels.base.handle import open_handle
from flex_dynamics.kernels.base.layout import ENTRY
from flex_dynamics.kernels.base.workspace import carve
from flex_dynamics.kernels.constraints.constraint_arrays import open_constraints
from flex_dynamics.kernels.constraints.constraint_rows import jacobian_here
from flex_dynamics.kernels.constraints.multipliers import (
    add_response,
    factor_schur,
    solve_schur,
)
from flex_dynamics.kernels.tree.applied_forces import applied_forces
from flex_dynamics.kernels.tree.kinematics import kinematics
from flex_dynamics.kernels.tree.recursive_forward_dynamics import (
    keep_rotor_rates,
    own_inertia,
    solve_sweeps,
)


@njit(**ENTRY)
def constrained_accelerations(handle, constraints, q, v, tau, external, a):
    """a (n,) as state_dynamics.accelerations has it, with constraints.

    Their multipliers, rows, Jacobian and its rate stay in the arrays of `constraints`. Returns
    (status, rank): status as that of accelerations; rank: number of independent rows.
    """
    m, c, n = open_handle(handle), open_constraints(constraints, 0), a.shape[0]
    if not (q.shape[0] == n and v.shape[0] == n and tau.shape[0] == m.n_joints
            and finite(q, LARGEST_POSITION) and finite(v, LARGEST) and finite(tau, LARGEST)):
        return BAD_INPUT, 0
    table, body, coef, end = m.table, m.body, m.coef, m.work.shape[0]
    force, zeros = m.work[end - 2 * n:end - n], m.work[end - n:]
    applied_forces(table, body, coef, q, v, tau, force)
    for i in range(external.shape[0]):
        force[i] += external[i]
    w = carve(m.work, m.size)
    kinematics(table, body, coef, q, v, w, True)
    jacobian_here(table, body, w, v, c, True)
    own_inertia(table, body, coef, q, v, w)
    keep_rotor_rates(table, v, w)
    status = solve_sweeps(table, body, coef, force, zeros, 0.0, 0.0, m.gravity, w, a)
    if status:
        return status, 0
    rank = factor_schur(table, body, w, c)
    for r in range(c.A.shape[0]):
        s = 0.0
        for k in range(n):
            s -= c.A_rate[r, k] * v[k] + c.A[r, k] * a[k]
        c.right[r] = s
    solve_schur(c, rank, c.right, c.multiplier)
    add_response(c, c.multiplier, a)
    return 0, rank
