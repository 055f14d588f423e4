"""Forward dynamics in O(nodes), never forming M: articulated bodies and three sweeps.

Mohan and Saha: U D U' of the mass matrix by the articulated bodies (36)-(38), solved by the sweeps
(39)-(42), with their misprints corrected. A node's amplitudes are eliminated first (block H),
then its joint, and what remains is handed to the parent. Stiffness and damping enter the pivots
through `by_damping` and `by_stiffness`, which is how the implicit integrator stays in O(nodes).
"""
from __future__ import annotations

import math

from numba import njit

from flex_dynamics.kernels.beam_body import beam_bias, beam_fields, beam_inertia, rigid_body
from flex_dynamics.kernels.kinematics import kinematics, twist_to_child
from flex_dynamics.kernels.layout import (
    DAMPER,
    DAMPING,
    ELASTIC,
    FIXED,
    GEAR,
    KIND,
    MODES,
    MOTOR,
    ON_BEAM,
    OPTIONS,
    PARENT,
    PHI_ROW,
    PLANAR,
    PRISMATIC,
    REVOLUTE,
    ROTOR,
    ROTOR_AXIS,
    SCREW,
    SPRING,
    STIFFNESS,
    Q,
)
from flex_dynamics.kernels.workspace import carve


@njit(**OPTIONS)
def at_parent(R, p, m0, m1, m2, l0, l1, l2):
    """X' of a wrench (moment m, force l): what a child's wrench is at its parent."""
    f0 = R[0, 0] * l0 + R[0, 1] * l1 + R[0, 2] * l2
    f1 = R[1, 0] * l0 + R[1, 1] * l1 + R[1, 2] * l2
    f2 = R[2, 0] * l0 + R[2, 1] * l1 + R[2, 2] * l2
    return (R[0, 0] * m0 + R[0, 1] * m1 + R[0, 2] * m2 + p[1] * f2 - p[2] * f1,
            R[1, 0] * m0 + R[1, 1] * m1 + R[1, 2] * m2 + p[2] * f0 - p[0] * f2,
            R[2, 0] * m0 + R[2, 1] * m1 + R[2, 2] * m2 + p[0] * f1 - p[1] * f0, f0, f1, f2)


@njit(**OPTIONS)
def add_force_to_parent(R, p, force, parent):
    """parent += X' force."""
    m0, m1, m2, f0, f1, f2 = at_parent(R, p, force[0], force[1], force[2], force[3], force[4],
                                       force[5])
    parent[0] += m0
    parent[1] += m1
    parent[2] += m2
    parent[3] += f0
    parent[4] += f1
    parent[5] += f2


@njit(**OPTIONS)
def move_to_parent(R, p, force):
    """force = X' force, in place."""
    force[0], force[1], force[2], force[3], force[4], force[5] = at_parent(
        R, p, force[0], force[1], force[2], force[3], force[4], force[5])


@njit(**OPTIONS)
def add_inertia_to_parent(R, p, A, T, parent):
    """parent (6, 6) += X' A X for any square A; T (6, 6) is scratch."""
    # T = A X row by row: each row of A is a wrench seen at the parent.
    for i in range(6):
        T[i, 0], T[i, 1], T[i, 2], T[i, 3], T[i, 4], T[i, 5] = at_parent(
            R, p, A[i, 0], A[i, 1], A[i, 2], A[i, 3], A[i, 4], A[i, 5])
    for j in range(6):
        m0, m1, m2, f0, f1, f2 = at_parent(R, p, T[0, j], T[1, j], T[2, j], T[3, j], T[4, j],
                                           T[5, j])
        parent[0, j] += m0
        parent[1, j] += m1
        parent[2, j] += m2
        parent[3, j] += f0
        parent[4, j] += f1
        parent[5, j] += f2


@njit(**OPTIONS)
def own_inertia(table, body, coef, q, v, w):
    """Every node's own inertia and bias force: w.A, w.b and for beams w.F, w.H, w.e."""
    first = table[0, ELASTIC]
    for i in range(table.shape[0]):
        modes = table[i, MODES]
        if modes == 0:
            rigid_body(body[i], w.V[i], w.A[i], w.b[i])
            continue
        start = table[i, ELASTIC]
        e = start - first
        roots = beam_fields(table[i], coef, q[start:start + modes], v[start:start + modes], w,
                            False)
        beam_inertia(table[i], coef, roots, w, w.A[i], w.F[e:e + modes], w.H[e:e + modes])
        beam_bias(table[i], coef, roots, w, w.V[i], w.b[i], w.e[e:e + modes])


@njit(**OPTIONS)
def cholesky(H, n):
    """Lower Cholesky factor in place, reciprocals on the diagonal; 0 or 1 + the bad pivot."""
    for i in range(n):
        for j in range(i + 1):
            s = H[i, j]
            for k in range(j):
                s -= H[i, k] * H[j, k]
            if i == j:
                if not s > 0.0:
                    return i + 1
                H[i, i] = 1.0 / math.sqrt(s)
            else:
                H[i, j] = s * H[j, j]
    return 0


@njit(**OPTIONS)
def eliminate_amplitudes(row, coef, first, force, by_damping, by_stiffness, w, A, b):
    """Block elimination of a beam's amplitudes from its twist; 0 or 1 + the bad coordinate."""
    modes, start = row[MODES], row[ELASTIC]
    at = start - first
    H, F, G, e = w.H[at:at + modes], w.F[at:at + modes], w.G[at:at + modes], w.e[at:at + modes]
    if by_damping != 0.0 or by_stiffness != 0.0:
        stiffness, damping = row[STIFFNESS], row[DAMPING]
        for i in range(modes):
            for j in range(i + 1):
                H[i, j] += (by_stiffness * coef[stiffness + i * modes + j]
                            + by_damping * coef[damping + i * modes + j])
    bad = cholesky(H, modes)
    if bad:
        return start + bad
    # G = L^-1 F and e = L^-1 (force - bias); the transposed half is left to the last sweep.
    for i in range(modes):
        s = force[start + i] - e[i]
        g0, g1, g2, g3, g4, g5 = F[i, 0], F[i, 1], F[i, 2], F[i, 3], F[i, 4], F[i, 5]
        for k in range(i):
            h = H[i, k]
            s -= h * e[k]
            g0 -= h * G[k, 0]
            g1 -= h * G[k, 1]
            g2 -= h * G[k, 2]
            g3 -= h * G[k, 3]
            g4 -= h * G[k, 4]
            g5 -= h * G[k, 5]
        d = H[i, i]
        e[i] = s * d
        G[i, 0], G[i, 1], G[i, 2] = g0 * d, g1 * d, g2 * d
        G[i, 3], G[i, 4], G[i, 5] = g3 * d, g4 * d, g5 * d
    for i in range(modes):
        for j in range(6):
            gj = G[i, j]
            b[j] += gj * e[i]
            for k in range(6):
                A[j, k] -= gj * G[i, k]
    return 0


@njit(**OPTIONS)
def pass_to_beam(i, parent, table, w, T, first):
    """A section hands its articulated body to the beam: twist, amplitudes and their coupling."""
    A, phi_row, modes = w.A[i], table[i, PHI_ROW], table[parent, MODES]
    at = table[parent, ELASTIC] - first
    bias = w.six[1]
    for j in range(6):
        s = w.b[i, j]
        for k in range(6):
            s += A[j, k] * w.c[i, k]
        bias[j] = s
    for a in range(modes):
        phi = w.phi[phi_row + a]
        column = w.six[2]
        for j in range(6):
            s = 0.0
            for k in range(6):
                s += A[j, k] * phi[k]
            column[j] = s
        add_force_to_parent(w.R[i], w.p[i], column, w.F[at + a])
        s = 0.0
        for j in range(6):
            s += phi[j] * bias[j]
        w.e[at + a] += s
        for d in range(a, modes):
            other = w.phi[phi_row + d]
            s = 0.0
            for j in range(6):
                s += column[j] * other[j]
            w.H[at + d, a] += s
    add_inertia_to_parent(w.R[i], w.p[i], A, T, w.A[parent])
    add_force_to_parent(w.R[i], w.p[i], bias, w.b[parent])


@njit(**OPTIONS)
def solve_sweeps(table, body, coef, force, diagonal, by_damping, by_stiffness, gravity, w, a):
    """(M + diagonal + by_damping D + by_stiffness K) a = force - bias, from what own_inertia left.

    Returns 0, or 1 + the index of the coordinate whose pivot is not positive.
    """
    first = table[0, ELASTIC]
    T = w.base_U
    for i in range(table.shape[0] - 1, -1, -1):
        kind, parent, at = table[i, KIND], table[i, PARENT], table[i, Q]
        A, b, c = w.A[i], w.b[i], w.c[i]
        if table[i, MODES] > 0:
            bad = eliminate_amplitudes(table[i], coef, first, force, by_damping, by_stiffness, w,
                                       A, b)
            if bad:
                return bad
        if kind == ON_BEAM:
            pass_to_beam(i, parent, table, w, T, first)
            continue
        if kind == PLANAR or kind > PLANAR:
            bad = base_pivot(kind, at, force, diagonal, w, A, b, c)
            if bad:
                return bad
            continue
        if kind == FIXED:
            if parent >= 0:
                bias = w.six[1]
                for j in range(6):
                    s = b[j]
                    for k in range(6):
                        s += A[j, k] * c[k]
                    bias[j] = s
                add_inertia_to_parent(w.R[i], w.p[i], A, T, w.A[parent])
                add_force_to_parent(w.R[i], w.p[i], bias, w.b[parent])
            continue
        # One coordinate: U = A s, pivot D, right-hand side u.
        screw, U, D, bias = body[i, SCREW:SCREW + 6], w.U[i], w.D[i], w.six[1]
        pivot, right = diagonal[at], force[at]
        for j in range(6):
            s = 0.0
            t = b[j]
            for k in range(6):
                s += A[j, k] * screw[k]
                t += A[j, k] * c[k]
            U[j] = s
            bias[j] = t
            pivot += screw[j] * s
            right -= screw[j] * t
        if table[i, MOTOR] >= 0:
            bad = elastic_joint_pivot(i, table, body, force, diagonal, by_damping, by_stiffness,
                                      pivot, right, bias, w, T)
            if bad:
                return bad
            continue
        if not pivot > 0.0:
            return at + 1
        inverse = 1.0 / pivot
        D[0], D[1] = inverse, right
        if parent >= 0:
            for j in range(6):
                scaled = U[j] * inverse
                bias[j] += scaled * right
                for k in range(6):
                    A[j, k] -= scaled * U[k]
            add_inertia_to_parent(w.R[i], w.p[i], A, T, w.A[parent])
            add_force_to_parent(w.R[i], w.p[i], bias, w.b[parent])
    accelerate(table, body, gravity, w, a)
    return 0


@njit(**OPTIONS)
def elastic_joint_pivot(i, table, body, force, diagonal, by_damping, by_stiffness, pivot, right,
                        bias, w, T):
    """Joint and rotor together, a pivot block of 2 x 2 in the parent's axes.

    The rotor turns about an axis of the parent, T = 1/2 Im (a.w + m')2 (Mladenova section 8), and
    the spring couples both.
    """
    at, motor, parent = table[i, Q], table[i, MOTOR], table[i, PARENT]
    row, A, U, D = body[i], w.A[i], w.U[i], w.D[i]
    inertia, gear = row[ROTOR], row[GEAR]
    implicit = by_stiffness * row[SPRING] + by_damping * row[DAMPER]
    d00 = pivot + implicit
    d01 = -implicit / gear
    d11 = inertia + implicit / (gear * gear) + diagonal[motor]
    determinant = d00 * d11 - d01 * d01
    if not d00 > 0.0:
        return at + 1
    if not determinant > 0.0:
        return motor + 1
    i00, i01, i11 = d11 / determinant, -d01 / determinant, d00 / determinant
    D[0], D[1], D[2], D[3], D[4] = i00, i01, i11, right, force[motor]
    if parent < 0:
        return 0
    rotor = w.six[3]
    rotor[:] = 0.0
    rate = w.D[i, 5]
    omega = w.V[parent]
    a0, a1, a2 = row[ROTOR_AXIS], row[ROTOR_AXIS + 1], row[ROTOR_AXIS + 2]
    rotor[0], rotor[1], rotor[2] = inertia * a0, inertia * a1, inertia * a2
    spin = rate + a0 * omega[0] + a1 * omega[1] + a2 * omega[2]
    move_to_parent(w.R[i], w.p[i], U)
    add_inertia_to_parent(w.R[i], w.p[i], A, T, w.A[parent])
    add_force_to_parent(w.R[i], w.p[i], bias, w.b[parent])
    B, b = w.A[parent], w.b[parent]
    b[0] += spin * (omega[1] * rotor[2] - omega[2] * rotor[1])
    b[1] += spin * (omega[2] * rotor[0] - omega[0] * rotor[2])
    b[2] += spin * (omega[0] * rotor[1] - omega[1] * rotor[0])
    x0 = i00 * D[3] + i01 * D[4]
    x1 = i01 * D[3] + i11 * D[4]
    for j in range(6):
        y0 = i00 * U[j] + i01 * rotor[j]
        y1 = i01 * U[j] + i11 * rotor[j]
        b[j] += U[j] * x0 + rotor[j] * x1
        for k in range(6):
            B[j, k] -= y0 * U[k] + y1 * rotor[k]
    for j in range(3):
        for k in range(3):
            B[j, k] += row[ROTOR_AXIS + j] * rotor[k]
    return 0


@njit(**OPTIONS)
def base_pivot(kind, at, force, diagonal, w, A, b, c):
    """Pivot block of a planar (3) or floating (6) base."""
    dof = 3 if kind == PLANAR else 6
    S, U, D = w.S, w.base_U, w.base_D
    right = w.six[5]
    for m in range(dof):
        for j in range(6):
            s = 0.0
            for k in range(6):
                s += A[j, k] * S[m, k]
            U[m, j] = s
    for m in range(dof):
        s = force[at + m]
        for j in range(6):
            t = b[j]
            for k in range(6):
                t += A[j, k] * c[k]
            s -= S[m, j] * t
        right[m] = s
        for d in range(dof):
            s = 0.0
            for j in range(6):
                s += S[m, j] * U[d, j]
            D[m, d] = s
        D[m, m] += diagonal[at + m]
    bad = cholesky(D, dof)
    if bad:
        return at + bad
    return 0


@njit(**OPTIONS)
def accelerate(table, body, gravity, w, a):
    """Last sweep, base to tip: accelerations of all coordinates into a (n,)."""
    first = table[0, ELASTIC]
    base = w.six[6]
    base[0], base[1], base[2] = 0.0, 0.0, 0.0
    base[3], base[4], base[5] = -gravity[0], -gravity[1], -gravity[2]
    for i in range(table.shape[0]):
        kind, parent, at = table[i, KIND], table[i, PARENT], table[i, Q]
        acc, c = w.acc[i], w.c[i]
        parent_acc = base if parent < 0 else w.acc[parent]
        twist_to_child(w.R[i], w.p[i], parent_acc, acc)
        for k in range(6):
            acc[k] += c[k]
        if kind == ON_BEAM:
            start, row = table[parent, ELASTIC], table[i, PHI_ROW]
            for m in range(table[parent, MODES]):
                rate = a[start + m]
                for k in range(6):
                    acc[k] += w.phi[row + m, k] * rate
        elif kind == REVOLUTE or kind == PRISMATIC:
            U, D = w.U[i], w.D[i]
            if table[i, MOTOR] >= 0:
                s0, s1 = D[3], D[4]
                if parent >= 0:
                    for k in range(6):
                        s0 -= U[k] * parent_acc[k]
                    for k in range(3):
                        s1 -= body[i, ROTOR] * body[i, ROTOR_AXIS + k] * parent_acc[k]
                else:
                    # U stayed in the node's axes: the base does not move, only gravity acts.
                    twist_to_child(w.R[i], w.p[i], base, w.six[2])
                    for k in range(6):
                        s0 -= U[k] * w.six[2, k]
                a[at] = D[0] * s0 + D[1] * s1
                a[table[i, MOTOR]] = D[1] * s0 + D[2] * s1
            else:
                # D[1] already holds force - s (b + A c): only A s . (X a_parent) is missing.
                s = D[1]
                for k in range(6):
                    s -= U[k] * (acc[k] - c[k])
                a[at] = s * D[0]
            for k in range(6):
                acc[k] += body[i, SCREW + k] * a[at]
        elif kind != FIXED:
            solve_base(3 if kind == PLANAR else 6, at, w, acc, c, a)
        modes = table[i, MODES]
        if modes > 0:
            start = table[i, ELASTIC]
            e = start - first
            # L' x = e - G acc, backwards.
            for m in range(modes):
                s = w.e[e + m]
                for k in range(6):
                    s -= w.G[e + m, k] * acc[k]
                a[start + m] = s
            for m in range(modes - 1, -1, -1):
                s = a[start + m]
                for k in range(m + 1, modes):
                    s -= w.H[e + k, m] * a[start + k]
                a[start + m] = s * w.H[e + m, m]


@njit(**OPTIONS)
def solve_base(dof, at, w, acc, c, a):
    """Accelerations of a moving base's own coordinates, added to its spatial acceleration."""
    D, U, right = w.base_D, w.base_U, w.six[5]
    for m in range(dof):
        s = right[m]
        for k in range(6):
            s -= U[m, k] * (acc[k] - c[k])
        for k in range(m):
            s -= D[m, k] * a[at + k]
        a[at + m] = s * D[m, m]
    for m in range(dof - 1, -1, -1):
        s = a[at + m]
        for k in range(m + 1, dof):
            s -= D[k, m] * a[at + k]
        a[at + m] = s * D[m, m]
    for m in range(dof):
        for k in range(6):
            acc[k] += w.S[m, k] * a[at + m]


@njit(**OPTIONS)
def keep_rotor_rates(table, v, w):
    """Rotor speeds where elastic_joint_pivot looks for them."""
    for i in range(table.shape[0]):
        if table[i, MOTOR] >= 0:
            w.D[i, 5] = v[table[i, MOTOR]]


@njit(**OPTIONS)
def forward_dynamics(table, body, coef, size, work, gravity, q, v, force, diagonal, by_damping,
                     by_stiffness, a):
    """a (n,) with (M + diagonal + by_damping D + by_stiffness K) a = force - bias(q, v).

    force (n,): all generalised forces, springs and dampers included. Returns 0, or 1 + the index
    of the coordinate at which the mass matrix is not positive definite.
    """
    w = carve(work, size)
    kinematics(table, body, coef, q, v, w, False)
    own_inertia(table, body, coef, q, v, w)
    keep_rotor_rates(table, v, w)
    return solve_sweeps(table, body, coef, force, diagonal, by_damping, by_stiffness, gravity, w,
                        a)
