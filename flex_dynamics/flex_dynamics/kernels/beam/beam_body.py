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
"""Inertia of a body: the blocks of twist and amplitudes, and the forces that speeds cause.

A beam's axis is a set of particles p(eta) (build/quadrature.py), each moving with v + w x p +
B etad in the beam's rotating axes (Mohan and Saha (24), with the misprint 2 in (24b) corrected).
Its rotary inertia is that of a few sections, which turn (section_rotation.py). All columns are
scaled by the root of their weight, so sums over columns are the space integrals.
"""
from __future__ import annotations

import numpy as np
from numba import njit

from flex_dynamics.kernels.base.layout import (
    BEAM,
    ELASTIC,
    INERTIA,
    MASS,
    MODES_X,
    MODES_Y,
    MODES_Z,
    MOMENT,
    N_AXIS,
    N_SECTIONS,
    OPTIONS,
    ROW,
)
from flex_dynamics.kernels.base.vector import (
    address_of,
    load,
    shifted,
    spread,
    store,
    total,
    totals,
)
from flex_dynamics.kernels.beam.fields import (
    FOUR,
    THREE,
    ZERO,
    U,
    axis_columns,
    beam_columns,
    section_columns,
)
from flex_dynamics.kernels.beam.section_rotation import (
    section_inertia,
    section_moments,
    turn_sections,
)


@njit(**OPTIONS)
def _set_inertia(A, mass, c0, c1, c2, j00, j11, j22, j01, j02, j12):
    """A (6, ROW) of a mass, first moment and rotational inertia; columns 6 and 7 are zero."""
    zero = spread(0.0)
    for k in range(12):
        store(A, 4 * k, zero)
    A[0], A[1], A[2], A[4], A[5] = j00, j01, j02, -c2, c1
    A[8], A[9], A[10], A[11], A[13] = j01, j11, j12, c2, -c0
    A[16], A[17], A[18], A[19], A[20] = j02, j12, j22, -c1, c0
    A[25], A[26], A[27] = c2, -c1, mass
    A[32], A[34], A[36] = -c2, c0, mass
    A[40], A[41], A[45] = c1, -c0, mass


@njit(**OPTIONS)
def rigid_body(body, V, A, b):
    """A (6, ROW) spatial inertia about the node's origin; b (6,) = V x* A V."""
    m = body[MASS]
    c0, c1, c2 = body[MOMENT], body[MOMENT + 1], body[MOMENT + 2]
    w0, w1, w2, v0, v1, v2 = V[0], V[1], V[2], V[3], V[4], V[5]
    j00, j11, j22 = body[INERTIA], body[INERTIA + 4], body[INERTIA + 8]
    j01, j02, j12 = body[INERTIA + 1], body[INERTIA + 2], body[INERTIA + 5]
    _set_inertia(A, m, c0, c1, c2, j00, j11, j22, j01, j02, j12)
    # Momentum: linear m v + w x mc, angular J w + mc x v.
    l0 = m * v0 + w1 * c2 - w2 * c1
    l1 = m * v1 + w2 * c0 - w0 * c2
    l2 = m * v2 + w0 * c1 - w1 * c0
    h0 = j00 * w0 + j01 * w1 + j02 * w2 + c1 * v2 - c2 * v1
    h1 = j01 * w0 + j11 * w1 + j12 * w2 + c2 * v0 - c0 * v2
    h2 = j02 * w0 + j12 * w1 + j22 * w2 + c0 * v1 - c1 * v0
    b[0] = w1 * h2 - w2 * h1 + v1 * l2 - v2 * l1
    b[1] = w2 * h0 - w0 * h2 + v2 * l0 - v0 * l2
    b[2] = w0 * h1 - w1 * h0 + v0 * l1 - v1 * l0
    b[3] = w1 * l2 - w2 * l1
    b[4] = w2 * l0 - w0 * l2
    b[5] = w0 * l1 - w1 * l0


@njit(**OPTIONS)
def beam_fields(row, coef, q, v, f, rates):
    """Axis points and rotation vectors of a beam into f (Fields), with `rates` also f.B_rate.

    Returns the offset of the weights' roots.
    """
    return np.int64(beam_columns(
        address_of(coef), U(row[BEAM]), U(row[MODES_Y]), U(row[MODES_Z]), U(row[MODES_X]),
        U(row[N_AXIS]), U(row[N_SECTIONS]), shifted(address_of(q), row[ELASTIC]),
        shifted(address_of(v), row[ELASTIC]), f, rates))


@njit(**OPTIONS)
def dot(x, y, n):
    """Vector whose lanes sum to that of x[k] y[k], k < n; addresses and an unsigned integer."""
    s = spread(0.0)
    for k in range(ZERO, n, FOUR):
        s = s + load(x, k) * load(y, k)
    return s


@njit(**OPTIONS)
def moment(P, Q, x, y, z, n):
    """Three vectors whose lanes sum to that of p x q over n columns from x, y, z on."""
    m0, m1, m2 = spread(0.0), spread(0.0), spread(0.0)
    for k in range(ZERO, n, FOUR):
        p0, p1, p2 = load(P, x + k), load(P, y + k), load(P, z + k)
        q0, q1, q2 = load(Q, x + k), load(Q, y + k), load(Q, z + k)
        m0 = m0 + p1 * q2 - p2 * q1
        m1 = m1 + p2 * q0 - p0 * q2
        m2 = m2 + p0 * q1 - p1 * q0
    return m0, m1, m2


@njit(**OPTIONS)
def beam_inertia(row, coef, roots_at, fields, V, A, b, F, H, most, rates):
    """Mass blocks of a beam at the given fields, and the forces that its speeds cause.

    A (6, ROW); F (modes, ROW) with the amplitudes' bias forces in column 6; the upper triangle of
    H (modes, most): addresses. b (6,): bias force on the twist. The sections' columns of `fields`
    are turned, with `rates` those of B_rate too.
    """
    modes = U(row[MODES_Y] + row[MODES_Z] + row[MODES_X])
    n_axis, n_sections = U(row[N_AXIS]), U(row[N_SECTIONS])
    columns = THREE * (n_axis + n_sections)
    P, B, f, roots = fields.point, fields.B, fields.force, shifted(address_of(coef), roots_at)
    turn = fields.weighted_turn
    x, y, z = axis_columns(n_axis, n_sections)
    sx, sy, sz = section_columns(n_axis, n_sections)
    turn_sections(shifted(roots, n_axis), n_axis, n_sections, modes, V, fields, True, rates)
    _speed_forces(P, fields.point_rate, fields.convective, f, roots, x, y, z, n_axis, V)
    zero = spread(0.0)
    xx, yy, zz, xy, xz, yz = zero, zero, zero, zero, zero, zero
    for k in range(ZERO, n_axis, FOUR):
        px, py, pz = load(P, x + k), load(P, y + k), load(P, z + k)
        xx = xx + px * px
        yy = yy + py * py
        zz = zz + pz * pz
        xy = xy + px * py
        xz = xz + px * pz
        yz = yz + py * pz
    sxx, syy, szz = total(xx), total(yy), total(zz)
    ixx, iyy, izz, ixy, ixz, iyz = section_inertia(turn, n_sections)
    _set_inertia(A, total(dot(roots, roots, n_axis)), total(dot(roots, shifted(P, x), n_axis)),
                 total(dot(roots, shifted(P, y), n_axis)),
                 total(dot(roots, shifted(P, z), n_axis)), syy + szz + ixx, sxx + szz + iyy,
                 sxx + syy + izz, ixy - total(xy), ixz - total(xz), iyz - total(yz))
    b0, b1, b2 = moment(P, f, x, y, z, n_axis)
    m0, m1, m2 = section_moments(turn, f, sx, sy, sz, n_sections)
    b[0], b[1], b[2] = total(b0 + m0), total(b1 + m1), total(b2 + m2)
    b[3] = total(dot(roots, shifted(f, x), n_axis))
    b[4] = total(dot(roots, shifted(f, y), n_axis))
    b[5] = total(dot(roots, shifted(f, z), n_axis))
    for a in range(modes):
        gradient = shifted(B, a * columns)
        m0, m1, m2 = moment(P, gradient, x, y, z, n_axis)
        t0, t1, t2 = section_moments(turn, gradient, sx, sy, sz, n_sections)
        store(F, U(ROW) * a, totals(m0 + t0, m1 + t1, m2 + t2,
                                    dot(roots, shifted(gradient, x), n_axis)))
        store(F, U(ROW) * a + FOUR, totals(dot(roots, shifted(gradient, y), n_axis),
                                           dot(roots, shifted(gradient, z), n_axis),
                                           dot(gradient, f, columns), zero))
        for d in range(a, modes):
            H[a * U(most) + d] = total(dot(gradient, shifted(B, d * columns), columns))


@njit(**OPTIONS)
def _speed_forces(P, Pd, convective, f, roots, x, y, z, n, V):
    """f = w x (w x p + v) + 2 w x pd + convective for the n points of the axis."""
    w0, w1, w2 = V[0], V[1], V[2]
    t00, t11, t22 = -(w1 * w1 + w2 * w2), -(w0 * w0 + w2 * w2), -(w0 * w0 + w1 * w1)
    t01, t02, t12 = w0 * w1, w0 * w2, w1 * w2
    u0, u1, u2 = w1 * V[5] - w2 * V[4], w2 * V[3] - w0 * V[5], w0 * V[4] - w1 * V[3]
    for k in range(ZERO, n, FOUR):
        px, py, pz = load(P, x + k), load(P, y + k), load(P, z + k)
        dx, dy, dz = load(Pd, x + k), load(Pd, y + k), load(Pd, z + k)
        root = load(roots, k)
        store(f, x + k, px * t00 + py * t01 + pz * t02 + dz * (2.0 * w1) - dy * (2.0 * w2)
              + root * u0 + load(convective, x + k))
        store(f, y + k, px * t01 + py * t11 + pz * t12 + dx * (2.0 * w2) - dz * (2.0 * w0)
              + root * u1 + load(convective, y + k))
        store(f, z + k, px * t02 + py * t12 + pz * t22 + dy * (2.0 * w0) - dx * (2.0 * w1)
              + root * u2 + load(convective, z + k))
