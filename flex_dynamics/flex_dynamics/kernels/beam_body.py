"""Inertia of a body: the blocks of twist and amplitudes, and the forces that speeds cause.

A beam is a set of particles p(eta) (build/quadrature.py), each moving with v + w x p + B etad in
the beam's rotating axes (Mohan and Saha (24), with the misprint 2 in (24b) corrected). All columns
are scaled by the root of the particle's weight, so sums over columns are the space integrals.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.fields import component
from flex_dynamics.kernels.layout import (
    BEAM,
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
def rigid_body(body, V, A, b):
    """A (6, 6) spatial inertia about the node's origin; b (6,) = V x* A V."""
    m = body[MASS]
    c0, c1, c2 = body[MOMENT], body[MOMENT + 1], body[MOMENT + 2]
    w0, w1, w2, v0, v1, v2 = V[0], V[1], V[2], V[3], V[4], V[5]
    for i in range(3):
        for j in range(3):
            A[i, j] = body[INERTIA + 3 * i + j]
            A[3 + i, 3 + j] = 0.0
            A[i, 3 + j] = 0.0
            A[3 + i, j] = 0.0
        A[3 + i, 3 + i] = m
    A[0, 4], A[0, 5], A[1, 3], A[1, 5], A[2, 3], A[2, 4] = -c2, c1, c2, -c0, -c1, c0
    A[4, 0], A[5, 0], A[3, 1], A[5, 1], A[3, 2], A[4, 2] = -c2, c1, c2, -c0, -c1, c0
    # Momentum: linear m v + w x mc, angular J w + mc x v.
    l0 = m * v0 + w1 * c2 - w2 * c1
    l1 = m * v1 + w2 * c0 - w0 * c2
    l2 = m * v2 + w0 * c1 - w1 * c0
    h0 = A[0, 0] * w0 + A[0, 1] * w1 + A[0, 2] * w2 + c1 * v2 - c2 * v1
    h1 = A[1, 0] * w0 + A[1, 1] * w1 + A[1, 2] * w2 + c2 * v0 - c0 * v2
    h2 = A[2, 0] * w0 + A[2, 1] * w1 + A[2, 2] * w2 + c0 * v1 - c1 * v0
    b[0] = w1 * h2 - w2 * h1 + v1 * l2 - v2 * l1
    b[1] = w2 * h0 - w0 * h2 + v2 * l0 - v0 * l2
    b[2] = w0 * h1 - w1 * h0 + v0 * l1 - v1 * l0
    b[3] = w1 * l2 - w2 * l1
    b[4] = w2 * l0 - w0 * l2
    b[5] = w0 * l1 - w1 * l0


@njit(**OPTIONS)
def beam_fields(row, coef, eta, rate, w):
    """All particles of a beam into w.point, w.B ...; returns the offset of the weights' roots.

    Columns: axis points x, y, z, then R e_y, then R e_z, each component contiguous.
    """
    n_y, n_z, n_x = row[MODES_Y], row[MODES_Z], row[MODES_X]
    at, column = row[BEAM], 0
    for kind in range(3):
        count = row[N_AXIS] if kind == 0 else row[N_DIRECTOR]
        for k in range(3):
            code = (5, 0, 1, 0, 4, 2, 1, 2, 3)[3 * kind + k]
            at = component(code, n_y, n_z, n_x, count, coef, at, eta, rate, column, w.point,
                           w.point_rate, w.convective, w.B, w.B_rate)
            column += count
    return at


@njit(**OPTIONS)
def beam_inertia(row, coef, roots, w, A, F, H):
    """Mass blocks of a beam at the fields in w: A (6, 6), F (modes, 6), H (modes, modes)."""
    modes = row[MODES_Y] + row[MODES_Z] + row[MODES_X]
    n_axis, n_director = row[N_AXIS], row[N_DIRECTOR]
    columns = 3 * (n_axis + 2 * n_director)
    P, B = w.point, w.B
    A[:, :] = 0.0
    mass, c0, c1, c2 = 0.0, 0.0, 0.0, 0.0
    for k in range(n_axis):
        root = coef[roots + k]
        mass += root * root
        c0 += root * P[k]
        c1 += root * P[n_axis + k]
        c2 += root * P[2 * n_axis + k]
    xx, yy, zz, xy, xz, yz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    start = 0
    for kind in range(3):
        count = n_axis if kind == 0 else n_director
        for k in range(start, start + count):
            x, y, z = P[k], P[count + k], P[2 * count + k]
            xx += x * x
            yy += y * y
            zz += z * z
            xy += x * y
            xz += x * z
            yz += y * z
        start += 3 * count
    A[0, 0], A[1, 1], A[2, 2] = yy + zz, xx + zz, xx + yy
    A[0, 1], A[0, 2], A[1, 2] = -xy, -xz, -yz
    A[1, 0], A[2, 0], A[2, 1] = -xy, -xz, -yz
    A[3, 3], A[4, 4], A[5, 5] = mass, mass, mass
    A[0, 4], A[0, 5], A[1, 3], A[1, 5], A[2, 3], A[2, 4] = -c2, c1, c2, -c0, -c1, c0
    A[4, 0], A[5, 0], A[3, 1], A[5, 1], A[3, 2], A[4, 2] = -c2, c1, c2, -c0, -c1, c0
    for a in range(modes):
        l0, l1, l2 = 0.0, 0.0, 0.0
        for k in range(n_axis):
            root = coef[roots + k]
            l0 += root * B[a, k]
            l1 += root * B[a, n_axis + k]
            l2 += root * B[a, 2 * n_axis + k]
        F[a, 3], F[a, 4], F[a, 5] = l0, l1, l2
        m0, m1, m2 = 0.0, 0.0, 0.0
        start = 0
        for kind in range(3):
            count = n_axis if kind == 0 else n_director
            for k in range(start, start + count):
                x, y, z = P[k], P[count + k], P[2 * count + k]
                bx, by, bz = B[a, k], B[a, count + k], B[a, 2 * count + k]
                m0 += y * bz - z * by
                m1 += z * bx - x * bz
                m2 += x * by - y * bx
            start += 3 * count
        F[a, 0], F[a, 1], F[a, 2] = m0, m1, m2
        for d in range(a + 1):
            s = 0.0
            for k in range(columns):
                s += B[a, k] * B[d, k]
            H[a, d] = s
            H[d, a] = s


@njit(**OPTIONS)
def beam_bias(row, coef, roots, w, V, b, e):
    """Forces that speeds cause on twist, b (6,), and amplitudes, e (modes,), of a beam."""
    modes = row[MODES_Y] + row[MODES_Z] + row[MODES_X]
    n_axis, n_director = row[N_AXIS], row[N_DIRECTOR]
    columns = 3 * (n_axis + 2 * n_director)
    P, Pd, conv, B, f = w.point, w.point_rate, w.convective, w.B, w.force
    w0, w1, w2 = V[0], V[1], V[2]
    # The origin's own part w x v acts on axis points only: directors have no translation.
    u0, u1, u2 = w1 * V[5] - w2 * V[4], w2 * V[3] - w0 * V[5], w0 * V[4] - w1 * V[3]
    ww00, ww11, ww22 = -(w1 * w1 + w2 * w2), -(w0 * w0 + w2 * w2), -(w0 * w0 + w1 * w1)
    ww01, ww02, ww12 = w0 * w1, w0 * w2, w1 * w2
    m0, m1, m2 = 0.0, 0.0, 0.0
    start = 0
    for kind in range(3):
        count = n_axis if kind == 0 else n_director
        for k in range(start, start + count):
            x, y, z = P[k], P[count + k], P[2 * count + k]
            xd, yd, zd = 2.0 * Pd[k], 2.0 * Pd[count + k], 2.0 * Pd[2 * count + k]
            f[k] = ww00 * x + ww01 * y + ww02 * z + w1 * zd - w2 * yd + conv[k]
            f[count + k] = (ww01 * x + ww11 * y + ww12 * z + w2 * xd - w0 * zd
                            + conv[count + k])
            f[2 * count + k] = (ww02 * x + ww12 * y + ww22 * z + w0 * yd - w1 * xd
                                + conv[2 * count + k])
        if kind == 0:
            for k in range(count):
                root = coef[roots + k]
                f[k] += root * u0
                f[count + k] += root * u1
                f[2 * count + k] += root * u2
        for k in range(start, start + count):
            x, y, z = P[k], P[count + k], P[2 * count + k]
            fx, fy, fz = f[k], f[count + k], f[2 * count + k]
            m0 += y * fz - z * fy
            m1 += z * fx - x * fz
            m2 += x * fy - y * fx
        start += 3 * count
    b[0], b[1], b[2] = m0, m1, m2
    l0, l1, l2 = 0.0, 0.0, 0.0
    for k in range(n_axis):
        root = coef[roots + k]
        l0 += root * f[k]
        l1 += root * f[n_axis + k]
        l2 += root * f[2 * n_axis + k]
    b[3], b[4], b[5] = l0, l1, l2
    for a in range(modes):
        s = 0.0
        for k in range(columns):
            s += B[a, k] * f[k]
        e[a] = s
