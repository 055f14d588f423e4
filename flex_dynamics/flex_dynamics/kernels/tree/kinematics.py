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
"""Forward kinematics: poses, twists and velocity-product accelerations of all nodes, base to tip.

Twist propagation of Mohan and Saha (9), (10) with an exact section rotation:
V = X V_parent + S qd at a joint, V = X V_parent + Phi etad at a section of a beam.
"""
from __future__ import annotations

import math

from numba import njit

from flex_dynamics.kernels.base.layout import (
    AXIS,
    ELASTIC,
    FIXED,
    FLOATING,
    KIND,
    MODES,
    ON_BEAM,
    OPTIONS,
    PARENT,
    PHI_ROW,
    PLANAR,
    PLANE,
    POINT,
    POSITION,
    PRISMATIC,
    RATIO,
    REVOLUTE,
    ROTATION,
    SCREW,
    SECTION,
    Q,
)
from flex_dynamics.kernels.base.so3 import (
    coefficients,
    exponential,
    right_jacobian,
    right_jacobian_rate,
)
from flex_dynamics.kernels.base.spatial import add_twist_cross, twist_to_child
from flex_dynamics.kernels.base.vector import address_of, shifted
from flex_dynamics.kernels.beam.section import BIAS, OWN, section_motion


@njit(**OPTIONS)
def set_rotation_about(axis_x, axis_y, axis_z, angle, row, R):
    """R (3, 3) = row's fixed rotation times a turn about a unit axis."""
    s, d = math.sin(angle), 1.0 - math.cos(angle)
    c = 1.0 - d
    t00, t11, t22 = c + d * axis_x * axis_x, c + d * axis_y * axis_y, c + d * axis_z * axis_z
    t01, t10 = d * axis_x * axis_y - s * axis_z, d * axis_x * axis_y + s * axis_z
    t02, t20 = d * axis_x * axis_z + s * axis_y, d * axis_x * axis_z - s * axis_y
    t12, t21 = d * axis_y * axis_z - s * axis_x, d * axis_y * axis_z + s * axis_x
    for i in range(3):
        r0, r1, r2 = row[ROTATION + 3 * i], row[ROTATION + 3 * i + 1], row[ROTATION + 3 * i + 2]
        R[i, 0] = r0 * t00 + r1 * t10 + r2 * t20
        R[i, 1] = r0 * t01 + r1 * t11 + r2 * t21
        R[i, 2] = r0 * t02 + r1 * t12 + r2 * t22


@njit(**OPTIONS)
def joint_pose(kind, body, q, at, R, p):
    """Pose of a node against its parent for every kind but ON_BEAM; body is the node's row."""
    ax, ay, az = body[AXIS], body[AXIS + 1], body[AXIS + 2]
    for i in range(3):
        p[i] = body[POSITION + i]
    if kind == REVOLUTE:
        set_rotation_about(ax, ay, az, body[RATIO] * q[at], body, R)
        # The axis goes through POINT: p = p0 + R0 point - R point.
        for i in range(3):
            for j in range(3):
                p[i] += (body[ROTATION + 3 * i + j] - R[i, j]) * body[POINT + j]
        return
    if kind == PLANAR:
        set_rotation_about(ax, ay, az, q[at + 2], body, R)
        for i in range(3):
            for j in range(3):
                step = q[at] * body[PLANE + j] + q[at + 1] * body[PLANE + 3 + j]
                p[i] += body[ROTATION + 3 * i + j] * step
        return
    if kind == FLOATING:
        # Position in the parent's joint frame, then the rotation vector.
        exponential(q[at + 3], q[at + 4], q[at + 5], R)
        for i in range(3):
            for j in range(3):
                p[i] += body[ROTATION + 3 * i + j] * q[at + j]
        for k in range(3):
            r0, r1, r2 = R[0, k], R[1, k], R[2, k]
            for i in range(3):
                R[i, k] = (body[ROTATION + 3 * i] * r0 + body[ROTATION + 3 * i + 1] * r1
                           + body[ROTATION + 3 * i + 2] * r2)
        return
    for i in range(3):
        for j in range(3):
            R[i, j] = body[ROTATION + 3 * i + j]
    if kind == PRISMATIC:
        for i in range(3):
            p[i] += body[RATIO] * q[at] * (R[i, 0] * ax + R[i, 1] * ay + R[i, 2] * az)


@njit(**OPTIONS)
def base_screws(kind, body, q, v, at, R, w):
    """Screws of a planar or floating base and their rates, rows of w.S and w.S_rate."""
    S, Sd = w.S, w.S_rate
    S[:, :] = 0.0
    Sd[:, :] = 0.0
    if kind == PLANAR:
        ax, ay, az = body[AXIS], body[AXIS + 1], body[AXIS + 2]
        # R0' of the plane's vectors, turned back by the angle: R'R0 e.
        for k in range(2):
            for i in range(3):
                for j in range(3):
                    for m in range(3):
                        S[k, 3 + i] += R[j, i] * body[ROTATION + 3 * j + m] * body[PLANE + 3 * k
                                                                                   + m]
            rate = v[at + 2]
            Sd[k, 3] = -rate * (ay * S[k, 5] - az * S[k, 4])
            Sd[k, 4] = -rate * (az * S[k, 3] - ax * S[k, 5])
            Sd[k, 5] = -rate * (ax * S[k, 4] - ay * S[k, 3])
        for i in range(3):
            S[2, i] = body[AXIS + i]
        return
    x, y, z = q[at + 3], q[at + 4], q[at + 5]
    xd, yd, zd = v[at + 3], v[at + 4], v[at + 5]
    _, b, c, db, dc = coefficients(x * x + y * y + z * z)
    omega = right_jacobian(b, c, x, y, z, xd, yd, zd)
    for k in range(3):
        for i in range(3):
            for j in range(3):
                S[k, 3 + i] += R[j, i] * body[ROTATION + 3 * j + k]
        Sd[k, 3] = -(omega[1] * S[k, 5] - omega[2] * S[k, 4])
        Sd[k, 4] = -(omega[2] * S[k, 3] - omega[0] * S[k, 5])
        Sd[k, 5] = -(omega[0] * S[k, 4] - omega[1] * S[k, 3])
        e0, e1, e2 = 1.0 * (k == 0), 1.0 * (k == 1), 1.0 * (k == 2)
        S[3 + k, 0], S[3 + k, 1], S[3 + k, 2] = right_jacobian(b, c, x, y, z, e0, e1, e2)
        Sd[3 + k, 0], Sd[3 + k, 1], Sd[3 + k, 2] = right_jacobian_rate(
            b, c, db, dc, x, y, z, xd, yd, zd, e0, e1, e2)


@njit(**OPTIONS)
def kinematics(table, body, coef, q, v, w, rates):
    """Fill w.R, w.p, w.V, w.c, w.phi (and w.S of a moving base) for state q, v; with `rates` also
    w.phi_rate."""
    own = w.six[0]
    for i in range(table.shape[0]):
        kind, parent, at = table[i, KIND], table[i, PARENT], table[i, Q]
        R, p, V, c = w.R[i], w.p[i], w.V[i], w.c[i]
        if kind == ON_BEAM:
            start, modes = table[parent, ELASTIC], table[parent, MODES]
            row = table[i, PHI_ROW]
            section_motion(modes, coef, table[i, SECTION], shifted(address_of(q), start),
                           shifted(address_of(v), start), w.scratch, R, p, address_of(w.phi[row]),
                           address_of(w.phi_rate[row]), rates)
            twist_to_child(R, p, w.V[parent], V)
            for k in range(6):
                own[k] = w.scratch.section[OWN + k]
                V[k] += own[k]
                c[k] = w.scratch.section[BIAS + k]
            add_twist_cross(V, own, 1.0, c)
            continue
        joint_pose(kind, body[i], q, at, R, p)
        if parent >= 0:
            twist_to_child(R, p, w.V[parent], V)
        else:
            V[:] = 0.0
        c[:] = 0.0
        if kind == REVOLUTE or kind == PRISMATIC:
            screw = body[i, SCREW:SCREW + 6]
            for k in range(6):
                V[k] += screw[k] * v[at]
            add_twist_cross(V, screw, v[at], c)
        elif kind != FIXED:
            base_screws(kind, body[i], q, v, at, R, w)
            for m in range(3 if kind == PLANAR else 6):
                for k in range(6):
                    V[k] += w.S[m, k] * v[at + m]
                    c[k] += w.S_rate[m, k] * v[at + m]
