"""Inertia of a body: the blocks of twist and amplitudes, and the forces that speeds cause.

A beam is a set of particles p(eta) (build/quadrature.py), each moving with v + w x p + B etad in
the beam's rotating axes (Mohan and Saha (24), with the misprint 2 in (24b) corrected). All columns
are scaled by the root of the particle's weight, so sums over columns are the space integrals.
"""
from __future__ import annotations

import numpy as np
from numba import njit

from flex_dynamics.kernels.fields import ONE, THREE, TWO, ZERO, U, beam_columns
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
def columns_of(kind, n_axis, n_director):
    """Where the x, y, z columns of axis points (kind 0), R e_y (1) and R e_z (2) begin; unsigned.

    Blocks by code: 0 (axis y, R e_y x), 1 (axis z, R e_z x), 2 (R e_y z, R e_z y), 3 (R e_z z),
    4 (R e_y y), 5 (axis x).
    """
    one = n_axis + n_director
    two = TWO * one
    three = two + TWO * n_director
    if kind == 0:
        return three + TWO * n_director, ZERO, one
    if kind == 1:
        return n_axis, three + n_director, two
    return one + n_axis, two + n_director, three


@njit(**OPTIONS)
def beam_fields(row, coef, eta, rate, w, rates):
    """All particles of a beam into w.point, w.B ..., with `rates` also w.B_rate.

    Returns the offset of the weights' roots.
    """
    return np.int64(beam_columns(
        coef, U(row[BEAM]), U(row[MODES_Y]), U(row[MODES_Z]), U(row[MODES_X]), U(row[N_AXIS]),
        U(row[N_DIRECTOR]), eta, rate, w.point, w.point_rate, w.convective, w.B, w.B_rate,
        rates))


@njit(**OPTIONS)
def dot(x, i, y, j, n):
    """Sum of x[i + k] y[j + k], k < n; unsigned integers."""
    s = 0.0
    for k in range(n):
        s += x[i + k] * y[j + k]
    return s


@njit(**OPTIONS)
def moment_sum(P, x, y, z, B, bx, by, bz, n):
    """Sum of p x b over n columns that begin at x, y, z of P and bx, by, bz of B; unsigned."""
    m0, m1, m2 = 0.0, 0.0, 0.0
    for k in range(n):
        px, py, pz = P[x + k], P[y + k], P[z + k]
        fx, fy, fz = B[bx + k], B[by + k], B[bz + k]
        m0 += py * fz - pz * fy
        m1 += pz * fx - px * fz
        m2 += px * fy - py * fx
    return m0, m1, m2


@njit(**OPTIONS)
def beam_inertia(row, coef, roots_at, w, A, F, H):
    """Mass blocks of a beam at the fields in w: A (6, 6), F (modes, 6), H (modes, modes)."""
    modes = U(row[MODES_Y] + row[MODES_Z] + row[MODES_X])
    n_axis, n_director = U(row[N_AXIS]), U(row[N_DIRECTOR])
    columns = THREE * (n_axis + TWO * n_director)
    P, B, roots = w.point, w.B, U(roots_at)
    x, y, z = columns_of(0, n_axis, n_director)
    mass = dot(coef, roots, coef, roots, n_axis)
    c0 = dot(coef, roots, P, x, n_axis)
    c1 = dot(coef, roots, P, y, n_axis)
    c2 = dot(coef, roots, P, z, n_axis)
    for a in range(modes):
        at = a * columns
        F[a, 0], F[a, 1], F[a, 2] = 0.0, 0.0, 0.0
        F[a, 3] = dot(coef, roots, B, at + x, n_axis)
        F[a, 4] = dot(coef, roots, B, at + y, n_axis)
        F[a, 5] = dot(coef, roots, B, at + z, n_axis)
    xx, yy, zz, xy, xz, yz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for kind in range(3):
        n = n_axis if kind == 0 else n_director
        x, y, z = columns_of(kind, n_axis, n_director)
        for k in range(n):
            px, py, pz = P[x + k], P[y + k], P[z + k]
            xx += px * px
            yy += py * py
            zz += pz * pz
            xy += px * py
            xz += px * pz
            yz += py * pz
        for a in range(modes):
            at = a * columns
            m0, m1, m2 = moment_sum(P, x, y, z, B, at + x, at + y, at + z, n)
            F[a, 0] += m0
            F[a, 1] += m1
            F[a, 2] += m2
    for i in range(6):
        for j in range(6):
            A[i, j] = 0.0
    A[0, 0], A[1, 1], A[2, 2] = yy + zz, xx + zz, xx + yy
    A[0, 1], A[0, 2], A[1, 2] = -xy, -xz, -yz
    A[1, 0], A[2, 0], A[2, 1] = -xy, -xz, -yz
    A[3, 3], A[4, 4], A[5, 5] = mass, mass, mass
    A[0, 4], A[0, 5], A[1, 3], A[1, 5], A[2, 3], A[2, 4] = -c2, c1, c2, -c0, -c1, c0
    A[4, 0], A[5, 0], A[3, 1], A[5, 1], A[3, 2], A[4, 2] = -c2, c1, c2, -c0, -c1, c0
    for a in range(modes):
        for d in range(a + ONE):
            s = dot(B, a * columns, B, d * columns, columns)
            H[a, d] = s
            H[d, a] = s


@njit(**OPTIONS)
def _turned(P, x, y, z, a, b, c, Pd, u, d, v, e, conv, f, out, n):
    """f[out] = a P[x] + b P[y] + c P[z] + d Pd[u] + e Pd[v] + conv[out]; unsigned."""
    for k in range(n):
        f[out + k] = P[x + k] * a + P[y + k] * b + P[z + k] * c
    for k in range(n):
        f[out + k] += Pd[u + k] * d + Pd[v + k] * e + conv[out + k]


@njit(**OPTIONS)
def beam_bias(row, coef, roots_at, w, V, b, e):
    """Forces that speeds cause on twist, b (6,), and amplitudes, e (modes,), of a beam."""
    modes = U(row[MODES_Y] + row[MODES_Z] + row[MODES_X])
    n_axis, n_director = U(row[N_AXIS]), U(row[N_DIRECTOR])
    columns = THREE * (n_axis + TWO * n_director)
    P, Pd, conv, f, roots = w.point, w.point_rate, w.convective, w.force, U(roots_at)
    w0, w1, w2 = V[0], V[1], V[2]
    m0, m1, m2 = 0.0, 0.0, 0.0
    for kind in range(3):
        n = n_axis if kind == 0 else n_director
        x, y, z = columns_of(kind, n_axis, n_director)
        # f = w x (w x p) + 2 w x pd + convective.
        _turned(P, x, y, z, -(w1 * w1 + w2 * w2), w0 * w1, w0 * w2, Pd, z, 2.0 * w1, y, -2.0 * w2,
                conv, f, x, n)
        _turned(P, x, y, z, w0 * w1, -(w0 * w0 + w2 * w2), w1 * w2, Pd, x, 2.0 * w2, z, -2.0 * w0,
                conv, f, y, n)
        _turned(P, x, y, z, w0 * w2, w1 * w2, -(w0 * w0 + w1 * w1), Pd, y, 2.0 * w0, x, -2.0 * w1,
                conv, f, z, n)
        if kind == 0:
            # The origin's own part w x v acts on axis points only: directors do not translate.
            u0, u1, u2 = w1 * V[5] - w2 * V[4], w2 * V[3] - w0 * V[5], w0 * V[4] - w1 * V[3]
            for k in range(n):
                root = coef[roots + k]
                f[x + k] += root * u0
                f[y + k] += root * u1
                f[z + k] += root * u2
            b[3] = dot(coef, roots, f, x, n)
            b[4] = dot(coef, roots, f, y, n)
            b[5] = dot(coef, roots, f, z, n)
        t0, t1, t2 = moment_sum(P, x, y, z, f, x, y, z, n)
        m0 += t0
        m1 += t1
        m2 += t2
    b[0], b[1], b[2] = m0, m1, m2
    for a in range(modes):
        e[a] = dot(w.B, a * columns, f, ZERO, columns)
