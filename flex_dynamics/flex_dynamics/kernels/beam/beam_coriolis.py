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
"""Coriolis blocks of one body: C with dM/dt - 2 C skew and C u = bias.

For particles that move with u = G (w, v, etad) in axes turning with w, the force is
G'(G u' + (G_rate + [w] G) u), so C = sum G'(G_rate + [w] G); its symmetric part is half of dM/dt.
A section has the scaled rows Y = d (R', Jr dtheta/deta), and the force Y'(Y u' + Z u) with
Z = Y_rate + s Y, s skew and s d W = d^-1 (W x I W): C = sum Y'Z.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import (
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
from flex_dynamics.kernels.base.spatial import clear
from flex_dynamics.kernels.base.vector import (
    address_of,
    load,
    shifted,
    spread,
    store,
    total,
    totals,
)
from flex_dynamics.kernels.beam.beam_body import dot, moment
from flex_dynamics.kernels.beam.fields import FOUR, THREE, ZERO, U, axis_columns, section_columns
from flex_dynamics.kernels.beam.section_rotation import section_moments


@njit(**OPTIONS)
def add_cross_matrix(x, y, z, C, row, column):
    """C += [x, y, z] at a block of C (6, ROW)."""
    at = ROW * row + column
    C[at + 1] -= z
    C[at + 2] += y
    C[at + ROW] += z
    C[at + ROW + 2] -= x
    C[at + 2 * ROW] -= y
    C[at + 2 * ROW + 1] += x


@njit(**OPTIONS)
def _add_product(a0, a1, a2, b0, b1, b2, sign, C, row, column):
    """C += sign [a][b] = sign (b a' - (a.b) 1)."""
    along = a0 * b0 + a1 * b1 + a2 * b2
    a, b = (a0, a1, a2), (b0, b1, b2)
    for i in range(3):
        at = ROW * (row + i) + column
        for j in range(3):
            C[at + j] += sign * b[i] * a[j]
        C[at + i] -= sign * along


@njit(**OPTIONS)
def rigid_coriolis(body, V, C):
    """C (6, ROW) of a rigid body: skew, since its inertia is constant in its own axes."""
    clear(C, 6 * ROW)
    w0, w1, w2 = V[0], V[1], V[2]
    m = body[MASS]
    c0, c1, c2 = body[MOMENT], body[MOMENT + 1], body[MOMENT + 2]
    half = 0.5 * (body[INERTIA] + body[INERTIA + 4] + body[INERTIA + 8])
    e0 = half * w0 - (body[INERTIA] * w0 + body[INERTIA + 1] * w1 + body[INERTIA + 2] * w2)
    e1 = half * w1 - (body[INERTIA + 3] * w0 + body[INERTIA + 4] * w1 + body[INERTIA + 5] * w2)
    e2 = half * w2 - (body[INERTIA + 6] * w0 + body[INERTIA + 7] * w1 + body[INERTIA + 8] * w2)
    add_cross_matrix(e0, e1, e2, C, 0, 0)
    _add_product(c0, c1, c2, w0, w1, w2, 1.0, C, 0, 3)
    _add_product(w0, w1, w2, c0, c1, c2, -1.0, C, 3, 0)
    add_cross_matrix(m * w0, m * w1, m * w2, C, 3, 3)


@njit(**OPTIONS)
def beam_coriolis(row, coef, roots_at, fields, V, A, F, C, on_twist, on_amplitude, C_elastic,
                  most):
    """C (6, ROW) of a beam's twist; on_twist (modes, ROW): force on the twist per amplitude speed;
    on_amplitude (modes, ROW): force on the amplitude per twist; C_elastic (modes, most).

    A, F: what beam_inertia made of the same fields. Overwrites fields.B_rate with B_rate + w x B.
    """
    modes = U(row[MODES_Y] + row[MODES_Z] + row[MODES_X])
    n_axis, n_sections = U(row[N_AXIS]), U(row[N_SECTIONS])
    columns = THREE * (n_axis + n_sections)
    P, Pd, B, W = fields.point, fields.point_rate, fields.B, fields.B_rate
    roots = shifted(address_of(coef), roots_at)
    w0, w1, w2 = V[0], V[1], V[2]
    clear(C, 6 * ROW)
    x, y, z = axis_columns(n_axis, n_sections)
    mass, c0, c1, c2 = A[3 * ROW + 3], A[2 * ROW + 4], A[5], A[ROW + 3]
    _add_product(c0, c1, c2, w0, w1, w2, 1.0, C, 0, 3)
    _add_product(w0, w1, w2, c0, c1, c2, -1.0, C, 3, 0)
    add_cross_matrix(-total(dot(roots, shifted(Pd, x), n_axis)),
                     -total(dot(roots, shifted(Pd, y), n_axis)),
                     -total(dot(roots, shifted(Pd, z), n_axis)), C, 3, 0)
    add_cross_matrix(mass * w0, mass * w1, mass * w2, C, 3, 3)
    _add_turning(P, Pd, x, y, z, n_axis, w0, w1, w2, C)
    _turn_rates(shifted(roots, n_axis), n_axis, n_sections, fields)
    _add_section_turning(n_sections, fields, C)
    for a in range(modes):
        at, own = U(ROW) * a, a * columns
        _section_rates(shifted(roots, n_axis), n_axis, n_sections, P, shifted(B, own),
                       shifted(W, own))
        _amplitude_part(P, Pd, shifted(B, own), shifted(W, own), roots, n_axis, n_sections, w0,
                        w1, w2, fields.turn, fields.weighted_turn, shifted(on_twist, at),
                        shifted(on_amplitude, at))
        b0, b1, b2 = F[at + U(3)], F[at + U(4)], F[at + U(5)]
        on_amplitude[at + U(3)] = b1 * w2 - b2 * w1
        on_amplitude[at + U(4)] = b2 * w0 - b0 * w2
        on_amplitude[at + U(5)] = b0 * w1 - b1 * w0
    for a in range(modes):
        for d in range(modes):
            C_elastic[a * U(most) + d] = total(dot(shifted(B, a * columns),
                                                   shifted(W, d * columns), columns))


@njit(**OPTIONS)
def _add_turning(P, Pd, x, y, z, n, w0, w1, w2, C):
    """Sum of -[p][pd] - [p][w][p] over the axis into the angular block."""
    s00, s01, s02 = spread(0.0), spread(0.0), spread(0.0)
    s10, s11, s12 = spread(0.0), spread(0.0), spread(0.0)
    s20, s21, s22 = spread(0.0), spread(0.0), spread(0.0)
    e0, e1, e2 = spread(0.0), spread(0.0), spread(0.0)
    for k in range(ZERO, n, FOUR):
        px, py, pz = load(P, x + k), load(P, y + k), load(P, z + k)
        dx, dy, dz = load(Pd, x + k), load(Pd, y + k), load(Pd, z + k)
        s00, s01, s02 = s00 + dx * px, s01 + dx * py, s02 + dx * pz
        s10, s11, s12 = s10 + dy * px, s11 + dy * py, s12 + dy * pz
        s20, s21, s22 = s20 + dz * px, s21 + dz * py, s22 + dz * pz
        # [p][w][p] = -(p.w)[p]
        along = px * w0 + py * w1 + pz * w2
        e0, e1, e2 = e0 + along * px, e1 + along * py, e2 + along * pz
    add_cross_matrix(total(e0), total(e1), total(e2), C, 0, 0)
    # -[p][pd] = (p.pd) 1 - pd p'
    C[0] += total(s11 + s22)
    C[ROW + 1] += total(s00 + s22)
    C[2 * ROW + 2] += total(s00 + s11)
    C[1] -= total(s01)
    C[2] -= total(s02)
    C[ROW] -= total(s10)
    C[ROW + 2] -= total(s12)
    C[2 * ROW] -= total(s20)
    C[2 * ROW + 1] -= total(s21)


@njit(**OPTIONS)
def _turn_rates(constants, n_axis, n_sections, f):
    """Z of the turning, in the place of f.turn: d (R')_rate + s d R', (R')_rate = -[Jr theta'] R'.
    """
    sx, sy, sz = section_columns(n_axis, n_sections)
    one, two, three = n_sections, U(2) * n_sections, THREE * n_sections
    for k in range(ZERO, n_sections, FOUR):
        W1, W2 = load(f.point, sy + k), load(f.point, sz + k)
        o0 = load(f.point_rate, sx + k)
        o1 = load(f.point_rate, sy + k)
        o2 = load(f.point_rate, sz + k)
        dx, dy, dz = load(constants, k), load(constants, one + k), load(constants, two + k)
        s1 = load(constants, three + k) * W2
        s2 = load(constants, U(4) * one + k) * W1
        for column in range(k, k + three, n_sections):
            r0, r1, r2 = load(f.turn, column), load(f.turn, column + three), load(
                f.turn, column + U(2) * three)
            store(f.turn, column, dx * (o2 * r1 - o1 * r2) + s2 * dz * r2 - s1 * dy * r1)
            store(f.turn, column + three, dy * (o0 * r2 - o2 * r0) + s1 * dx * r0)
            store(f.turn, column + U(2) * three, dz * (o1 * r0 - o0 * r1) - s2 * dx * r0)


@njit(**OPTIONS)
def _add_section_turning(n_sections, f, C):
    """Sum of Y'Z over the sections into the angular block; f.turn holds Z."""
    three = THREE * n_sections
    for i in range(3):
        for j in range(3):
            s, at, to = spread(0.0), U(i) * n_sections, U(j) * n_sections
            for row in range(ZERO, THREE * three, three):
                for k in range(row, row + n_sections, FOUR):
                    s = s + load(f.weighted_turn, at + k) * load(f.turn, to + k)
            C[ROW * i + j] += total(s)


@njit(**OPTIONS)
def _section_rates(constants, n_axis, n_sections, P, Y, Z):
    """Z = Y_rate + s Y of one amplitude, in the sections' columns of Z, which hold Y_rate."""
    sx, sy, sz = section_columns(n_axis, n_sections)
    for k in range(ZERO, n_sections, FOUR):
        s1 = load(constants, THREE * n_sections + k) * load(P, sz + k)
        s2 = load(constants, U(4) * n_sections + k) * load(P, sy + k)
        y0, y1, y2 = load(Y, sx + k), load(Y, sy + k), load(Y, sz + k)
        store(Z, sx + k, load(Z, sx + k) + s2 * y2 - s1 * y1)
        store(Z, sy + k, load(Z, sy + k) + s1 * y0)
        store(Z, sz + k, load(Z, sz + k) - s2 * y0)


@njit(**OPTIONS)
def _amplitude_part(P, Pd, B, W, roots, n_axis, n_sections, w0, w1, w2, turn_rate, turn, on_twist,
                    on_amplitude):
    """Axis: f = B_rate + w x b, kept in W; the moments p x f; the rows -(b x pd) - (b x w) x p.
    Sections: the moments and the rows of Y'Z."""
    zero = spread(0.0)
    r0, r1, r2, s = zero, zero, zero, zero
    x, y, z = axis_columns(n_axis, n_sections)
    sx, sy, sz = section_columns(n_axis, n_sections)
    for k in range(ZERO, n_axis, FOUR):
        px, py, pz = load(P, x + k), load(P, y + k), load(P, z + k)
        b0, b1, b2 = load(B, x + k), load(B, y + k), load(B, z + k)
        store(W, x + k, load(W, x + k) + b2 * w1 - b1 * w2)
        store(W, y + k, load(W, y + k) + b0 * w2 - b2 * w0)
        store(W, z + k, load(W, z + k) + b1 * w0 - b0 * w1)
        # (b x w) x p = w (b.p) - b (w.p), summed.
        s = s + b0 * px + b1 * py + b2 * pz
        along = px * w0 + py * w1 + pz * w2
        r0, r1, r2 = r0 + b0 * along, r1 + b1 * along, r2 + b2 * along
    m0, m1, m2 = moment(P, W, x, y, z, n_axis)
    t0, t1, t2 = moment(Pd, B, x, y, z, n_axis)
    r0, r1, r2 = r0 + t0 - s * w0, r1 + t1 - s * w1, r2 + t2 - s * w2
    t0, t1, t2 = section_moments(turn, W, sx, sy, sz, n_sections)
    m0, m1, m2 = m0 + t0, m1 + t1, m2 + t2
    t0, t1, t2 = section_moments(turn_rate, B, sx, sy, sz, n_sections)
    store(on_twist, 0, totals(m0, m1, m2, dot(roots, shifted(W, x), n_axis)))
    store(on_twist, 4, totals(dot(roots, shifted(W, y), n_axis),
                              dot(roots, shifted(W, z), n_axis), zero, zero))
    store(on_amplitude, 4, zero)
    store(on_amplitude, 0, totals(r0 + t0, r1 + t1, r2 + t2, zero))
