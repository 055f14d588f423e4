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
"""Motion of every node by every coordinate that moves it directly, differentiated.

A coordinate whose Jacobian column in the node's axes is s, with rates s' and s'', changes the
node's twist V and acceleration A (Carpentier and Mansard 2018, for any joint)

    by V x s + s'  and  A x s + V x s' + s''    with its position,
    by s           and  V x s + 2 s'            with its speed.

The column of a joint with one coordinate is constant. That of an amplitude at a section is
X b, X = diag(Jr, R') and b the gradient of the section's fields.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import (
    AXIS,
    DOF,
    ELASTIC,
    KIND,
    MODES,
    ON_BEAM,
    OPTIONS,
    PARENT,
    PHI_ROW,
    PLANAR,
    ROW,
    SCREW,
    SECTION,
    Q,
)
from flex_dynamics.kernels.base.spatial import add_twist_cross
from flex_dynamics.kernels.base.vector import address_of, shifted
from flex_dynamics.kernels.beam.section import CONVECTIVE, FIELD, RATE, section_fields
from flex_dynamics.kernels.derivatives.derivative_space import (
    ACCELERATION_ROW,
    BASE_SLOTS,
    SCREW_ROW,
    SLOT,
    SPEED_ROW,
    TWIST_ROW,
)
from flex_dynamics.kernels.derivatives.rotation_derivatives import (
    cross,
    set_jacobian_rates,
    times3,
)


@njit(**OPTIONS)
def set_slot(V, acc, screw, rate, second, slot):
    """Rows of one coordinate from its column and the column's rates; addresses or arrays."""
    moved, fast, own = (shifted(slot, TWIST_ROW), shifted(slot, SPEED_ROW),
                        shifted(slot, ACCELERATION_ROW))
    for k in range(6):
        slot[SCREW_ROW + k] = screw[k]
        moved[k] = rate[k]
        fast[k] = 2.0 * rate[k]
        own[k] = second[k]
    for k in range(SCREW_ROW, SLOT, ROW):
        slot[k + 6], slot[k + 7] = 0.0, 0.0
    add_twist_cross(V, screw, 1.0, moved)
    add_twist_cross(V, screw, 1.0, fast)
    add_twist_cross(acc, screw, 1.0, own)
    add_twist_cross(V, rate, 1.0, own)


@njit(**OPTIONS)
def _set_second_rate(J, R, o0, o1, o2, p0, p1, p2, b, bd, ba, out):
    """out (6,) = X'' b + 2 X' b' + X b'', X = diag(Jr, R'). J: Jr and its rates; o, p: angular
    velocity of the section against its beam, and the rate of that; b, bd, ba: addresses."""
    x0, x1, x2 = times3(J, 18, b[0], b[1], b[2])
    y0, y1, y2 = times3(J, 9, bd[0], bd[1], bd[2])
    z0, z1, z2 = times3(J, 0, ba[0], ba[1], ba[2])
    out[0], out[1], out[2] = x0 + 2.0 * y0 + z0, x1 + 2.0 * y1 + z1, x2 + 2.0 * y2 + z2
    l0, l1, l2 = _turned_back(R, b[3], b[4], b[5])
    d0, d1, d2 = _turned_back(R, bd[3], bd[4], bd[5])
    a0, a1, a2 = _turned_back(R, ba[3], ba[4], ba[5])
    # R' has the rate -[o] R' and the second rate ([o][o] - [p]) R'.
    k0, k1, k2 = cross(o0, o1, o2, l0, l1, l2)
    k0, k1, k2 = k0 - 2.0 * d0, k1 - 2.0 * d1, k2 - 2.0 * d2
    m0, m1, m2 = cross(o0, o1, o2, k0, k1, k2)
    n0, n1, n2 = cross(p0, p1, p2, l0, l1, l2)
    out[3], out[4], out[5] = a0 + m0 - n0, a1 + m1 - n1, a2 + m2 - n2


@njit(**OPTIONS)
def _turned_back(R, x, y, z):
    return (R[0, 0] * x + R[1, 0] * y + R[2, 0] * z, R[0, 1] * x + R[1, 1] * y + R[2, 1] * z,
            R[0, 2] * x + R[1, 2] * y + R[2, 2] * z)


@njit(**OPTIONS)
def _section_slots(i, table, coef, q, v, a, w, s):
    """Slots of the amplitudes that move a section."""
    parent, row = table[i, PARENT], table[i, PHI_ROW]
    start, modes = table[parent, ELASTIC], table[parent, MODES]
    own = shifted(address_of(coef), table[i, SECTION])
    eta = shifted(address_of(q), start)
    section_fields(modes, own, eta, shifted(address_of(a), start), s.section, s.section_B,
                   s.section_B_second)
    P, second = w.scratch.section, s.section
    x0, x1, x2 = second[RATE], second[RATE + 1], second[RATE + 2]
    section_fields(modes, own, eta, shifted(address_of(v), start), P, w.scratch.section_B,
                   w.scratch.section_B_rate)
    x0, x1, x2 = x0 + P[CONVECTIVE], x1 + P[CONVECTIVE + 1], x2 + P[CONVECTIVE + 2]
    set_jacobian_rates(P[FIELD], P[FIELD + 1], P[FIELD + 2], P[RATE], P[RATE + 1], P[RATE + 2],
                       x0, x1, x2, s.J)
    o0, o1, o2 = times3(s.J, 0, P[RATE], P[RATE + 1], P[RATE + 2])
    p0, p1, p2 = times3(s.J, 0, x0, x1, x2)
    r0, r1, r2 = times3(s.J, 9, P[RATE], P[RATE + 1], P[RATE + 2])
    V, acc, rate = w.V[i], shifted(w.acc, ROW * i), s.rows
    for m in range(modes):
        _set_second_rate(s.J, w.R[i], o0, o1, o2, p0 + r0, p1 + r1, p2 + r2,
                         shifted(w.scratch.section_B, ROW * m),
                         shifted(w.scratch.section_B_rate, ROW * m),
                         shifted(s.section_B_second, ROW * m), rate)
        set_slot(V, acc, w.phi[row + m], w.phi_rate[row + m], rate,
                 shifted(s.slots, SLOT * (row + m)))


@njit(**OPTIONS)
def _base_slots(i, table, body, q, v, a, w, s):
    """Slots of a planar or floating base."""
    at, second, slot = table[i, Q], s.rows, SLOT * joint_slot(s, i)
    V, acc = w.V[i], shifted(w.acc, ROW * i)
    if table[i, KIND] == PLANAR:
        ax, ay, az = body[i, AXIS], body[i, AXIS + 1], body[i, AXIS + 2]
        rate, turn = v[at + 2], a[at + 2]
        for m in range(3):
            # Columns turn back with the angle: s' = -rate axis x s.
            S, Sd = w.S[m], w.S_rate[m]
            k0, k1, k2 = cross(ax, ay, az, turn * S[3] + rate * Sd[3], turn * S[4] + rate * Sd[4],
                               turn * S[5] + rate * Sd[5])
            second[0], second[1], second[2] = 0.0, 0.0, 0.0
            second[3], second[4], second[5] = -k0, -k1, -k2
            set_slot(V, acc, S, Sd, second, shifted(s.slots, slot + SLOT * m))
        return
    x, y, z = q[at + 3], q[at + 4], q[at + 5]
    set_jacobian_rates(x, y, z, v[at + 3], v[at + 4], v[at + 5], a[at + 3], a[at + 4], a[at + 5],
                       s.J)
    o0, o1, o2 = times3(s.J, 0, v[at + 3], v[at + 4], v[at + 5])
    p0, p1, p2 = times3(s.J, 0, a[at + 3], a[at + 4], a[at + 5])
    r0, r1, r2 = times3(s.J, 9, v[at + 3], v[at + 4], v[at + 5])
    for m in range(3):
        S = w.S[m]
        k0, k1, k2 = cross(o0, o1, o2, S[3], S[4], S[5])
        m0, m1, m2 = cross(o0, o1, o2, k0, k1, k2)
        n0, n1, n2 = cross(p0 + r0, p1 + r1, p2 + r2, S[3], S[4], S[5])
        second[0], second[1], second[2] = 0.0, 0.0, 0.0
        second[3], second[4], second[5] = m0 - n0, m1 - n1, m2 - n2
        set_slot(V, acc, S, w.S_rate[m], second, shifted(s.slots, slot + SLOT * m))
    for m in range(3):
        second[0], second[1], second[2] = s.J[18 + m], s.J[21 + m], s.J[24 + m]
        second[3], second[4], second[5] = 0.0, 0.0, 0.0
        set_slot(V, acc, w.S[3 + m], w.S_rate[3 + m], second,
                 shifted(s.slots, slot + SLOT * (3 + m)))


@njit(**OPTIONS)
def joint_slot(s, i):
    """Slot of the first coordinate of a node's joint."""
    return s.first_joint + BASE_SLOTS * i


@njit(**OPTIONS)
def motion_derivatives(table, body, coef, q, v, a, w, s):
    """All slots, from what kinematics (with rates) and node_accelerations have left in w."""
    for i in range(table.shape[0]):
        if table[i, KIND] == ON_BEAM:
            _section_slots(i, table, coef, q, v, a, w, s)
        elif table[i, DOF] == 1:
            zero = s.rows
            for k in range(6):
                zero[k] = 0.0
            set_slot(w.V[i], shifted(w.acc, ROW * i), body[i, SCREW:SCREW + 6], zero, zero,
                     shifted(s.slots, SLOT * joint_slot(s, i)))
        elif table[i, DOF] > 1:
            _base_slots(i, table, body, q, v, a, w, s)
