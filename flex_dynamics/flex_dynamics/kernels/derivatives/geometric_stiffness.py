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
"""Geometric stiffness: forces on coordinates that change because the coordinates' columns do.

The force on a coordinate is s_m . f, f the wrench on the frame that it moves. For frames that turn
by exp(theta) and move by r, s_m = (Jr theta_,m; R' r_,m), so that with f = (n, l)

    s_m,j . f = (Jr'n) . theta_,mj + (R l) . r_,mj + n . dJr[theta_,j] theta_,m
                - l . (o_j x R' r_,m),    o_j = Jr theta_,j
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import (
    AXIS,
    ELASTIC,
    KIND,
    MODES,
    OPTIONS,
    PARENT,
    PHI_ROW,
    PLANAR,
    ROW,
    SECTION,
    Q,
)
from flex_dynamics.kernels.base.vector import address_of, load, shifted, total
from flex_dynamics.kernels.beam.section import FIELD, section_fields
from flex_dynamics.kernels.derivatives.rotation_derivatives import (
    cross,
    second_coefficients,
    set_jacobian_rates,
)


@njit(**OPTIONS)
def _bent(b, c, db, dc, x, y, z, n0, n1, n2, u0, u1, u2):
    """Vector h with h . w = n . dJr[u] w at theta = (x, y, z)."""
    y0, y1, y2 = cross(n0, n1, n2, x, y, z)
    z0, z1, z2 = cross(y0, y1, y2, x, y, z)
    along = 2.0 * (x * u0 + y * u1 + z * u2)
    c0, c1, c2 = cross(n0, n1, n2, u0, u1, u2)
    a0, a1, a2 = cross(c0, c1, c2, x, y, z)
    k0, k1, k2 = cross(y0, y1, y2, u0, u1, u2)
    return (c * (a0 + k0) + along * (dc * z0 - db * y0) - b * c0,
            c * (a1 + k1) + along * (dc * z1 - db * y1) - b * c1,
            c * (a2 + k2) + along * (dc * z2 - db * y2) - b * c2)


@njit(**OPTIONS)
def add_section_stiffness(i, table, coef, q, w, s, f, Kq, most):
    """Kq (modes, most) += s_m,j . f for the amplitudes that move section i; f (6,): wrench on
    it, in its axes."""
    parent, row, R = table[i, PARENT], table[i, PHI_ROW], w.R[i]
    start, modes = table[parent, ELASTIC], table[parent, MODES]
    own, eta = shifted(address_of(coef), table[i, SECTION]), shifted(address_of(q), start)
    section_fields(modes, own, eta, eta, s.section, s.section_B, s.section_B_second)
    P, B = s.section, s.section_B
    x, y, z = P[FIELD], P[FIELD + 1], P[FIELD + 2]
    b, c, db, dc, _, _ = second_coefficients(x * x + y * y + z * z)
    n0, n1, n2, l0, l1, l2 = f[0], f[1], f[2], f[3], f[4], f[5]
    set_jacobian_rates(x, y, z, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, s.J)
    weights = s.rows
    for k in range(3):
        weights[k] = s.J[k] * n0 + s.J[3 + k] * n1 + s.J[6 + k] * n2
        weights[3 + k] = R[k, 0] * l0 + R[k, 1] * l1 + R[k, 2] * l2
    weights[6], weights[7] = 0.0, 0.0
    lo, hi = load(weights, 0), load(weights, 4)
    product = (1 + modes) * ROW
    for j in range(modes):
        at = ROW * j
        h0, h1, h2 = _bent(b, c, db, dc, x, y, z, n0, n1, n2, B[at], B[at + 1], B[at + 2])
        o = w.phi[row + j]
        # -l . (o x u) = (o x l) . u for every u = R' r_,m
        k0, k1, k2 = cross(o[0], o[1], o[2], l0, l1, l2)
        for m in range(modes):
            u, to = w.phi[row + m], ROW * m
            Kq[m * most + j] += (
                total(load(own, product) * lo + load(own, product + 4) * hi)
                + h0 * B[to] + h1 * B[to + 1] + h2 * B[to + 2]
                + k0 * u[3] + k1 * u[4] + k2 * u[5])
            product += ROW


@njit(**OPTIONS)
def add_base_stiffness(i, table, body, q, w, f, by_q):
    """by_q (n, n) += s_m,j . f for the coordinates of a planar or floating base."""
    at, S = table[i, Q], w.S
    n0, n1, n2, l0, l1, l2 = f[0], f[1], f[2], f[3], f[4], f[5]
    if table[i, KIND] == PLANAR:
        k0, k1, k2 = cross(body[i, AXIS], body[i, AXIS + 1], body[i, AXIS + 2], l0, l1, l2)
        for m in range(2):
            by_q[at + m, at + 2] += k0 * S[m, 3] + k1 * S[m, 4] + k2 * S[m, 5]
        return
    x, y, z = q[at + 3], q[at + 4], q[at + 5]
    b, c, db, dc, _, _ = second_coefficients(x * x + y * y + z * z)
    for j in range(3):
        e0, e1, e2 = 1.0 * (j == 0), 1.0 * (j == 1), 1.0 * (j == 2)
        h0, h1, h2 = _bent(b, c, db, dc, x, y, z, n0, n1, n2, e0, e1, e2)
        by_q[at + 3, at + 3 + j] += h0
        by_q[at + 4, at + 3 + j] += h1
        by_q[at + 5, at + 3 + j] += h2
        o = S[3 + j]
        k0, k1, k2 = cross(o[0], o[1], o[2], l0, l1, l2)
        for m in range(3):
            by_q[at + m, at + 3 + j] += k0 * S[m, 3] + k1 * S[m, 4] + k2 * S[m, 5]
