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
"""Errors, Jacobian and its rate of all constraints, from the kinematics of the tree."""
from __future__ import annotations

import math

from numba import njit

from flex_dynamics.kernels.base.handle import open_handle
from flex_dynamics.kernels.base.layout import ENTRY, OPTIONS
from flex_dynamics.kernels.base.workspace import carve
from flex_dynamics.kernels.constraints.constraint_arrays import (
    ACTIVE,
    ALONG,
    DISTANCE,
    EDGE,
    FIRST,
    HEIGHT,
    KIND,
    LINE_WIDTH,
    POINT,
    ROLL,
    SECOND,
    TURN,
    open_constraints,
)
from flex_dynamics.kernels.tree.frames import frame_columns, world_poses
from flex_dynamics.kernels.tree.kinematics import kinematics

SMALLEST_LEAN = 1e-9       # of a wheel against the ground's normal; flat on it, it cannot roll


@njit(**OPTIONS)
def cross(a0, a1, a2, b0, b1, b2):
    return a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0


@njit(**OPTIONS)
def turned(pose, x, y, z):
    """A vector of a frame in world axes; pose: rotation by rows."""
    return (pose[0] * x + pose[1] * y + pose[2] * z, pose[3] * x + pose[4] * y + pose[5] * z,
            pose[6] * x + pose[7] * y + pose[8] * z)


@njit(**OPTIONS)
def set_end_poses(c):
    """c.poses from c.R_world and c.p_world."""
    for e in range(c.end_nodes.shape[0]):
        node, own, pose = c.end_nodes[e], c.end_poses[e], c.poses[e]
        for k in range(12):
            pose[k] = own[k]
        if node < 0:
            continue
        R, p = c.R_world[node], c.p_world[node]
        for i in range(3):
            for j in range(3):
                pose[3 * i + j] = (R[i, 0] * own[j] + R[i, 1] * own[3 + j]
                                   + R[i, 2] * own[6 + j])
            pose[9 + i] = p[i] + R[i, 0] * own[9] + R[i, 1] * own[10] + R[i, 2] * own[11]


@njit(**OPTIONS)
def set_end_jacobians(table, body, w, c):
    """c.J and c.J_rate of the ends, after set_end_poses."""
    for e in range(c.end_nodes.shape[0]):
        c.J[e, :, :] = 0.0
        c.J_rate[e, :, :] = 0.0
        if c.end_nodes[e] >= 0:
            frame_columns(table, body, w, c.R_world, c.p_world, c.end_nodes[e], c.poses[e, 9:],
                          c.J[e], c.J_rate[e])


@njit(**OPTIONS)
def set_end_speeds(w, c):
    """c.speeds of the ends from the twists of their nodes; zero of the world's."""
    for e in range(c.end_nodes.shape[0]):
        node, d, speed = c.end_nodes[e], c.end_poses[e], c.speeds[e]
        if node < 0:
            for k in range(6):
                speed[k] = 0.0
            continue
        R, V = c.R_world[node], w.V[node]
        l0 = V[3] + V[1] * d[11] - V[2] * d[10]
        l1 = V[4] + V[2] * d[9] - V[0] * d[11]
        l2 = V[5] + V[0] * d[10] - V[1] * d[9]
        for i in range(3):
            speed[i] = R[i, 0] * l0 + R[i, 1] * l1 + R[i, 2] * l2
            speed[3 + i] = R[i, 0] * V[0] + R[i, 1] * V[1] + R[i, 2] * V[2]


@njit(**OPTIONS)
def set_errors(c):
    """c.error (m,): by how much positions miss; zero of rows of speeds and of inactive ones."""
    for r in range(c.rows.shape[0]):
        kind, number = c.rows[r, KIND], c.numbers[r]
        first, second = c.poses[c.rows[r, FIRST]], c.poses[c.rows[r, SECOND]]
        d0, d1, d2 = second[9] - first[9], second[10] - first[10], second[11] - first[11]
        error = 0.0
        if c.rows[r, ACTIVE] == 0:
            error = 0.0
        elif kind == POINT:
            error = number[0] * d0 + number[1] * d1 + number[2] * d2
        elif kind == ALONG:
            u0, u1, u2 = turned(first, number[0], number[1], number[2])
            error = u0 * d0 + u1 * d1 + u2 * d2
        elif kind == TURN:
            u0, u1, u2 = turned(first, number[0], number[1], number[2])
            b0, b1, b2 = turned(second, number[3], number[4], number[5])
            error = u0 * b0 + u1 * b1 + u2 * b2
        elif kind == DISTANCE:
            error = 0.5 * ((d0 * d0 + d1 * d1 + d2 * d2) / number[6] - number[6])
        elif kind == HEIGHT:
            u0, u1, u2 = turned(second, number[0], number[1], number[2])
            lean = u0 * number[3] + u1 * number[4] + u2 * number[5]
            error = (number[3] * second[9] + number[4] * second[10] + number[5] * second[11]
                     - number[7] - number[6] * math.sqrt(max(1.0 - lean * lean, 0.0)))
        c.error[r] = error


@njit(**OPTIONS)
def set_line(kind, number, first, second, V1, V2, line):
    """line (LINE_WIDTH,) of one row at the speeds V1, V2 of its ends."""
    for k in range(LINE_WIDTH):
        line[k] = 0.0
    d0, d1, d2 = second[9] - first[9], second[10] - first[10], second[11] - first[11]
    e0, e1, e2 = V2[0] - V1[0], V2[1] - V1[1], V2[2] - V1[2]
    if kind == POINT:
        line[0], line[1], line[2] = number[0], number[1], number[2]
    elif kind == ALONG:
        u0, u1, u2 = turned(first, number[0], number[1], number[2])
        r0, r1, r2 = cross(V1[3], V1[4], V1[5], u0, u1, u2)
        line[0], line[1], line[2] = u0, u1, u2
        line[3], line[4], line[5] = cross(u0, u1, u2, d0, d1, d2)
        line[9], line[10], line[11] = r0, r1, r2
        x0, x1, x2 = cross(r0, r1, r2, d0, d1, d2)
        y0, y1, y2 = cross(u0, u1, u2, e0, e1, e2)
        line[12], line[13], line[14] = x0 + y0, x1 + y1, x2 + y2
    elif kind == TURN:
        u0, u1, u2 = turned(first, number[0], number[1], number[2])
        b0, b1, b2 = turned(second, number[3], number[4], number[5])
        r0, r1, r2 = cross(V1[3], V1[4], V1[5], u0, u1, u2)
        s0, s1, s2 = cross(V2[3], V2[4], V2[5], b0, b1, b2)
        x0, x1, x2 = cross(u0, u1, u2, b0, b1, b2)
        y0, y1, y2 = cross(r0, r1, r2, b0, b1, b2)
        z0, z1, z2 = cross(u0, u1, u2, s0, s1, s2)
        line[3], line[4], line[5] = x0, x1, x2
        line[6], line[7], line[8] = -x0, -x1, -x2
        line[12], line[13], line[14] = y0 + z0, y1 + z1, y2 + z2
        line[15], line[16], line[17] = -y0 - z0, -y1 - z1, -y2 - z2
    elif kind == DISTANCE:
        by = 1.0 / number[6]
        line[0], line[1], line[2] = by * d0, by * d1, by * d2
        line[9], line[10], line[11] = by * e0, by * e1, by * e2
    else:
        set_wheel_line(kind, number, second, V2, line)


@njit(**OPTIONS)
def set_wheel_line(kind, number, pose, V, line):
    """A row of a wheel or a knife edge: t.(v + w x arm) = 0 with the arm to the ground."""
    a0, a1, a2 = turned(pose, number[0], number[1], number[2])
    r0, r1, r2 = cross(V[3], V[4], V[5], a0, a1, a2)
    n0, n1, n2, radius = number[3], number[4], number[5], number[6]
    lean, lean_rate = a0 * n0 + a1 * n1 + a2 * n2, r0 * n0 + r1 * n1 + r2 * n2
    square = 1.0 - lean * lean
    root = max(math.sqrt(max(square, 0.0)), SMALLEST_LEAN)
    rate = -lean * lean_rate / root
    by, by_rate = 1.0 / root, -rate / (root * root)
    # Heading of a wheel: across its axis on the ground; a knife edge's axis is along its heading.
    if kind == EDGE:
        x0, x1, x2 = a0 - lean * n0, a1 - lean * n1, a2 - lean * n2
        y0, y1, y2 = r0 - lean_rate * n0, r1 - lean_rate * n1, r2 - lean_rate * n2
    else:
        x0, x1, x2 = cross(a0, a1, a2, n0, n1, n2)
        y0, y1, y2 = cross(r0, r1, r2, n0, n1, n2)
    y0, y1, y2 = by * y0 + by_rate * x0, by * y1 + by_rate * x1, by * y2 + by_rate * x2
    x0, x1, x2 = by * x0, by * x1, by * x2
    # From the ground to the centre of the wheel: e = (n - lean a) / root.
    e0, e1, e2 = by * (n0 - lean * a0), by * (n1 - lean * a1), by * (n2 - lean * a2)
    f0 = by_rate * (n0 - lean * a0) - by * (lean_rate * a0 + lean * r0)
    f1 = by_rate * (n1 - lean * a1) - by * (lean_rate * a1 + lean * r1)
    f2 = by_rate * (n2 - lean * a2) - by * (lean_rate * a2 + lean * r2)
    if kind == HEIGHT:
        t0, t1, t2, s0, s1, s2 = n0, n1, n2, 0.0, 0.0, 0.0
    elif kind == ROLL:
        t0, t1, t2, s0, s1, s2 = x0, x1, x2, y0, y1, y2
    else:
        t0, t1, t2 = cross(n0, n1, n2, x0, x1, x2)
        s0, s1, s2 = cross(n0, n1, n2, y0, y1, y2)
    line[0], line[1], line[2], line[9], line[10], line[11] = t0, t1, t2, s0, s1, s2
    if radius == 0.0:
        return
    m0, m1, m2 = cross(e0, e1, e2, t0, t1, t2)
    p0, p1, p2 = cross(f0, f1, f2, t0, t1, t2)
    q0, q1, q2 = cross(e0, e1, e2, s0, s1, s2)
    line[6], line[7], line[8] = -radius * m0, -radius * m1, -radius * m2
    line[15], line[16], line[17] = -radius * (p0 + q0), -radius * (p1 + q1), -radius * (p2 + q2)


@njit(**OPTIONS)
def set_lines(c):
    """c.lines of all rows from the poses and speeds of the ends; zero of inactive ones."""
    for r in range(c.rows.shape[0]):
        one, two, line = c.rows[r, FIRST], c.rows[r, SECOND], c.lines[r]
        if c.rows[r, ACTIVE] != 0:
            set_line(c.rows[r, KIND], c.numbers[r], c.poses[one], c.poses[two], c.speeds[one],
                     c.speeds[two], line)
        else:
            for k in range(LINE_WIDTH):
                line[k] = 0.0


@njit(**OPTIONS)
def lines_here(table, w, c):
    """c.lines, with poses and speeds of the ends, at the kinematics that the workspace has."""
    world_poses(table, w, c.R_world, c.p_world)
    set_end_poses(c)
    set_end_speeds(w, c)
    set_lines(c)


@njit(**OPTIONS)
def set_jacobian(c):
    """c.A and c.A_rate of all rows from their lines and the ends' Jacobians."""
    for r in range(c.rows.shape[0]):
        one, two, line = c.rows[r, FIRST], c.rows[r, SECOND], c.lines[r]
        J1, J2, B1, B2 = c.J[one], c.J[two], c.J_rate[one], c.J_rate[two]
        for k in range(c.A.shape[1]):
            s, t = 0.0, 0.0
            for i in range(3):
                s += (line[i] * (J2[i, k] - J1[i, k]) + line[3 + i] * J1[3 + i, k]
                      + line[6 + i] * J2[3 + i, k])
                t += (line[i] * (B2[i, k] - B1[i, k]) + line[3 + i] * B1[3 + i, k]
                      + line[6 + i] * B2[3 + i, k]
                      + line[9 + i] * (J2[i, k] - J1[i, k]) + line[12 + i] * J1[3 + i, k]
                      + line[15 + i] * J2[3 + i, k])
            c.A[r, k], c.A_rate[r, k] = s, t


@njit(**OPTIONS)
def errors_at(table, body, coef, w, q, v, c):
    """c.error at q; leaves the kinematics at q, v in the workspace."""
    kinematics(table, body, coef, q, v, w, False)
    world_poses(table, w, c.R_world, c.p_world)
    set_end_poses(c)
    set_errors(c)


@njit(**ENTRY)
def constraint_terms(handle, constraints, q, v):
    """error, A, A_rate and lines of the constraints behind a handle, at q and v (n,)."""
    m, c = open_handle(handle), open_constraints(constraints, 0)
    w = carve(m.work, m.size)
    kinematics(m.table, m.body, m.coef, q, v, w, True)
    lines_here(m.table, w, c)
    set_end_jacobians(m.table, m.body, w, c)
    set_jacobian(c)
    set_errors(c)
