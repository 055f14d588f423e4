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
"""Derivatives of I = M a + C v + g of the order 'linear' by positions and by speeds.

Every truncated quantity of linear_kinematics.py has its change along one coordinate beside it; a
product of pairs changes by the product rule and stays a pair. A twist u that a joint carries to
its child, X u, changes by (X u) x s as the child moves by the twist s. With A the sum of T a +
T_rate v and of gravity, and W that of T v, a body adds T'(D A + B W) to I.
"""
from __future__ import annotations

import math
from collections import namedtuple

from numba import njit

from flex_dynamics.kernels.base.layout import (
    AXIS,
    DOF,
    ELASTIC,
    ENTRY,
    INERTIA,
    KIND,
    MASS,
    MODES,
    MOTOR,
    N_AXIS,
    ON_BEAM,
    OPTIONS,
    PARENT,
    PLANAR,
    SCREW,
    Q,
)
from flex_dynamics.kernels.base.spatial import add_twist_cross, twist_to_child
from flex_dynamics.kernels.derivatives.rotation_derivatives import set_jacobian_rates, times3
from flex_dynamics.kernels.linear.linear_kinematics import add_turned
from flex_dynamics.kernels.linear.linear_order import (
    add_block,
    beam_body,
    rigid_body,
    rotor_body,
    truncated_product,
)
from flex_dynamics.kernels.tree.kinematics import base_screws, joint_pose

LinearChange = namedtuple('LinearChange', (
    'q', 'v',           # (n,) the direction
    'V', 'G',           # (nodes, 2, 6) changes of twists and of gravity ...
    'J', 'J_rate',      # (nodes, 2, columns, 6) ... and of the Jacobians
    'S', 'S_rate',      # (6, 6) ... and of the screws of a base
    'D', 'B',           # (2, size, size) ... and of a body
    'A', 'W', 'y',      # (2, size) sums over its columns, and its force
    'A_change', 'W_change', 'y_change',
    'own', 'own_change', 'turn', 'carried',     # (6,) a joint's twist, its change, and the motion
    'K', 'K_less',      # (27,) the right Jacobian and its rates
    'force',            # (n,) change of I
))


@njit(**ENTRY)
def linear_derivatives(table, body, columns, counts, shapes, blocks, at, q, v, a, s, t, by_q,
                       by_v):
    """dI/dq and dI/dv (n, n) at accelerations a (n,); s: as linear_terms left it, with its C."""
    t.q[:] = 0.0
    t.v[:] = 0.0
    for j in range(q.shape[0]):
        t.q[j] = 1.0
        _change(table, body, columns, counts, shapes, blocks, at, q, v, a, s, t)
        for i in range(q.shape[0]):
            by_q[i, j] = t.force[i]
        t.q[j], t.v[j] = 0.0, 1.0
        _change(table, body, columns, counts, shapes, blocks, at, q, v, a, s, t)
        for i in range(q.shape[0]):
            by_v[i, j] = t.force[i]
        t.v[j] = 0.0


@njit(**OPTIONS)
def _change(table, body, columns, counts, shapes, blocks, at, q, v, a, s, t):
    """t.force: how I changes along t.q and t.v."""
    t.force[:] = 0.0
    for i in range(table.shape[0]):
        if table[i, KIND] == ON_BEAM:
            _section_change(i, table, counts, shapes, at[i], q, v, s, t)
        else:
            _joint_change(i, table, body, counts, q, v, s, t)
        trace = body[i, INERTIA] + body[i, INERTIA + 4] + body[i, INERTIA + 8]
        if body[i, MASS] + trace > 0.0:
            rigid_body(body[i], t.V[i], s.D, t.B)
            rigid_body(body[i], s.V[i], s.D, s.B)
            t.D[:, :6, :6] = 0.0
            _add_change(i, 0, 0, columns, counts, v, a, s, t)
        modes, start = table[i, MODES], table[i, ELASTIC]
        if table[i, N_AXIS] > 0:
            end = start + modes
            beam_body(modes, blocks, at[i], s.V[i], q[start:end], v[start:end], True, s.D, s.B)
            _beam_change(modes, blocks, at[i], s.V[i], t.V[i], q[start:end], t.q[start:end],
                         t.v[start:end], t.D, t.B)
            _add_change(i, modes, start, columns, counts, v, a, s, t)
        motor, parent = table[i, MOTOR], table[i, PARENT]
        if motor >= 0 and parent >= 0:
            rotor_body(body[i], t.V[parent], t.v[motor], s.D, t.B)
            rotor_body(body[i], s.V[parent], v[motor], s.D, s.B)
            t.D[:, :7, :7] = 0.0
            _add_change(parent, 1, motor, columns, counts, v, a, s, t)


@njit(**OPTIONS)
def _joint_change(i, table, body, counts, q, v, s, t):
    """Changes behind a joint, see carry_by_joint."""
    kind, parent, first, dof = table[i, KIND], table[i, PARENT], table[i, Q], table[i, DOF]
    R, p, V, G, J, Jd = s.R, s.p, s.V[i], s.G[i], s.J[i], s.J_rate[i]
    V_to, G_to, J_to, Jd_to, carried = t.V[i], t.G[i], t.J[i], t.J_rate[i], t.carried
    own, own_change, turn = t.own, t.own_change, t.turn
    joint_pose(kind, body[i], q, first, R, p)
    t.S[:dof] = 0.0
    t.S_rate[:dof] = 0.0
    if kind >= PLANAR:
        base_screws(kind, body[i], q, v, first, R, s)
    elif dof == 1:
        for k in range(6):
            s.S[0, k] = body[i, SCREW + k]
    for k in range(6):
        own[k], turn[k] = 0.0, 0.0
        for m in range(dof):
            own[k] += s.S[m, k] * v[first + m]
            turn[k] += s.S[m, k] * t.q[first + m]
    if kind >= PLANAR:
        _screw_changes(kind == PLANAR, body[i], q, v, first, s, t)
    for k in range(6):
        own_change[k] = 0.0
        for m in range(dof):
            own_change[k] += s.S[m, k] * t.v[first + m] + t.S[m, k] * v[first + m]
    V_to[:, :] = 0.0
    G_to[:, :] = 0.0
    inherited = counts[parent] if parent >= 0 else 0
    for part in range(2):
        if parent >= 0:
            twist_to_child(R, p, t.V[parent, part], V_to[part])
            twist_to_child(R, p, t.G[parent, part], G_to[part])
        add_twist_cross(V[part], turn, 1.0, V_to[part])
        add_twist_cross(G[part], turn, 1.0, G_to[part])
        for c in range(inherited):
            twist_to_child(R, p, t.J[parent, part, c], J_to[part, c])
            twist_to_child(R, p, t.J_rate[parent, part, c], Jd_to[part, c])
            add_twist_cross(J[part, c], turn, 1.0, J_to[part, c])
            # what the parent's column is here: Jd + own x J
            for k in range(6):
                carried[k] = Jd[part, c, k]
            add_twist_cross(own, J[part, c], 1.0, carried)
            add_twist_cross(carried, turn, 1.0, Jd_to[part, c])
            add_twist_cross(own_change, J[part, c], -1.0, Jd_to[part, c])
            add_twist_cross(own, J_to[part, c], -1.0, Jd_to[part, c])
    add_twist_cross(own, turn, -1.0, V_to[0])       # what the joint adds does not turn
    for k in range(6):
        V_to[0, k] += own_change[k]
        for m in range(dof):
            J_to[0, inherited + m, k], Jd_to[0, inherited + m, k] = t.S[m, k], t.S_rate[m, k]
            J_to[1, inherited + m, k], Jd_to[1, inherited + m, k] = 0.0, 0.0


@njit(**OPTIONS)
def _screw_changes(planar, body, q, v, at, s, t):
    """t.S, t.S_rate: changes of the screws of a moving base, see base_screws."""
    straight = 2 if planar else 3
    if planar:
        a0, a1, a2, w, u = body[AXIS], body[AXIS + 1], body[AXIS + 2], v[at + 2], t.v[at + 2]
        w0, w1, w2, u0, u1, u2 = w * a0, w * a1, w * a2, u * a0, u * a1, u * a2
    else:
        x, y, z = q[at + 3], q[at + 4], q[at + 5]
        xd, yd, zd = v[at + 3], v[at + 4], v[at + 5]
        d0, d1, d2 = t.q[at + 3], t.q[at + 4], t.q[at + 5]
        K, less = t.K, t.K_less
        # Second derivative along the speed and the direction: a difference of two squares.
        size = math.sqrt(xd * xd + yd * yd + zd * zd)
        size = size if size > 0.0 else 1.0
        e0, e1, e2 = size * d0, size * d1, size * d2
        set_jacobian_rates(x, y, z, xd - e0, yd - e1, zd - e2, 0.0, 0.0, 0.0, less)
        set_jacobian_rates(x, y, z, xd + e0, yd + e1, zd + e2, 0.0, 0.0, 0.0, K)
        for m in range(3):
            for k in range(3):
                t.S_rate[3 + m, k] = (K[18 + 3 * k + m] - less[18 + 3 * k + m]) / (4.0 * size)
        set_jacobian_rates(x, y, z, t.v[at + 3], t.v[at + 4], t.v[at + 5], 0.0, 0.0, 0.0, K)
        w0, w1, w2 = times3(K, 0, xd, yd, zd)
        u0, u1, u2 = times3(K, 0, t.v[at + 3], t.v[at + 4], t.v[at + 5])
        for m in range(3):
            for k in range(3):
                t.S_rate[3 + m, k] += K[9 + 3 * k + m]
        set_jacobian_rates(x, y, z, d0, d1, d2, 0.0, 0.0, 0.0, K)
        for m in range(3):
            for k in range(3):
                t.S[3 + m, k] = K[9 + 3 * k + m]
        b0, b1, b2 = times3(K, 9, xd, yd, zd)
        u0, u1, u2 = u0 + b0, u1 + b1, u2 + b2
    for k in range(straight):
        S, change = s.S[k], t.S[k]
        add_twist_cross(S, t.turn, 1.0, change)
        t.S_rate[k, 3] = -(u1 * S[5] - u2 * S[4] + w1 * change[5] - w2 * change[4])
        t.S_rate[k, 4] = -(u2 * S[3] - u0 * S[5] + w2 * change[3] - w0 * change[5])
        t.S_rate[k, 5] = -(u0 * S[4] - u1 * S[3] + w0 * change[4] - w1 * change[3])


@njit(**OPTIONS)
def _section_change(i, table, counts, shapes, at, q, v, s, t):
    """Changes at a section of a beam, see carry_by_section."""
    parent = table[i, PARENT]
    modes, start, inherited = table[parent, MODES], table[parent, ELASTIC], counts[parent]
    J, Jd = s.J[i], s.J_rate[i]
    V_to, G_to, J_to, Jd_to = t.V[i], t.G[i], t.J[i], t.J_rate[i]
    turn, turn_rate, turn_to, rate_to = s.turn, s.turn_rate, t.turn, t.own_change
    for k in range(6):
        turn[k], turn_rate[k], turn_to[k], rate_to[k] = 0.0, 0.0, 0.0, 0.0
        for m in range(modes):
            phi = shapes[at + 1 + 6 * m + k]
            turn[k] += phi * q[start + m]
            turn_rate[k] += phi * v[start + m]
            turn_to[k] += phi * t.q[start + m]
            rate_to[k] += phi * t.v[start + m]
    R, p = s.R, s.p
    R[:, :] = 0.0
    R[0, 0], R[1, 1], R[2, 2] = 1.0, 1.0, 1.0
    p[0], p[1], p[2] = shapes[at], 0.0, 0.0
    for part in range(2):
        twist_to_child(R, p, t.V[parent, part], V_to[part])
        twist_to_child(R, p, t.G[parent, part], G_to[part])
        for c in range(inherited):
            twist_to_child(R, p, t.J[parent, part, c], J_to[part, c])
            twist_to_child(R, p, t.J_rate[parent, part, c], Jd_to[part, c])
    for k in range(6):
        V_to[1, k] += rate_to[k]
    add_turned(turn_to, s.V[i, 0], True, V_to[1])
    add_turned(turn, V_to[0], True, V_to[1])
    add_turned(turn_to, s.G[i, 0], True, G_to[1])
    add_turned(turn, G_to[0], True, G_to[1])
    for c in range(inherited):
        add_turned(turn_to, J[0, c], True, J_to[1, c])
        add_turned(turn, J_to[0, c], True, J_to[1, c])
        add_turned(turn_to, Jd[0, c], True, Jd_to[1, c])
        add_turned(turn, Jd_to[0, c], True, Jd_to[1, c])
        add_turned(rate_to, J[0, c], True, Jd_to[1, c])
        add_turned(turn_rate, J_to[0, c], True, Jd_to[1, c])
    for c in range(inherited, inherited + modes):
        J_to[:, c] = 0.0
        Jd_to[:, c] = 0.0
        add_turned(turn_to, J[0, c], False, J_to[1, c])
        add_turned(rate_to, J[0, c], False, Jd_to[1, c])


@njit(**OPTIONS)
def _beam_change(modes, blocks, at, V, V_change, eta, eta_change, rate_change, D, B):
    """Changes of what beam_body gives."""
    size = 6 + modes
    square = size * size
    D[:, :size, :size] = 0.0
    B[:, :size, :size] = 0.0
    at += square
    for m in range(modes):
        add_block(size, blocks, at, eta_change[m], False, D[1])
        at += square
    for c in range(6):
        add_block(size, blocks, at, V_change[0, c], False, B[0])
        add_block(size, blocks, at, V_change[1, c], False, B[1])
        at += square
    for m in range(modes):
        for c in range(6):
            add_block(size, blocks, at, eta_change[m] * V[0, c] + eta[m] * V_change[0, c], False,
                      B[1])
            at += square
    for m in range(modes):
        add_block(size, blocks, at, rate_change[m], False, B[1])
        at += square


@njit(**OPTIONS)
def _add_change(i, own, start, columns, counts, v, a, s, t):
    """t.force += T_change'(D A + B W) + T'(D A + B W)_change of a body as in linear_order."""
    inherited, size = counts[i], 6 + own
    A, W, y, A_to, W_to, y_to = t.A, t.W, t.y, t.A_change, t.W_change, t.y_change
    J, Jd, J_to, Jd_to = s.J[i], s.J_rate[i], t.J[i], t.J_rate[i]
    for part in range(2):
        for k in range(6):
            A[part, k], A_to[part, k] = s.G[i, part, k], t.G[i, part, k]
            W[part, k], W_to[part, k] = 0.0, 0.0
            for c in range(inherited):
                at = columns[i, c]
                A[part, k] += J[part, c, k] * a[at] + Jd[part, c, k] * v[at]
                W[part, k] += J[part, c, k] * v[at]
                A_to[part, k] += (J_to[part, c, k] * a[at] + Jd_to[part, c, k] * v[at]
                                  + Jd[part, c, k] * t.v[at])
                W_to[part, k] += J_to[part, c, k] * v[at] + J[part, c, k] * t.v[at]
        for m in range(own):
            first = part == 0
            A[part, 6 + m] = a[start + m] if first else 0.0
            W[part, 6 + m] = v[start + m] if first else 0.0
            A_to[part, 6 + m] = 0.0
            W_to[part, 6 + m] = t.v[start + m] if first else 0.0
    truncated_product(size, s.D, A[0], A[1], True, y)
    truncated_product(size, s.B, W[0], W[1], False, y)
    truncated_product(size, t.D, A[0], A[1], True, y_to)
    truncated_product(size, s.D, A_to[0], A_to[1], False, y_to)
    truncated_product(size, t.B, W[0], W[1], False, y_to)
    truncated_product(size, s.B, W_to[0], W_to[1], False, y_to)
    for c in range(inherited):
        total = 0.0
        for k in range(6):
            total += (J_to[0, c, k] * (y[0, k] + y[1, k]) + J_to[1, c, k] * y[0, k]
                      + J[0, c, k] * (y_to[0, k] + y_to[1, k]) + J[1, c, k] * y_to[0, k])
        t.force[columns[i, c]] += total
    for m in range(own):
        t.force[start + m] += y_to[0, 6 + m] + y_to[1, 6 + m]
