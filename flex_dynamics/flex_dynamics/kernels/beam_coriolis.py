"""Coriolis blocks of one body: C with dM/dt - 2 C skew and C u = bias.

For particles that move with u = G (w, v, etad) in axes turning with w, the force is
G'(G u' + (G_rate + [w] G) u), so C = sum G'(G_rate + [w] G); its symmetric part is half of dM/dt.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.beam_body import columns_of, dot, moment_sum
from flex_dynamics.kernels.fields import THREE, TWO, U
from flex_dynamics.kernels.layout import (
    INERTIA,
    MASS,
    MODES_X,
    MODES_Y,
    MODES_Z,
    MOMENT,
    N_AXIS,
    N_DIRECTOR,
    OPTIONS,
)


@njit(**OPTIONS)
def _cross_matrix_into(x, y, z, C, row, column):
    C[row, column + 1] -= z
    C[row, column + 2] += y
    C[row + 1, column] += z
    C[row + 1, column + 2] -= x
    C[row + 2, column] -= y
    C[row + 2, column + 1] += x


@njit(**OPTIONS)
def _product_into(a0, a1, a2, b0, b1, b2, sign, C, row, column):
    """C += sign [a][b] = sign (b a' - (a.b) 1)."""
    dot = a0 * b0 + a1 * b1 + a2 * b2
    a, b = (a0, a1, a2), (b0, b1, b2)
    for i in range(3):
        for j in range(3):
            C[row + i, column + j] += sign * b[i] * a[j]
        C[row + i, column + i] -= sign * dot


@njit(**OPTIONS)
def rigid_coriolis(body, V, C):
    """C (6, 6) of a rigid body: skew, since its inertia is constant in its own axes."""
    C[:, :] = 0.0
    w0, w1, w2 = V[0], V[1], V[2]
    m = body[MASS]
    c0, c1, c2 = body[MOMENT], body[MOMENT + 1], body[MOMENT + 2]
    half = 0.5 * (body[INERTIA] + body[INERTIA + 4] + body[INERTIA + 8])
    e0 = half * w0 - (body[INERTIA] * w0 + body[INERTIA + 1] * w1 + body[INERTIA + 2] * w2)
    e1 = half * w1 - (body[INERTIA + 3] * w0 + body[INERTIA + 4] * w1 + body[INERTIA + 5] * w2)
    e2 = half * w2 - (body[INERTIA + 6] * w0 + body[INERTIA + 7] * w1 + body[INERTIA + 8] * w2)
    _cross_matrix_into(e0, e1, e2, C, 0, 0)
    _product_into(c0, c1, c2, w0, w1, w2, 1.0, C, 0, 3)
    _product_into(w0, w1, w2, c0, c1, c2, -1.0, C, 3, 0)
    _cross_matrix_into(m * w0, m * w1, m * w2, C, 3, 3)


@njit(**OPTIONS)
def beam_coriolis(row, coef, roots_at, w, V, C, on_twist, on_amplitude, C_elastic):
    """C (6, 6) of a beam's twist; on_twist (modes, 6): force on the twist per amplitude speed;
    on_amplitude (modes, 6): force on the amplitude per twist; C_elastic (modes, modes).

    Overwrites w.B_rate with B_rate + w x B.
    """
    modes = U(row[MODES_Y] + row[MODES_Z] + row[MODES_X])
    n_axis, n_director = U(row[N_AXIS]), U(row[N_DIRECTOR])
    columns = THREE * (n_axis + TWO * n_director)
    P, Pd, B, W, roots = w.point, w.point_rate, w.B, w.B_rate, U(roots_at)
    w0, w1, w2 = V[0], V[1], V[2]
    for i in range(6):
        for j in range(6):
            C[i, j] = 0.0
    for a in range(modes):
        for k in range(6):
            on_twist[a, k] = 0.0
            on_amplitude[a, k] = 0.0
    for kind in range(3):
        n = n_axis if kind == 0 else n_director
        x, y, z = columns_of(kind, n_axis, n_director)
        _turning_part(P, Pd, x, y, z, n, w0, w1, w2, C)
        for a in range(modes):
            _amplitude_part(P, Pd, x, y, z, B, W, a * columns, n, w0, w1, w2, on_twist[a],
                            on_amplitude[a])
    x, y, z = columns_of(0, n_axis, n_director)
    mass = dot(coef, roots, coef, roots, n_axis)
    c0, c1 = dot(coef, roots, P, x, n_axis), dot(coef, roots, P, y, n_axis)
    c2 = dot(coef, roots, P, z, n_axis)
    _product_into(c0, c1, c2, w0, w1, w2, 1.0, C, 0, 3)
    _product_into(w0, w1, w2, c0, c1, c2, -1.0, C, 3, 0)
    _cross_matrix_into(-dot(coef, roots, Pd, x, n_axis), -dot(coef, roots, Pd, y, n_axis),
                       -dot(coef, roots, Pd, z, n_axis), C, 3, 0)
    _cross_matrix_into(mass * w0, mass * w1, mass * w2, C, 3, 3)
    for a in range(modes):
        at = a * columns
        on_twist[a, 3] = dot(coef, roots, W, at + x, n_axis)
        on_twist[a, 4] = dot(coef, roots, W, at + y, n_axis)
        on_twist[a, 5] = dot(coef, roots, W, at + z, n_axis)
        b0, b1 = dot(coef, roots, B, at + x, n_axis), dot(coef, roots, B, at + y, n_axis)
        b2 = dot(coef, roots, B, at + z, n_axis)
        on_amplitude[a, 3] = b1 * w2 - b2 * w1
        on_amplitude[a, 4] = b2 * w0 - b0 * w2
        on_amplitude[a, 5] = b0 * w1 - b1 * w0
        for d in range(modes):
            C_elastic[a, d] = dot(B, at, W, d * columns, columns)


@njit(**OPTIONS)
def _turning_part(P, Pd, x, y, z, n, w0, w1, w2, C):
    """Sum of -[p][pd] + (p.w)[p] into the angular block."""
    e0, e1, e2, s00, s11, s22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    s01, s02, s10, s12, s20, s21 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(n):
        px, py, pz = P[x + k], P[y + k], P[z + k]
        xd, yd, zd = Pd[x + k], Pd[y + k], Pd[z + k]
        s = px * w0 + py * w1 + pz * w2
        e0 += s * px
        e1 += s * py
        e2 += s * pz
        s00 += xd * px
        s01 += xd * py
        s02 += xd * pz
        s10 += yd * px
        s11 += yd * py
        s12 += yd * pz
        s20 += zd * px
        s21 += zd * py
        s22 += zd * pz
    _cross_matrix_into(e0, e1, e2, C, 0, 0)
    C[0, 0] += s11 + s22
    C[1, 1] += s00 + s22
    C[2, 2] += s00 + s11
    C[0, 1] -= s01
    C[0, 2] -= s02
    C[1, 0] -= s10
    C[1, 2] -= s12
    C[2, 0] -= s20
    C[2, 1] -= s21


@njit(**OPTIONS)
def _amplitude_part(P, Pd, x, y, z, B, W, at, n, w0, w1, w2, on_twist, on_amplitude):
    """f = B_rate + w x b, kept in W; the moments p x f; the rows -(b x pd) - (b x w) x p."""
    bx, by, bz = at + x, at + y, at + z
    for k in range(n):
        b0, b1, b2 = B[bx + k], B[by + k], B[bz + k]
        W[bx + k] += w1 * b2 - w2 * b1
        W[by + k] += w2 * b0 - w0 * b2
        W[bz + k] += w0 * b1 - w1 * b0
    m0, m1, m2 = moment_sum(P, x, y, z, W, bx, by, bz, n)
    on_twist[0] += m0
    on_twist[1] += m1
    on_twist[2] += m2
    r0, r1, r2 = moment_sum(Pd, x, y, z, B, bx, by, bz, n)
    # (b x w) x p = w (b.p) - b (w.p), summed.
    s, t0, t1, t2 = 0.0, 0.0, 0.0, 0.0
    for k in range(n):
        px, py, pz = P[x + k], P[y + k], P[z + k]
        b0, b1, b2 = B[bx + k], B[by + k], B[bz + k]
        s += b0 * px + b1 * py + b2 * pz
        u = w0 * px + w1 * py + w2 * pz
        t0 += b0 * u
        t1 += b1 * u
        t2 += b2 * u
    on_amplitude[0] += r0 - w0 * s + t0
    on_amplitude[1] += r1 - w1 * s + t1
    on_amplitude[2] += r2 - w2 * s + t2
