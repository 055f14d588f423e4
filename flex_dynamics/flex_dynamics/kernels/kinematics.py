"""Forward kinematics: poses, twists and velocity-product accelerations of all nodes, base to tip.

Twist propagation of Mohan and Saha (9), (10) with an exact section rotation:
V = X V_parent + S qd at a joint, V = X V_parent + Phi etad at a section of a beam.
"""
from __future__ import annotations

import math

from numba import njit

from flex_dynamics.kernels.fields import single
from flex_dynamics.kernels.layout import (
    AXIS,
    ELASTIC,
    FIXED,
    FLOATING,
    KIND,
    MODES,
    MODES_X,
    MODES_Y,
    MODES_Z,
    ON_BEAM,
    OPTIONS,
    PARENT,
    PHI_ROW,
    PLANAR,
    PLANE,
    POINT,
    POSITION,
    PRISMATIC,
    REVOLUTE,
    ROTATION,
    SCREW,
    SECTION,
    Q,
)
from flex_dynamics.kernels.so3 import (
    coefficients,
    exponential,
    right_jacobian,
    right_jacobian_rate,
)


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
def twist_to_child(R, p, parent, child):
    """child = X parent: angular R'w, linear R'(v + w x p)."""
    w0, w1, w2 = parent[0], parent[1], parent[2]
    v0 = parent[3] + w1 * p[2] - w2 * p[1]
    v1 = parent[4] + w2 * p[0] - w0 * p[2]
    v2 = parent[5] + w0 * p[1] - w1 * p[0]
    for i in range(3):
        child[i] = R[0, i] * w0 + R[1, i] * w1 + R[2, i] * w2
        child[3 + i] = R[0, i] * v0 + R[1, i] * v1 + R[2, i] * v2


@njit(**OPTIONS)
def add_twist_cross(V, s, scale, out):
    """out += scale V x s, the cross product of twists: rate of a joint's own motion."""
    out[0] += scale * (V[1] * s[2] - V[2] * s[1])
    out[1] += scale * (V[2] * s[0] - V[0] * s[2])
    out[2] += scale * (V[0] * s[1] - V[1] * s[0])
    out[3] += scale * (V[1] * s[5] - V[2] * s[4] + V[4] * s[2] - V[5] * s[1])
    out[4] += scale * (V[2] * s[3] - V[0] * s[5] + V[5] * s[0] - V[3] * s[2])
    out[5] += scale * (V[0] * s[4] - V[1] * s[3] + V[3] * s[1] - V[4] * s[0])


@njit(**OPTIONS)
def joint_pose(kind, body, q, at, R, p):
    """Pose of a node against its parent for every kind but ON_BEAM; body is the node's row."""
    ax, ay, az = body[AXIS], body[AXIS + 1], body[AXIS + 2]
    for i in range(3):
        p[i] = body[POSITION + i]
    if kind == REVOLUTE:
        set_rotation_about(ax, ay, az, q[at], body, R)
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
            p[i] += q[at] * (R[i, 0] * ax + R[i, 1] * ay + R[i, 2] * az)


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
def section_fields(row, coef, at, eta, rate, w):
    """Position and rotation vector of a section into w.section, w.section_B ..."""
    n_y, n_z, n_x = row[MODES_Y], row[MODES_Z], row[MODES_X]
    for i in range(6):
        # Codes of an axis point, then of the rotation vector (layout.py).
        code = (5, 0, 1, 2, 1, 0)[i]
        at = single(code, n_y, n_z, n_x, coef, at, eta, rate, i, w.section, w.section_rate,
                    w.section_convective, w.section_B, w.section_B_rate)


@njit(**OPTIONS)
def section_motion(modes, w, R, p, phi, phi_rate, bias, rates):
    """Pose of a section and its Jacobian rows phi (modes, 6), Phi = [Jr dtheta; R' dr], their
    rates if `rates`, and bias = Phi_rate etad, from what section_fields left in w."""
    P, Pd, conv = w.section, w.section_rate, w.section_convective
    B, Bd = w.section_B, w.section_B_rate
    x, y, z = P[3], P[4], P[5]
    xd, yd, zd = Pd[3], Pd[4], Pd[5]
    exponential(x, y, z, R)
    for i in range(3):
        p[i] = P[i]
    _, b, c, db, dc = coefficients(x * x + y * y + z * z)
    o0, o1, o2 = right_jacobian(b, c, x, y, z, xd, yd, zd)
    for a in range(modes):
        g0, g1, g2 = right_jacobian(b, c, x, y, z, B[a, 3], B[a, 4], B[a, 5])
        phi[a, 0], phi[a, 1], phi[a, 2] = g0, g1, g2
        l0 = R[0, 0] * B[a, 0] + R[1, 0] * B[a, 1] + R[2, 0] * B[a, 2]
        l1 = R[0, 1] * B[a, 0] + R[1, 1] * B[a, 1] + R[2, 1] * B[a, 2]
        l2 = R[0, 2] * B[a, 0] + R[1, 2] * B[a, 1] + R[2, 2] * B[a, 2]
        phi[a, 3], phi[a, 4], phi[a, 5] = l0, l1, l2
        if not rates:
            continue
        d0, d1, d2 = right_jacobian(b, c, x, y, z, Bd[a, 3], Bd[a, 4], Bd[a, 5])
        r0, r1, r2 = right_jacobian_rate(b, c, db, dc, x, y, z, xd, yd, zd, B[a, 3], B[a, 4],
                                         B[a, 5])
        phi_rate[a, 0], phi_rate[a, 1], phi_rate[a, 2] = d0 + r0, d1 + r1, d2 + r2
        phi_rate[a, 3] = (R[0, 0] * Bd[a, 0] + R[1, 0] * Bd[a, 1] + R[2, 0] * Bd[a, 2]
                          - (o1 * l2 - o2 * l1))
        phi_rate[a, 4] = (R[0, 1] * Bd[a, 0] + R[1, 1] * Bd[a, 1] + R[2, 1] * Bd[a, 2]
                          - (o2 * l0 - o0 * l2))
        phi_rate[a, 5] = (R[0, 2] * Bd[a, 0] + R[1, 2] * Bd[a, 1] + R[2, 2] * Bd[a, 2]
                          - (o0 * l1 - o1 * l0))
    g0, g1, g2 = right_jacobian(b, c, x, y, z, conv[3], conv[4], conv[5])
    r0, r1, r2 = right_jacobian_rate(b, c, db, dc, x, y, z, xd, yd, zd, xd, yd, zd)
    bias[0], bias[1], bias[2] = g0 + r0, g1 + r1, g2 + r2
    l0 = R[0, 0] * Pd[0] + R[1, 0] * Pd[1] + R[2, 0] * Pd[2]
    l1 = R[0, 1] * Pd[0] + R[1, 1] * Pd[1] + R[2, 1] * Pd[2]
    l2 = R[0, 2] * Pd[0] + R[1, 2] * Pd[1] + R[2, 2] * Pd[2]
    bias[3] = R[0, 0] * conv[0] + R[1, 0] * conv[1] + R[2, 0] * conv[2] - (o1 * l2 - o2 * l1)
    bias[4] = R[0, 1] * conv[0] + R[1, 1] * conv[1] + R[2, 1] * conv[2] - (o2 * l0 - o0 * l2)
    bias[5] = R[0, 2] * conv[0] + R[1, 2] * conv[1] + R[2, 2] * conv[2] - (o0 * l1 - o1 * l0)
    return o0, o1, o2, l0, l1, l2


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
            section_fields(table[parent], coef, table[i, SECTION], q[start:start + modes],
                           v[start:start + modes], w)
            row = table[i, PHI_ROW]
            own[0], own[1], own[2], own[3], own[4], own[5] = section_motion(
                modes, w, R, p, w.phi[row:row + modes], w.phi_rate[row:row + modes], c,
                rates)
            twist_to_child(R, p, w.V[parent], V)
            for k in range(6):
                V[k] += own[k]
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
