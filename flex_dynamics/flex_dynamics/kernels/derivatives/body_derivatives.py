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
"""Every body's own blocks in its own axes: inertia, and its forces differentiated."""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import (
    ELASTIC,
    INERTIA,
    MASS,
    MODES,
    MOMENT,
    MOTOR,
    OPTIONS,
    PARENT,
    ROTOR,
    ROTOR_AXIS,
    ROW,
)
from flex_dynamics.kernels.base.spatial import clear
from flex_dynamics.kernels.base.vector import shifted
from flex_dynamics.kernels.base.workspace import INERTIA_BLOCK
from flex_dynamics.kernels.beam.beam_body import rigid_body
from flex_dynamics.kernels.beam.beam_coriolis import add_cross_matrix
from flex_dynamics.kernels.derivatives.beam_derivatives import beam_derivatives
from flex_dynamics.kernels.derivatives.rotation_derivatives import cross


@njit(**OPTIONS)
def _rigid_force_per_twist(row, V, B):
    """B (6, ROW) = d(V x* I V)/dV of a rigid body."""
    clear(B, 6 * ROW)
    m, c0, c1, c2 = row[MASS], row[MOMENT], row[MOMENT + 1], row[MOMENT + 2]
    w0, w1, w2, v0, v1, v2 = V[0], V[1], V[2], V[3], V[4], V[5]
    l0, l1, l2 = cross(w0, w1, w2, c0, c1, c2)
    l0, l1, l2 = l0 + m * v0, l1 + m * v1, l2 + m * v2
    h0, h1, h2 = cross(c0, c1, c2, v0, v1, v2)
    h0 += row[INERTIA] * w0 + row[INERTIA + 1] * w1 + row[INERTIA + 2] * w2
    h1 += row[INERTIA + 3] * w0 + row[INERTIA + 4] * w1 + row[INERTIA + 5] * w2
    h2 += row[INERTIA + 6] * w0 + row[INERTIA + 7] * w1 + row[INERTIA + 8] * w2
    for j in range(3):
        e0, e1, e2 = 1.0 * (j == 0), 1.0 * (j == 1), 1.0 * (j == 2)
        # Turning about e: momenta change by I e and e x mc.
        k0, k1, k2 = cross(e0, e1, e2, c0, c1, c2)
        a0, a1, a2 = cross(w0, w1, w2, row[INERTIA + j], row[INERTIA + 3 + j],
                           row[INERTIA + 6 + j])
        b0, b1, b2 = cross(v0, v1, v2, k0, k1, k2)
        d0, d1, d2 = cross(e0, e1, e2, h0, h1, h2)
        B[j], B[ROW + j], B[2 * ROW + j] = a0 + b0 + d0, a1 + b1 + d1, a2 + b2 + d2
        a0, a1, a2 = cross(w0, w1, w2, k0, k1, k2)
        d0, d1, d2 = cross(e0, e1, e2, l0, l1, l2)
        B[3 * ROW + j], B[4 * ROW + j], B[5 * ROW + j] = a0 + d0, a1 + d1, a2 + d2
        # Moving along e: they change by mc x e and m e.
        k0, k1, k2 = cross(c0, c1, c2, e0, e1, e2)
        a0, a1, a2 = cross(w0, w1, w2, k0, k1, k2)
        b0, b1, b2 = cross(m * v0, m * v1, m * v2, e0, e1, e2)
        B[3 + j], B[ROW + 3 + j], B[2 * ROW + 3 + j] = (a0 + b0 + d0, a1 + b1 + d1, a2 + b2 + d2)
    add_cross_matrix(m * w0, m * w1, m * w2, B, 3, 3)


@njit(**OPTIONS)
def own_body_derivatives(table, body, coef, q, v, a, w, s):
    """Every node's own inertia, and its forces differentiated."""
    first, most = table[0, ELASTIC], w.most
    for i in range(table.shape[0]):
        A, B = shifted(w.A, INERTIA_BLOCK * i), shifted(s.B, INERTIA_BLOCK * i)
        if table[i, MODES] == 0:
            rigid_body(body[i], w.V[i], A, w.b[i])
            _rigid_force_per_twist(body[i], w.V[i], B)
            continue
        e = table[i, ELASTIC] - first
        beam_derivatives(table[i], coef, q, v, a, w.V[i], shifted(w.acc, ROW * i), w.fields,
                         s.beam, A, w.b[i], shifted(w.F, ROW * e), shifted(w.H, most * e), most,
                         B, shifted(s.g, ROW * e), shifted(s.hq, ROW * e),
                         shifted(s.hv, ROW * e), shifted(s.Kq, most * e), shifted(s.Kv, most * e))


@njit(**OPTIONS)
def add_rotors(table, body, v, w, s):
    """Rotors that spin about an axis of their parent: T = 1/2 Im (a.w + m')2."""
    for i in range(table.shape[0]):
        parent = table[i, PARENT]
        if table[i, MOTOR] < 0 or parent < 0:
            continue
        A, B = shifted(w.A, INERTIA_BLOCK * parent), shifted(s.B, INERTIA_BLOCK * parent)
        a, V, inertia = body[i, ROTOR_AXIS:ROTOR_AXIS + 3], w.V[parent], body[i, ROTOR]
        spin = v[table[i, MOTOR]] + a[0] * V[0] + a[1] * V[1] + a[2] * V[2]
        k = cross(V[0], V[1], V[2], a[0], a[1], a[2])
        for j in range(3):
            for d in range(3):
                A[ROW * j + d] += inertia * a[j] * a[d]
                B[ROW * j + d] += inertia * k[j] * a[d]
        momentum = -inertia * spin
        add_cross_matrix(momentum * a[0], momentum * a[1], momentum * a[2], B, 0, 0)
