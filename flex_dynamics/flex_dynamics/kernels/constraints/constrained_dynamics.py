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
own acceleration u, A M^-1 A' multiplier = -A_rate v - A u. The right-hand side is what the ends'
accelerations by u miss, so A and A_rate are not formed. O(nodes) for each row, and the third power
of the number of rows.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.finite import BAD_INPUT, LARGEST, LARGEST_POSITION, finite
from flex_dynamics.kernels.base.handle import open_handle
from flex_dynamics.kernels.base.layout import ENTRY, OPTIONS, ROW
from flex_dynamics.kernels.base.vector import shifted
from flex_dynamics.kernels.base.workspace import carve
from flex_dynamics.kernels.constraints.constraint_arrays import (
    FIRST,
    SECOND,
    open_constraints,
)
from flex_dynamics.kernels.constraints.constraint_rows import lines_here
from flex_dynamics.kernels.constraints.multipliers import (
    apply_multipliers,
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


@njit(**OPTIONS)
def end_acceleration(gravity, w, c, e):
    """Acceleration of the origin and angular acceleration of an end, world axes, from what
    solve_sweeps has left: there gravity is an upward acceleration of the base."""
    node = c.end_nodes[e]
    if node < 0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    R, V, d, acc = c.R_world[node], w.V[node], c.end_poses[e], shifted(w.acc, ROW * node)
    # In the node's axes: speed of the origin, then the acceleration that a point there has.
    l0 = V[3] + V[1] * d[11] - V[2] * d[10]
    l1 = V[4] + V[2] * d[9] - V[0] * d[11]
    l2 = V[5] + V[0] * d[10] - V[1] * d[9]
    b0 = acc[3] + acc[1] * d[11] - acc[2] * d[10] + V[1] * l2 - V[2] * l1
    b1 = acc[4] + acc[2] * d[9] - acc[0] * d[11] + V[2] * l0 - V[0] * l2
    b2 = acc[5] + acc[0] * d[10] - acc[1] * d[9] + V[0] * l1 - V[1] * l0
    return (R[0, 0] * b0 + R[0, 1] * b1 + R[0, 2] * b2 + gravity[0],
            R[1, 0] * b0 + R[1, 1] * b1 + R[1, 2] * b2 + gravity[1],
            R[2, 0] * b0 + R[2, 1] * b1 + R[2, 2] * b2 + gravity[2],
            R[0, 0] * acc[0] + R[0, 1] * acc[1] + R[0, 2] * acc[2],
            R[1, 0] * acc[0] + R[1, 1] * acc[1] + R[1, 2] * acc[2],
            R[2, 0] * acc[0] + R[2, 1] * acc[1] + R[2, 2] * acc[2])


@njit(**OPTIONS)
def set_missing_accelerations(gravity, w, c):
    """c.right = -(A u + A_rate v) of the rows, u being the accelerations without them."""
    for r in range(c.rows.shape[0]):
        one, two, line = c.rows[r, FIRST], c.rows[r, SECOND], c.lines[r]
        a, b = end_acceleration(gravity, w, c, one), end_acceleration(gravity, w, c, two)
        v1, v2 = c.speeds[one], c.speeds[two]
        s = (line[0] * (b[0] - a[0]) + line[1] * (b[1] - a[1]) + line[2] * (b[2] - a[2])
             + line[3] * a[3] + line[4] * a[4] + line[5] * a[5]
             + line[6] * b[3] + line[7] * b[4] + line[8] * b[5])
        for i in range(3):
            s += (line[9 + i] * (v2[i] - v1[i]) + line[12 + i] * v1[3 + i]
                  + line[15 + i] * v2[3 + i])
        c.right[r] = -s


@njit(**ENTRY)
def constrained_accelerations(handle, constraints, q, v, tau, external, a):
    """a (n,) as state_dynamics.accelerations has it, with constraints.

    Their multipliers and lines stay in the arrays of `constraints`. Returns
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
    kinematics(table, body, coef, q, v, w, False)
    lines_here(table, w, c)
    own_inertia(table, body, coef, q, v, w)
    keep_rotor_rates(table, v, w)
    status = solve_sweeps(table, body, coef, force, zeros, 0.0, 0.0, m.gravity, w, a)
    if status:
        return status, 0
    rank = factor_schur(table, body, w, c)
    set_missing_accelerations(m.gravity, w, c)
    solve_schur(c, rank, c.right, c.multiplier)
    apply_multipliers(table, body, w, c, a)
    return 0, rank
