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
"""What constraints add to the derivatives of the dynamics, exactly.

A row says A v = 0, a function of the poses and twists of its two ends (constraint_arrays.py), and
with its rate A a + A_rate v = 0. Both are evaluated with numbers that carry their change in time,
their change with one coordinate, and the mixed one (x, x', dx, dx'), so that the mixed part of
A v is the derivative of A a + A_rate v, and the change of the row's forces is the derivative of A.

For this the ends' columns J are differentiated in time twice. A position q_j changes an end's
point p by J_j, and its turn by the angular column o_j, at all times, so that

    dp = J, dv = J', d(v') = J'',   dw = o' + o x w,   d(w') = o'' + o' x w + o x w',

and a speed changes dv = J, d(v') = 2 J', dw = o, d(w') = 2 o' + o x w.
"""
from __future__ import annotations

import math

from numba import njit

from flex_dynamics.kernels.base.handle import open_handle
from flex_dynamics.kernels.base.layout import (
    DOF,
    ELASTIC,
    ENTRY,
    KIND,
    MODES,
    ON_BEAM,
    OPTIONS,
    PARENT,
    PHI_ROW,
    ROW,
    Q,
)
from flex_dynamics.kernels.base.vector import shifted
from flex_dynamics.kernels.base.workspace import carve
from flex_dynamics.kernels.constraints.constrained_dynamics import end_acceleration
from flex_dynamics.kernels.constraints.constraint_arrays import (
    ACTIVE,
    ALONG,
    DISTANCE,
    EDGE,
    FIRST,
    HEIGHT,
    POINT,
    ROLL,
    SECOND,
    TURN,
    open_constraints,
)
from flex_dynamics.kernels.constraints.constraint_arrays import (
    KIND as ROW_KIND,
)
from flex_dynamics.kernels.constraints.constraint_rows import lines_here, turned
from flex_dynamics.kernels.derivatives.derivative_space import (
    ACCELERATION_ROW,
    SCREW_ROW,
    SLOT,
    TWIST_ROW,
    carve_derivatives,
)
from flex_dynamics.kernels.derivatives.motion_derivatives import joint_slot, motion_derivatives
from flex_dynamics.kernels.derivatives.rotation_derivatives import cross
from flex_dynamics.kernels.tree.inverse_dynamics import node_accelerations
from flex_dynamics.kernels.tree.kinematics import kinematics

# Rows of `changes` (numbers, 4): vectors take three. Of a row its forces ...
ALPHA, BETA_1, BETA_2 = 0, 3, 6
# ... and of its ends relative position, relative velocity, angular velocities, directions; spare.
ARM, SPEED, TURN_1, TURN_2, U, B, X, Y, SCALAR, ROOT = 9, 12, 15, 18, 21, 24, 27, 30, 33, 34
CHANGES = 35
# Columns of `motion` (ends, END_WIDTH): acceleration of the origin, then angular; what a
# coordinate changes of the end: point, turn, speed, angular velocity, rates of the last two.
ACCELERATION, POINT_CHANGE, TURN_CHANGE, SPEED_CHANGE, RATE_CHANGE = 0, 6, 9, 12, 15
ACCELERATION_CHANGE, SECOND_CHANGE = 18, 21
# Wrench of all rows on the end, and its change, [force; moment]
PULL, PULL_CHANGE = 24, 30
END_ARM = 36              # from a node to the end, with two rates
END_WIDTH = 45


@njit(**OPTIONS)
def _set(changes, at, x, rate, change, mixed):
    changes[at, 0], changes[at, 1], changes[at, 2], changes[at, 3] = x, rate, change, mixed


@njit(**OPTIONS)
def _add_product(changes, x, y, sign, out):
    """out += sign x y."""
    a, b, o = changes[x], changes[y], changes[out]
    o[0] += sign * a[0] * b[0]
    o[1] += sign * (a[1] * b[0] + a[0] * b[1])
    o[2] += sign * (a[2] * b[0] + a[0] * b[2])
    o[3] += sign * (a[3] * b[0] + a[1] * b[2] + a[2] * b[1] + a[0] * b[3])


@njit(**OPTIONS)
def _cross_product(changes, x, y, sign, out):
    """out = sign x x y, vectors."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        _set(changes, out + i, 0.0, 0.0, 0.0, 0.0)
        _add_product(changes, x + j, y + k, sign, out + i)
        _add_product(changes, x + k, y + j, -sign, out + i)


@njit(**OPTIONS)
def _add_scalar_product(changes, x, y, out):
    for i in range(3):
        _add_product(changes, x + i, y + i, 1.0, out)


@njit(**OPTIONS)
def _inverse_root(changes, x, out):
    """out = 1 / sqrt(x)."""
    a = changes[x]
    value = 1.0 / math.sqrt(a[0])
    first = -0.5 * value / a[0]
    second = -1.5 * first / a[0]
    _set(changes, out, value, first * a[1], first * a[2], first * a[3] + second * a[1] * a[2])


@njit(**OPTIONS)
def _set_fixed(changes, at, x, y, z):
    """A vector that does not move."""
    _set(changes, at, x, 0.0, 0.0, 0.0)
    _set(changes, at + 1, y, 0.0, 0.0, 0.0)
    _set(changes, at + 2, z, 0.0, 0.0, 0.0)


@njit(**OPTIONS)
def _set_turned(changes, at, pose, speed, motion, x, y, z):
    """A vector that is fixed in an end."""
    u = turned(pose, x, y, z)
    r = cross(speed[3], speed[4], speed[5], u[0], u[1], u[2])
    t0, t1, t2 = motion[TURN_CHANGE], motion[TURN_CHANGE + 1], motion[TURN_CHANGE + 2]
    d = cross(t0, t1, t2, u[0], u[1], u[2])
    m = cross(motion[RATE_CHANGE], motion[RATE_CHANGE + 1], motion[RATE_CHANGE + 2], u[0], u[1],
              u[2])
    n = cross(speed[3], speed[4], speed[5], d[0], d[1], d[2])
    _set(changes, at, u[0], r[0], d[0], m[0] + n[0])
    _set(changes, at + 1, u[1], r[1], d[1], m[1] + n[1])
    _set(changes, at + 2, u[2], r[2], d[2], m[2] + n[2])


@njit(**OPTIONS)
def _set_ends(changes, first, second, speed1, speed2, motion1, motion2):
    """ARM, SPEED, TURN_1 and TURN_2."""
    for i in range(3):
        _set(changes, ARM + i, second[9 + i] - first[9 + i], speed2[i] - speed1[i],
             motion2[POINT_CHANGE + i] - motion1[POINT_CHANGE + i],
             motion2[SPEED_CHANGE + i] - motion1[SPEED_CHANGE + i])
        _set(changes, SPEED + i, speed2[i] - speed1[i], motion2[i] - motion1[i],
             motion2[SPEED_CHANGE + i] - motion1[SPEED_CHANGE + i],
             motion2[ACCELERATION_CHANGE + i] - motion1[ACCELERATION_CHANGE + i])
        _set(changes, TURN_1 + i, speed1[3 + i], motion1[3 + i], motion1[RATE_CHANGE + i],
             motion1[SECOND_CHANGE + i])
        _set(changes, TURN_2 + i, speed2[3 + i], motion2[3 + i], motion2[RATE_CHANGE + i],
             motion2[SECOND_CHANGE + i])


@njit(**OPTIONS)
def _set_wheel_forces(kind, number, changes):
    """ALPHA and BETA_2 of a wheel or a knife edge, whose axis is in U: constraint_rows has them.
    """
    _set_fixed(changes, B, number[3], number[4], number[5])
    _set(changes, SCALAR, 0.0, 0.0, 0.0, 0.0)
    _add_scalar_product(changes, U, B, SCALAR)                 # lean
    _set(changes, X, 1.0, 0.0, 0.0, 0.0)
    _add_product(changes, SCALAR, SCALAR, -1.0, X)
    _inverse_root(changes, X, ROOT)
    # Heading, times the root that it still lacks.
    if kind == EDGE:
        for i in range(3):
            for k in range(4):
                changes[X + i, k] = changes[U + i, k]
            _add_product(changes, SCALAR, B + i, -1.0, X + i)
    else:
        _cross_product(changes, U, B, 1.0, X)
    for i in range(3):
        _set(changes, Y + i, 0.0, 0.0, 0.0, 0.0)
        _add_product(changes, X + i, ROOT, 1.0, Y + i)
    if kind == HEIGHT:
        _set_fixed(changes, ALPHA, number[3], number[4], number[5])
    elif kind == ROLL:
        for i in range(3):
            for k in range(4):
                changes[ALPHA + i, k] = changes[Y + i, k]
    else:
        _cross_product(changes, B, Y, 1.0, ALPHA)
    # From the ground to the centre: (n - lean a) / root.
    for i in range(3):
        for k in range(4):
            changes[X + i, k] = changes[B + i, k]
        _add_product(changes, SCALAR, U + i, -1.0, X + i)
        _set(changes, Y + i, 0.0, 0.0, 0.0, 0.0)
        _add_product(changes, X + i, ROOT, number[6], Y + i)
    _cross_product(changes, Y, ALPHA, -1.0, BETA_2)


@njit(**OPTIONS)
def _set_forces(kind, number, first, second, speed1, speed2, motion1, motion2, changes):
    """ALPHA, BETA_1 and BETA_2 of one row, after _set_ends."""
    for k in range(ALPHA, BETA_2 + 3):
        _set(changes, k, 0.0, 0.0, 0.0, 0.0)
    if kind == POINT:
        _set_fixed(changes, ALPHA, number[0], number[1], number[2])
    elif kind == ALONG:
        _set_turned(changes, ALPHA, first, speed1, motion1, number[0], number[1], number[2])
        _cross_product(changes, ALPHA, ARM, 1.0, BETA_1)
    elif kind == TURN:
        _set_turned(changes, U, first, speed1, motion1, number[0], number[1], number[2])
        _set_turned(changes, B, second, speed2, motion2, number[3], number[4], number[5])
        _cross_product(changes, U, B, 1.0, BETA_1)
        _cross_product(changes, U, B, -1.0, BETA_2)
    elif kind == DISTANCE:
        by = 1.0 / number[6]
        for i in range(3):
            for k in range(4):
                changes[ALPHA + i, k] = by * changes[ARM + i, k]
    else:
        _set_turned(changes, U, second, speed2, motion2, number[0], number[1], number[2])
        _set_wheel_forces(kind, number, changes)


@njit(**OPTIONS)
def _add_column(R, V, acc, slot, arm, column, J, J_rate, J_second):
    """Add the column of a coordinate, and its rates, to those of an end; world axes.

    R, V, acc: of the node that the coordinate moves; slot: motion_derivatives.py. arm (9,): from
    the node to the end, its rate and second rate.
    """
    s, t, c = shifted(slot, SCREW_ROW), shifted(slot, TWIST_ROW), shifted(slot, ACCELERATION_ROW)
    w0, w1, w2 = V[0], V[1], V[2]
    # In the node's axes: turn o with rates, then the displacement l of its origin.
    k0, k1, k2 = cross(w0, w1, w2, s[0], s[1], s[2])
    b0, b1, b2 = t[0] - k0, t[1] - k1, t[2] - k2               # s' of the turn
    k0, k1, k2 = cross(w0, w1, w2, t[0], t[1], t[2])
    o2 = _to_world(R, c[0] + k0, c[1] + k1, c[2] + k2)
    o1 = _to_world(R, t[0], t[1], t[2])
    o0 = _to_world(R, s[0], s[1], s[2])
    k0, k1, k2 = cross(V[3], V[4], V[5], s[0], s[1], s[2])
    x0, x1, x2 = t[3] - k0, t[4] - k1, t[5] - k2
    k0, k1, k2 = cross(w0, w1, w2, x0, x1, x2)
    m0, m1, m2 = cross(acc[3], acc[4], acc[5], s[0], s[1], s[2])
    n0, n1, n2 = cross(V[3], V[4], V[5], b0, b1, b2)
    l2 = _to_world(R, c[3] - m0 - n0 + k0, c[4] - m1 - n1 + k1, c[5] - m2 - n2 + k2)
    l1 = _to_world(R, x0, x1, x2)
    l0 = _to_world(R, s[3], s[4], s[5])
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        J[i, column] += l0[i] + o0[j] * arm[k] - o0[k] * arm[j]
        J_rate[i, column] += (l1[i] + o1[j] * arm[k] - o1[k] * arm[j]
                              + o0[j] * arm[3 + k] - o0[k] * arm[3 + j])
        J_second[i, column] += (l2[i] + o2[j] * arm[k] - o2[k] * arm[j]
                                + 2.0 * (o1[j] * arm[3 + k] - o1[k] * arm[3 + j])
                                + o0[j] * arm[6 + k] - o0[k] * arm[6 + j])
        J[3 + i, column] += o0[i]
        J_rate[3 + i, column] += o1[i]
        J_second[3 + i, column] += o2[i]


@njit(**OPTIONS)
def _to_world(R, x, y, z):
    return (R[0, 0] * x + R[0, 1] * y + R[0, 2] * z, R[1, 0] * x + R[1, 1] * y + R[1, 2] * z,
            R[2, 0] * x + R[2, 1] * y + R[2, 2] * z)


@njit(**OPTIONS)
def _end_columns(e, table, gravity, w, s, c, motion, J, J_rate, J_second):
    """Columns of an end with two rates, (6, n) each, and its acceleration."""
    node, arm = c.end_nodes[e], motion[END_ARM:END_WIDTH]
    at = end_acceleration(gravity, w, c, e)
    for k in range(6):
        motion[k] = at[k]
    J[:, :] = 0.0
    J_rate[:, :] = 0.0
    J_second[:, :] = 0.0
    while node >= 0:
        R, V, acc = c.R_world[node], w.V[node], shifted(w.acc, ROW * node)
        parent = table[node, PARENT]
        speed = _to_world(R, V[3], V[4], V[5])
        k0, k1, k2 = cross(V[0], V[1], V[2], V[3], V[4], V[5])
        second = _to_world(R, acc[3] + k0, acc[4] + k1, acc[5] + k2)
        for i in range(3):
            arm[i] = c.poses[e, 9 + i] - c.p_world[node, i]
            arm[3 + i] = c.speeds[e, i] - speed[i]
            arm[6 + i] = motion[i] - second[i] - gravity[i]
        if table[node, KIND] == ON_BEAM:
            count, column, first = (table[parent, MODES], table[parent, ELASTIC],
                                    table[node, PHI_ROW])
        else:
            count, column, first = table[node, DOF], table[node, Q], joint_slot(s, node)
        for m in range(count):
            _add_column(R, V, acc, shifted(s.slots, SLOT * (first + m)), arm, column + m, J,
                        J_rate, J_second)
        node = parent


@njit(**OPTIONS)
def _set_position_change(j, speed, motion, J, J_rate, J_second):
    """What position j does to an end."""
    w0, w1, w2 = speed[3], speed[4], speed[5]
    o0, o1, o2 = J[3, j], J[4, j], J[5, j]
    k = cross(o0, o1, o2, w0, w1, w2)
    m = cross(J_rate[3, j], J_rate[4, j], J_rate[5, j], w0, w1, w2)
    n = cross(o0, o1, o2, motion[3], motion[4], motion[5])
    for i in range(3):
        motion[POINT_CHANGE + i], motion[TURN_CHANGE + i] = J[i, j], J[3 + i, j]
        motion[SPEED_CHANGE + i], motion[RATE_CHANGE + i] = J_rate[i, j], J_rate[3 + i, j] + k[i]
        motion[ACCELERATION_CHANGE + i] = J_second[i, j]
        motion[SECOND_CHANGE + i] = J_second[3 + i, j] + m[i] + n[i]


@njit(**OPTIONS)
def _set_speed_change(j, speed, motion, J, J_rate):
    """What speed j does to an end."""
    k = cross(J[3, j], J[4, j], J[5, j], speed[3], speed[4], speed[5])
    for i in range(3):
        motion[POINT_CHANGE + i], motion[TURN_CHANGE + i] = 0.0, 0.0
        motion[SPEED_CHANGE + i], motion[RATE_CHANGE + i] = J[i, j], J[3 + i, j]
        motion[ACCELERATION_CHANGE + i] = 2.0 * J_rate[i, j]
        motion[SECOND_CHANGE + i] = 2.0 * J_rate[3 + i, j] + k[i]


@njit(**OPTIONS)
def _set_row(r, c, motion, changes):
    """Forces of an active row, after the change of its ends; returns the change of its rate."""
    one, two = c.rows[r, FIRST], c.rows[r, SECOND]
    _set_ends(changes, c.poses[one], c.poses[two], c.speeds[one], c.speeds[two], motion[one],
              motion[two])
    _set_forces(c.rows[r, ROW_KIND], c.numbers[r], c.poses[one], c.poses[two], c.speeds[one],
                c.speeds[two], motion[one], motion[two], changes)
    _set(changes, SCALAR, 0.0, 0.0, 0.0, 0.0)
    _add_scalar_product(changes, ALPHA, SPEED, SCALAR)
    _add_scalar_product(changes, BETA_1, TURN_1, SCALAR)
    _add_scalar_product(changes, BETA_2, TURN_2, SCALAR)
    return changes[SCALAR, 3]


@njit(**OPTIONS)
def _add_pull(r, c, multiplier, changes, part, motion, place):
    """Part 0 (value) or 2 (change) of a row's forces to the pulls of its ends."""
    one, two = motion[c.rows[r, FIRST]], motion[c.rows[r, SECOND]]
    for i in range(3):
        one[place + i] -= multiplier * changes[ALPHA + i, part]
        two[place + i] += multiplier * changes[ALPHA + i, part]
        one[place + 3 + i] += multiplier * changes[BETA_1 + i, part]
        two[place + 3 + i] += multiplier * changes[BETA_2 + i, part]


@njit(**ENTRY)
def constraint_derivatives(handle, constraints, space, q, v, a, multiplier, changes, motion,
                           J_second, by_q, by_v, force):
    """by_q, by_v (m, n): derivatives of A a + A_rate v; force (n, n): of A'multiplier by q, at
    constant columns of the ends (see below).

    space: as force_derivatives has it. changes (CHANGES, 4), motion (ends, END_WIDTH), J_second
    (ends, 6, n): scratch. In columns PULL of `motion` stay the wrenches of all rows on the ends,
    at their origins, of which force still lacks what the change of the ends' own columns does.
    """
    m, c, n = open_handle(handle), open_constraints(constraints, 0), q.shape[0]
    w, s = carve(space, m.size), carve_derivatives(space, m.size)
    kinematics(m.table, m.body, m.coef, q, v, w, True)
    node_accelerations(m.table, m.body, m.gravity, a, w)
    motion_derivatives(m.table, m.body, m.coef, q, v, a, w, s)
    lines_here(m.table, w, c)
    ends, rows = c.end_nodes.shape[0], c.rows.shape[0]
    motion[:, :] = 0.0
    force[:, :] = 0.0
    by_q[:, :] = 0.0
    by_v[:, :] = 0.0
    for e in range(ends):
        _end_columns(e, m.table, m.gravity, w, s, c, motion[e], c.J[e], c.J_rate[e], J_second[e])
    for j in range(n):
        for e in range(ends):
            _set_position_change(j, c.speeds[e], motion[e], c.J[e], c.J_rate[e],
                                 J_second[e])
            for k in range(PULL, END_ARM):
                motion[e, k] = 0.0
        for r in range(rows):
            if c.rows[r, ACTIVE] != 0:
                by_q[r, j] = _set_row(r, c, motion, changes)
                _add_pull(r, c, multiplier[r], changes, 0, motion, PULL)
                _add_pull(r, c, multiplier[r], changes, 2, motion, PULL_CHANGE)
        for e in range(ends):
            for k in range(n):
                for i in range(6):
                    force[k, j] += c.J[e, i, k] * motion[e, PULL_CHANGE + i]
            _set_speed_change(j, c.speeds[e], motion[e], c.J[e], c.J_rate[e])
        for r in range(rows):
            if c.rows[r, ACTIVE] != 0:
                by_v[r, j] = _set_row(r, c, motion, changes)
