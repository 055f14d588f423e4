"""Mass and Coriolis matrices by composite bodies, tip to base: the path beside the recursion.

Composite bodies of Mohan and Saha (32). For the subtree behind a node the force is
I V' + B V; through V = T u of the parent it becomes T'(I T) u' + T'(I T_rate + B T) u, which keeps
dM/dt - 2 C skew at every step. A coordinate's column is its force carried to the base; its row of
C is the pair (g, h) of what the subtree answers to V' and V, carried the same way.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.beam_body import beam_fields, beam_inertia, rigid_body
from flex_dynamics.kernels.beam_coriolis import beam_coriolis, rigid_coriolis
from flex_dynamics.kernels.finite import BAD_INPUT, finite
from flex_dynamics.kernels.kinematics import kinematics
from flex_dynamics.kernels.layout import (
    ELASTIC,
    FIXED,
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
    Q,
)
from flex_dynamics.kernels.recursive_forward_dynamics import (
    add_force_to_parent,
    add_inertia_to_parent,
    move_to_parent,
)
from flex_dynamics.kernels.workspace import carve


def coriolis_workspace_length(size) -> int:
    nodes, elastic, most = int(size[0]), max(int(size[1]), 1), int(size[2])
    return 36 * nodes + elastic * (12 + most) + 60


@njit(**OPTIONS)
def _twist_cross_transposed(s, x, scale, out):
    """out += scale [s x]' x, where s x V is the cross product of twists."""
    out[0] += scale * (x[1] * s[2] - x[2] * s[1] + x[4] * s[5] - x[5] * s[4])
    out[1] += scale * (x[2] * s[0] - x[0] * s[2] + x[5] * s[3] - x[3] * s[5])
    out[2] += scale * (x[0] * s[1] - x[1] * s[0] + x[3] * s[4] - x[4] * s[3])
    out[3] += scale * (x[4] * s[2] - x[5] * s[1])
    out[4] += scale * (x[5] * s[0] - x[3] * s[2])
    out[5] += scale * (x[3] * s[1] - x[4] * s[0])


@njit(**OPTIONS)
def _own_motion(i, table, body, v, w, out):
    """Relative twist of a node against its parent, in the node's axes: X_rate = -[own x] X."""
    kind, parent = table[i, KIND], table[i, PARENT]
    for k in range(6):
        out[k] = 0.0
    if kind == ON_BEAM:
        start, row = table[parent, ELASTIC], table[i, PHI_ROW]
        for m in range(table[parent, MODES]):
            for k in range(6):
                out[k] += w.phi[row + m, k] * v[start + m]
    elif kind == REVOLUTE or kind == PRISMATIC:
        for k in range(6):
            out[k] = body[i, SCREW + k] * v[table[i, Q]]
    elif kind != FIXED:
        for m in range(3 if kind == PLANAR else 6):
            for k in range(6):
                out[k] += w.S[m, k] * v[table[i, Q] + m]


@njit(**OPTIONS)
def _carry_up(node, column, table, body, v, w, with_c, F, FC, g, h, M, C, gravity, weight):
    """Meet every coordinate between `node` (its joint included) and the base.

    F, FC: force of the coordinate `column` on the node's twist per unit acceleration and speed;
    g, h: force on the coordinate per unit V' and V of the node. All are overwritten.
    """
    own = w.six[2]
    while node >= 0:
        kind, parent, at = table[node, KIND], table[node, PARENT], table[node, Q]
        if kind == ON_BEAM:
            start, row = table[parent, ELASTIC], table[node, PHI_ROW]
            for m in range(table[parent, MODES]):
                a = start + m
                phi, phi_rate = w.phi[row + m], w.phi_rate[row + m]
                s, sc, sr = 0.0, 0.0, 0.0
                for k in range(6):
                    s += phi[k] * F[k]
                    sc += phi[k] * FC[k]
                    sr += phi_rate[k] * g[k] + phi[k] * h[k]
                M[a, column] = s
                M[column, a] = s
                if with_c:
                    C[a, column] = sc
                    C[column, a] = sr
        else:
            for m in range(6 if kind > PLANAR else (3 if kind == PLANAR else
                                                    (0 if kind == FIXED else 1))):
                s, sc, sr = 0.0, 0.0, 0.0
                for k in range(6):
                    screw = w.S[m, k] if kind >= PLANAR else body[node, SCREW + k]
                    rate = w.S_rate[m, k] if kind >= PLANAR else 0.0
                    s += screw * F[k]
                    sc += screw * FC[k]
                    sr += rate * g[k] + screw * h[k]
                if at + m != column:
                    M[at + m, column] = s
                    M[column, at + m] = s
                    if with_c:
                        C[at + m, column] = sc
                        C[column, at + m] = sr
        if parent >= 0:
            if with_c:
                _own_motion(node, table, body, v, w, own)
                # h_parent = X'h + X_rate' g, X_rate = -[own x] X.
                _twist_cross_transposed(own, g, -1.0, h)
                move_to_parent(w.R[node], w.p[node], h)
                move_to_parent(w.R[node], w.p[node], g)
                move_to_parent(w.R[node], w.p[node], FC)
            move_to_parent(w.R[node], w.p[node], F)
        else:
            weight[column] = _weight(w.R[node], F, gravity)
        node = parent


@njit(**OPTIONS)
def _weight(R, F, gravity):
    """Gravity on a coordinate: its force on a base that accelerates upwards."""
    s = 0.0
    for i in range(3):
        s -= gravity[i] * (R[i, 0] * F[3] + R[i, 1] * F[4] + R[i, 2] * F[5])
    return s


@njit(**OPTIONS)
def mass_and_coriolis(table, body, coef, size, work, more_work, gravity, q, v, with_c, M, C,
                      weight):
    """M (n, n), gravity's force weight (n,) and, if with_c, C (n, n); all are overwritten.

    Returns 0, or BAD_INPUT.
    """
    if not (finite(q) and finite(v)):
        return BAD_INPUT
    w = carve(work, size)
    nodes, elastic, most = size[0], max(size[1], 1), size[2]
    BC = more_work[:36 * nodes].reshape((nodes, 6, 6))
    at = 36 * nodes
    on_twist = more_work[at:at + 6 * elastic].reshape((elastic, 6))
    at += 6 * elastic
    on_amplitude = more_work[at:at + 6 * elastic].reshape((elastic, 6))
    at += 6 * elastic
    CE = more_work[at:at + most * elastic].reshape((elastic, most))
    at += most * elastic
    T = more_work[at:at + 36].reshape((6, 6))
    vectors = more_work[at + 36:at + 60].reshape((4, 6))
    kinematics(table, body, coef, q, v, w, with_c)
    first = table[0, ELASTIC]
    M[:, :] = 0.0
    weight[:] = 0.0
    if with_c:
        C[:, :] = 0.0
    for i in range(nodes):
        modes = table[i, MODES]
        if modes == 0:
            rigid_body(body[i], w.V[i], w.A[i], w.b[i])
            if with_c:
                rigid_coriolis(body[i], w.V[i], BC[i])
            continue
        start = table[i, ELASTIC]
        e = start - first
        roots = beam_fields(table[i], coef, q[start:start + modes], v[start:start + modes], w,
                            with_c)
        beam_inertia(table[i], coef, roots, w, w.A[i], w.F[e:e + modes], w.H[e:e + modes])
        if with_c:
            beam_coriolis(table[i], coef, roots, w, w.V[i], BC[i], on_twist[e:e + modes],
                          on_amplitude[e:e + modes], CE[e:e + modes])
    for i in range(nodes - 1, -1, -1):
        _node(i, table, body, v, with_c, first, w, BC, on_twist, on_amplitude, CE, T, vectors, M,
              C, gravity, weight)
    return 0


@njit(**OPTIONS)
def _node(i, table, body, v, with_c, first, w, BC, on_twist, on_amplitude, CE, T, vectors, M, C,
          gravity, weight):
    """A node whose subtree is complete: its coordinates' entries, then its share in the parent."""
    kind, parent, at, modes = table[i, KIND], table[i, PARENT], table[i, Q], table[i, MODES]
    A, B = w.A[i], BC[i]
    F, FC, g, h = vectors[0], vectors[1], vectors[2], vectors[3]
    start = table[i, ELASTIC]
    e = start - first
    for m in range(modes):
        for d in range(modes):
            M[start + m, start + d] = w.H[e + max(m, d), min(m, d)]
            if with_c:
                C[start + m, start + d] = CE[e + m, d]
        for k in range(6):
            F[k] = w.F[e + m, k]
            g[k] = w.F[e + m, k]
            if with_c:
                FC[k] = on_twist[e + m, k]
                h[k] = on_amplitude[e + m, k]
        _carry_up(i, start + m, table, body, v, w, with_c, F, FC, g, h, M, C, gravity,
                  weight)
    dof = 0
    if kind == PLANAR:
        dof = 3
    elif kind == REVOLUTE or kind == PRISMATIC:
        dof = 1
    elif kind > PLANAR and kind != ON_BEAM:
        dof = 6
    for m in range(dof):
        for k in range(6):
            s, sc, sr = 0.0, 0.0, 0.0
            for j in range(6):
                screw = w.S[m, j] if dof > 1 else body[i, SCREW + j]
                rate = w.S_rate[m, j] if dof > 1 else 0.0
                s += A[k, j] * screw
                if with_c:
                    sc += A[k, j] * rate + B[k, j] * screw
                    sr += B[j, k] * screw
            F[k] = s
            g[k] = s
            FC[k] = sc
            h[k] = sr
        for d in range(dof):
            s, sc = 0.0, 0.0
            for k in range(6):
                screw = w.S[d, k] if dof > 1 else body[i, SCREW + k]
                s += screw * F[k]
                sc += screw * FC[k]
            M[at + d, at + m] = s
            if with_c:
                C[at + d, at + m] = sc
        if parent >= 0:
            _carry_past_joint(i, at + m, table, body, v, w, with_c, F, FC, g, h, M, C, gravity,
                              weight)
        else:
            weight[at + m] = _weight(w.R[i], F, gravity)
    if table[i, MOTOR] >= 0:
        _rotor(i, table, body, v, w, with_c, BC, F, FC, g, h, M, C, gravity, weight)
    if parent < 0:
        return
    if with_c:
        own = w.six[2]
        _own_motion(i, table, body, v, w, own)
        if kind == ON_BEAM:
            _coriolis_to_beam(i, table, v, w, BC, on_twist, on_amplitude, CE, own, first)
        # B_parent += X'(I X_rate + B X), X_rate = -[own x] X.
        for k in range(6):
            _twist_cross_transposed(own, A[k], -1.0, B[k])
        add_inertia_to_parent(w.R[i], w.p[i], B, T, BC[parent])
    if kind == ON_BEAM:
        _mass_to_beam(i, table, w, first)
    add_inertia_to_parent(w.R[i], w.p[i], A, T, w.A[parent])


@njit(**OPTIONS)
def _carry_past_joint(i, column, table, body, v, w, with_c, F, FC, g, h, M, C, gravity, weight):
    """Carry a joint coordinate's vectors from its own node to the parent, then on."""
    own = w.six[2]
    if with_c:
        _own_motion(i, table, body, v, w, own)
        _twist_cross_transposed(own, g, -1.0, h)
        move_to_parent(w.R[i], w.p[i], h)
        move_to_parent(w.R[i], w.p[i], g)
        move_to_parent(w.R[i], w.p[i], FC)
    move_to_parent(w.R[i], w.p[i], F)
    _carry_up(table[i, PARENT], column, table, body, v, w, with_c, F, FC, g, h, M, C, gravity,
              weight)


@njit(**OPTIONS)
def _mass_to_beam(i, table, w, first):
    parent, row = table[i, PARENT], table[i, PHI_ROW]
    modes, e = table[parent, MODES], table[parent, ELASTIC] - first
    column = w.six[2]
    for a in range(modes):
        for j in range(6):
            s = 0.0
            for k in range(6):
                s += w.A[i, j, k] * w.phi[row + a, k]
            column[j] = s
        add_force_to_parent(w.R[i], w.p[i], column, w.F[e + a])
        for d in range(a, modes):
            s = 0.0
            for k in range(6):
                s += column[k] * w.phi[row + d, k]
            w.H[e + d, a] += s


@njit(**OPTIONS)
def _coriolis_to_beam(i, table, v, w, BC, on_twist, on_amplitude, CE, own, first):
    """Amplitude blocks of T'(I T_rate + B T) with T = [X, Phi]."""
    parent, row = table[i, PARENT], table[i, PHI_ROW]
    modes, e = table[parent, MODES], table[parent, ELASTIC] - first
    A, B = w.A[i], BC[i]
    column, g, h = w.six[3], w.six[4], w.six[5]
    for a in range(modes):
        phi, phi_rate = w.phi[row + a], w.phi_rate[row + a]
        for j in range(6):
            s, sg, sh = 0.0, 0.0, 0.0
            for k in range(6):
                s += A[j, k] * phi_rate[k] + B[j, k] * phi[k]
                sg += A[j, k] * phi[k]
                sh += B[k, j] * phi[k]
            column[j] = s
            g[j] = sg
            h[j] = sh
        add_force_to_parent(w.R[i], w.p[i], column, on_twist[e + a])
        _twist_cross_transposed(own, g, -1.0, h)
        add_force_to_parent(w.R[i], w.p[i], h, on_amplitude[e + a])
        for d in range(modes):
            s = 0.0
            for k in range(6):
                s += w.phi[row + d, k] * column[k]
            CE[e + d, a] += s


@njit(**OPTIONS)
def _rotor(i, table, body, v, w, with_c, BC, F, FC, g, h, M, C, gravity, weight):
    """A rotor that spins about an axis of the parent: T = 1/2 Im (a.w + m')2."""
    motor, parent, inertia = table[i, MOTOR], table[i, PARENT], body[i, ROTOR]
    M[motor, motor] = inertia
    if parent < 0:
        return
    axis = body[i, ROTOR_AXIS:ROTOR_AXIS + 3]
    F[:] = 0.0
    FC[:] = 0.0
    g[:] = 0.0
    h[:] = 0.0
    spin = v[motor]
    for k in range(3):
        F[k] = inertia * axis[k]
        g[k] = F[k]
        spin += axis[k] * w.V[parent, k]
        for j in range(3):
            w.A[parent, k, j] += inertia * axis[k] * axis[j]
    if with_c:
        # w x (Im spin a) = -[Im spin a] w.
        a0, a1, a2 = inertia * spin * axis[0], inertia * spin * axis[1], inertia * spin * axis[2]
        B = BC[parent]
        B[0, 1] += a2
        B[0, 2] -= a1
        B[1, 0] -= a2
        B[1, 2] += a0
        B[2, 0] += a1
        B[2, 1] -= a0
    _carry_up(parent, motor, table, body, v, w, with_c, F, FC, g, h, M, C, gravity, weight)
