"""Coriolis blocks of one body: C with dM/dt - 2 C skew and C u = bias.

For particles that move with u = G (w, v, etad) in axes turning with w, the force is
G'(G u' + (G_rate + [w] G) u), so C = sum G'(G_rate + [w] G); its symmetric part is half of dM/dt.
"""
from __future__ import annotations

from numba import njit

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
def beam_coriolis(row, coef, roots, w, V, C, on_twist, on_amplitude, C_elastic):
    """C (6, 6) of a beam's twist; on_twist (modes, 6): force on the twist per amplitude speed;
    on_amplitude (modes, 6): force on the amplitude per twist; C_elastic (modes, modes).

    Overwrites w.B_rate with B_rate + w x B.
    """
    modes = row[MODES_Y] + row[MODES_Z] + row[MODES_X]
    n_axis, n_director = row[N_AXIS], row[N_DIRECTOR]
    columns = 3 * (n_axis + 2 * n_director)
    P, Pd, B, W = w.point, w.point_rate, w.B, w.B_rate
    w0, w1, w2 = V[0], V[1], V[2]
    C[:, :] = 0.0
    mass, c0, c1, c2, d0, d1, d2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(n_axis):
        root = coef[roots + k]
        mass += root * root
        c0 += root * P[k]
        c1 += root * P[n_axis + k]
        c2 += root * P[2 * n_axis + k]
        d0 += root * Pd[k]
        d1 += root * Pd[n_axis + k]
        d2 += root * Pd[2 * n_axis + k]
    e0, e1, e2 = 0.0, 0.0, 0.0
    start = 0
    for kind in range(3):
        count = n_axis if kind == 0 else n_director
        for k in range(start, start + count):
            x, y, z = P[k], P[count + k], P[2 * count + k]
            s = x * w0 + y * w1 + z * w2
            e0 += s * x
            e1 += s * y
            e2 += s * z
            _product_into(x, y, z, Pd[k], Pd[count + k], Pd[2 * count + k], -1.0, C, 0, 0)
        start += 3 * count
    _cross_matrix_into(e0, e1, e2, C, 0, 0)
    _product_into(c0, c1, c2, w0, w1, w2, 1.0, C, 0, 3)
    _product_into(w0, w1, w2, c0, c1, c2, -1.0, C, 3, 0)
    _cross_matrix_into(-d0, -d1, -d2, C, 3, 0)
    _cross_matrix_into(mass * w0, mass * w1, mass * w2, C, 3, 3)
    for a in range(modes):
        m0, m1, m2, l0, l1, l2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        r0, r1, r2, t0, t1, t2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        start = 0
        for kind in range(3):
            count = n_axis if kind == 0 else n_director
            for k in range(start, start + count):
                x, y, z = P[k], P[count + k], P[2 * count + k]
                xd, yd, zd = Pd[k], Pd[count + k], Pd[2 * count + k]
                bx, by, bz = B[a, k], B[a, count + k], B[a, 2 * count + k]
                fx = W[a, k] + w1 * bz - w2 * by
                fy = W[a, count + k] + w2 * bx - w0 * bz
                fz = W[a, 2 * count + k] + w0 * by - w1 * bx
                W[a, k], W[a, count + k], W[a, 2 * count + k] = fx, fy, fz
                m0 += y * fz - z * fy
                m1 += z * fx - x * fz
                m2 += x * fy - y * fx
                gx, gy, gz = by * w2 - bz * w1, bz * w0 - bx * w2, bx * w1 - by * w0
                r0 -= by * zd - bz * yd + gy * z - gz * y
                r1 -= bz * xd - bx * zd + gz * x - gx * z
                r2 -= bx * yd - by * xd + gx * y - gy * x
            start += 3 * count
        for k in range(n_axis):
            root = coef[roots + k]
            l0 += root * W[a, k]
            l1 += root * W[a, n_axis + k]
            l2 += root * W[a, 2 * n_axis + k]
            bx, by, bz = root * B[a, k], root * B[a, n_axis + k], root * B[a, 2 * n_axis + k]
            t0 += by * w2 - bz * w1
            t1 += bz * w0 - bx * w2
            t2 += bx * w1 - by * w0
        on_twist[a, 0], on_twist[a, 1], on_twist[a, 2] = m0, m1, m2
        on_twist[a, 3], on_twist[a, 4], on_twist[a, 5] = l0, l1, l2
        on_amplitude[a, 0], on_amplitude[a, 1], on_amplitude[a, 2] = r0, r1, r2
        on_amplitude[a, 3], on_amplitude[a, 4], on_amplitude[a, 5] = t0, t1, t2
    for a in range(modes):
        for d in range(modes):
            s = 0.0
            for k in range(columns):
                s += B[a, k] * W[d, k]
            C_elastic[a, d] = s
