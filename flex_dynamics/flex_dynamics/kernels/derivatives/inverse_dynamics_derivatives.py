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
"""Derivatives of inverse dynamics by positions and speeds, with the mass matrix, tip to base.

For the subtree behind a node the wrench changes by A dA + B dV with the node's acceleration and
twist (composite bodies: A inertia, B force per twist), and by columns of the subtree's own
coordinates. So each coordinate has four rows that are carried to the base: what accelerations (f)
and twists (g) do to the force on it, and what its position (hq) and speed (hv) do to the wrench.
At each node they meet the coordinates that move it (motion_derivatives.py), and that gives four
entries of the derivatives and one of M. Carpentier and Mansard 2018 for rigid bodies; amplitudes
are coordinates like others, with beam_derivatives.py for the beam's own forces.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import (
    ARMATURE,
    DOF,
    ELASTIC,
    FULL,
    KIND,
    MODES,
    MOTOR,
    ON_BEAM,
    OPTIONS,
    PARENT,
    PHI_ROW,
    ROTOR,
    ROTOR_AXIS,
    ROW,
    Q,
)
from flex_dynamics.kernels.base.spatial import (
    clear,
    inertia_to_parent,
    transposed_times,
    wrenches_to_parent,
)
from flex_dynamics.kernels.base.vector import load, shifted, store, total, totals
from flex_dynamics.kernels.base.workspace import INERTIA_BLOCK, carve
from flex_dynamics.kernels.derivatives.body_derivatives import add_rotors, own_body_derivatives
from flex_dynamics.kernels.derivatives.derivative_space import (
    ACCELERATION_ROW,
    SCREW_ROW,
    SLOT,
    SPEED_ROW,
    TWIST_ROW,
    carve_derivatives,
)
from flex_dynamics.kernels.derivatives.geometric_stiffness import (
    add_base_stiffness,
    add_section_stiffness,
)
from flex_dynamics.kernels.derivatives.motion_derivatives import joint_slot, motion_derivatives
from flex_dynamics.kernels.derivatives.rotation_derivatives import cross
from flex_dynamics.kernels.tree.body_blocks import frame_changes, less_turning
from flex_dynamics.kernels.tree.composite_mass_matrix import matrix_times
from flex_dynamics.kernels.tree.inverse_dynamics import inverse_sweeps, node_accelerations
from flex_dynamics.kernels.tree.kinematics import kinematics

# Rows of Space.rows, those of one coordinate at one node.
F, G, HQ, HV, SPARE = 0, ROW, 2 * ROW, 3 * ROW, 4 * ROW


@njit(**OPTIONS)
def _set_rows(A, B, slot, rows):
    """Rows of a coordinate that moves a composite body. The row HQ lacks what the wrench, which
    turns with the body, adds for the parent: _carry_wrench."""
    screw = shifted(slot, SCREW_ROW)
    lo, hi = transposed_times(A, screw)
    store(rows, F, lo)
    store(rows, F + 4, hi)
    lo, hi = transposed_times(B, screw)
    store(rows, G, lo)
    store(rows, G + 4, hi)
    lo, hi = transposed_times(A, shifted(slot, ACCELERATION_ROW))
    lo_twist, hi_twist = matrix_times(B, shifted(slot, TWIST_ROW))
    store(rows, HQ, lo + lo_twist)
    store(rows, HQ + 4, hi + hi_twist)
    lo, hi = transposed_times(A, shifted(slot, SPEED_ROW))
    lo_twist, hi_twist = matrix_times(B, screw)
    store(rows, HV, lo + lo_twist)
    store(rows, HV + 4, hi + hi_twist)


@njit(**OPTIONS)
def _carry_wrench(s, f, row):
    """row += s x* f: the wrench f turns and moves with the body that s moves."""
    a0, a1, a2 = cross(s[0], s[1], s[2], f[0], f[1], f[2])
    b0, b1, b2 = cross(s[3], s[4], s[5], f[3], f[4], f[5])
    c0, c1, c2 = cross(s[0], s[1], s[2], f[3], f[4], f[5])
    row[0] += a0 + b0
    row[1] += a1 + b1
    row[2] += a2 + b2
    row[3] += c0
    row[4] += c1
    row[5] += c2


@njit(**OPTIONS)
def _meet(count, at, column, slots, rows, by_q, by_v, M):
    """Entries of `column` with the coordinates from `at` on, whose slots are given."""
    f0, f1, g0, g1 = load(rows, F), load(rows, F + 4), load(rows, G), load(rows, G + 4)
    p0, p1, r0, r1 = load(rows, HQ), load(rows, HQ + 4), load(rows, HV), load(rows, HV + 4)
    out = shifted(rows, SPARE)
    for m in range(count):
        k = SLOT * m
        s0, s1 = load(slots, k + SCREW_ROW), load(slots, k + SCREW_ROW + 4)
        t0, t1 = load(slots, k + TWIST_ROW), load(slots, k + TWIST_ROW + 4)
        a0, a1 = load(slots, k + ACCELERATION_ROW), load(slots, k + ACCELERATION_ROW + 4)
        d0, d1 = load(slots, k + SPEED_ROW), load(slots, k + SPEED_ROW + 4)
        store(out, 0, totals(f0 * a0 + f1 * a1 + g0 * t0 + g1 * t1,
                             f0 * d0 + f1 * d1 + g0 * s0 + g1 * s1,
                             p0 * s0 + p1 * s1, r0 * s0 + r1 * s1))
        mass, a = total(f0 * s0 + f1 * s1), at + m
        by_q[column, a], by_v[column, a], by_q[a, column], by_v[a, column] = (out[0], out[1],
                                                                              out[2], out[3])
        M[a, column], M[column, a] = mass, mass


@njit(**OPTIONS)
def _climb(node, column, meets, table, w, s, by_q, by_v, M):
    """Meet every coordinate between `node` and the base; the node's own joint only if `meets`."""
    rows = s.rows
    for k in range(F, SPARE, ROW):
        rows[k + 6], rows[k + 7] = 0.0, 0.0
    while True:
        parent, dof = table[node, PARENT], table[node, DOF]
        if meets and table[node, KIND] == ON_BEAM:
            _meet(table[parent, MODES], table[parent, ELASTIC], column,
                  shifted(s.slots, SLOT * table[node, PHI_ROW]), rows, by_q, by_v, M)
        elif meets and dof > 0:
            _meet(dof, table[node, FULL], column, shifted(s.slots, SLOT * joint_slot(s, node)),
                  rows, by_q, by_v, M)
        if parent < 0:
            return
        less_turning(shifted(s.own, ROW * node), rows, shifted(rows, G), 1)
        wrenches_to_parent(shifted(s.X, INERTIA_BLOCK * node), 4, rows, False, rows)
        node, meets = parent, True


@njit(**OPTIONS)
def _amplitudes(i, table, w, s, by_q, by_v, M):
    """Entries of a beam's own amplitudes, whose sections have all been added."""
    start, modes, most = table[i, ELASTIC], table[i, MODES], w.most
    e = start - table[0, ELASTIC]
    for m in range(modes):
        for d in range(modes):
            M[start + m, start + d] = w.H[(e + min(m, d)) * most + max(m, d)]
            by_q[start + m, start + d] = s.Kq[(e + m) * most + d]
            by_v[start + m, start + d] = s.Kv[(e + m) * most + d]
        at = ROW * (e + m)
        for k in range(0, ROW, 4):
            store(s.rows, F + k, load(w.F, at + k))
            store(s.rows, G + k, load(s.g, at + k))
            store(s.rows, HQ + k, load(s.hq, at + k))
            store(s.rows, HV + k, load(s.hv, at + k))
        _climb(i, start + m, True, table, w, s, by_q, by_v, M)


@njit(**OPTIONS)
def _joint(i, table, body, q, w, s, by_q, by_v, M):
    """Entries of a node's joint coordinates."""
    A, B = shifted(w.A, INERTIA_BLOCK * i), shifted(s.B, INERTIA_BLOCK * i)
    at, dof, rows, wrench = table[i, FULL], table[i, DOF], s.rows, shifted(w.U, ROW * i)
    slots = shifted(s.slots, SLOT * joint_slot(s, i))
    for m in range(dof):
        slot = shifted(slots, SLOT * m)
        _set_rows(A, B, slot, rows)
        for d in range(dof):
            screw = shifted(slots, SLOT * d)
            mass, position, speed = 0.0, 0.0, 0.0
            for k in range(6):
                mass += screw[k] * rows[F + k]
                position += screw[k] * rows[HQ + k]
                speed += screw[k] * rows[HV + k]
            M[at + d, at + m], by_q[at + d, at + m], by_v[at + d, at + m] = mass, position, speed
        if dof == 1:
            M[at, at] += body[i, ARMATURE]
        _carry_wrench(slot, wrench, shifted(rows, HQ))
        _climb(i, at + m, False, table, w, s, by_q, by_v, M)
    if dof > 1:
        add_base_stiffness(i, table, body, q, w, wrench, by_q)


@njit(**OPTIONS)
def _motor(i, table, body, w, s, by_q, by_v, M):
    """Entries of a rotor, which feels and drives its parent's turning only."""
    motor, parent, rows = table[i, MOTOR], table[i, PARENT], s.rows
    M[motor, motor] = body[i, ROTOR]
    if parent < 0:
        return
    clear(rows, SPARE)
    a, V = body[i, ROTOR_AXIS:ROTOR_AXIS + 3], w.V[parent]
    turned = cross(V[0], V[1], V[2], a[0], a[1], a[2])
    for k in range(3):
        rows[F + k] = body[i, ROTOR] * a[k]
        rows[HV + k] = body[i, ROTOR] * turned[k]
    _climb(parent, motor, True, table, w, s, by_q, by_v, M)


@njit(**OPTIONS)
def _section_to_beam(i, table, coef, q, w, s):
    """What a section's composite body does to the amplitudes of its beam."""
    parent, row, rows, most = table[i, PARENT], table[i, PHI_ROW], s.rows, w.most
    modes, e = table[parent, MODES], table[parent, ELASTIC] - table[0, ELASTIC]
    A, B = shifted(w.A, INERTIA_BLOCK * i), shifted(s.B, INERTIA_BLOCK * i)
    own, X, wrench = shifted(s.own, ROW * i), shifted(s.X, INERTIA_BLOCK * i), shifted(w.U,
                                                                                       ROW * i)
    Kq, Kv = shifted(s.Kq, most * e), shifted(s.Kv, most * e)
    add_section_stiffness(i, table, coef, q, w, s, wrench, Kq, most)
    for k in range(F, SPARE, ROW):
        rows[k + 6], rows[k + 7] = 0.0, 0.0
    for a in range(modes):
        slot = shifted(s.slots, SLOT * (row + a))
        _set_rows(A, B, slot, rows)
        f0, f1 = load(rows, F), load(rows, F + 4)
        p0, p1 = load(rows, HQ), load(rows, HQ + 4)
        r0, r1 = load(rows, HV), load(rows, HV + 4)
        for d in range(modes):
            screw = shifted(s.slots, SLOT * (row + d))
            s0, s1 = load(screw, 0), load(screw, 4)
            if d >= a:
                w.H[(e + a) * most + d] += total(f0 * s0 + f1 * s1)
            Kq[d * most + a] += total(p0 * s0 + p1 * s1)
            Kv[d * most + a] += total(r0 * s0 + r1 * s1)
        less_turning(own, rows, shifted(rows, G), 1)
        _carry_wrench(slot, wrench, shifted(rows, HQ))
        at = ROW * (e + a)
        wrenches_to_parent(X, 1, rows, True, shifted(w.F, at))
        wrenches_to_parent(X, 1, shifted(rows, G), True, shifted(s.g, at))
        wrenches_to_parent(X, 1, shifted(rows, HQ), True, shifted(s.hq, at))
        wrenches_to_parent(X, 1, shifted(rows, HV), True, shifted(s.hv, at))


@njit(**OPTIONS)
def _sum_bodies(table, body, coef, q, w, s, by_q, by_v, M):
    """All entries, from the tips to the base."""
    by_q[:, :] = 0.0
    by_v[:, :] = 0.0
    M[:, :] = 0.0
    for i in range(table.shape[0] - 1, -1, -1):
        parent = table[i, PARENT]
        A, B = shifted(w.A, INERTIA_BLOCK * i), shifted(s.B, INERTIA_BLOCK * i)
        if table[i, MODES] > 0:
            _amplitudes(i, table, w, s, by_q, by_v, M)
        if table[i, DOF] > 0:
            _joint(i, table, body, q, w, s, by_q, by_v, M)
        if table[i, MOTOR] >= 0:
            _motor(i, table, body, w, s, by_q, by_v, M)
        if parent < 0:
            continue
        if table[i, KIND] == ON_BEAM:
            _section_to_beam(i, table, coef, q, w, s)
        R, p, X = w.R[i], w.p[i], shifted(s.X, INERTIA_BLOCK * i)
        less_turning(shifted(s.own, ROW * i), A, B, 6)
        inertia_to_parent(R, p, A, X, w.scratch.T, shifted(w.A, INERTIA_BLOCK * parent))
        inertia_to_parent(R, p, B, X, w.scratch.T, shifted(s.B, INERTIA_BLOCK * parent))


@njit(**OPTIONS)
def fold_derivatives(table, by_q, by_v, M):
    """T'(...)T, in the first n places, where joints that follow others have rows of their own."""
    for i in range(table.shape[0]):
        at, own = table[i, Q], table[i, FULL]
        if own == at:
            continue
        for k in range(M.shape[0]):
            M[at, k] += M[own, k]
            by_q[at, k] += by_q[own, k]
            by_v[at, k] += by_v[own, k]
        for k in range(M.shape[0]):
            M[k, at] += M[k, own]
            by_q[k, at] += by_q[k, own]
            by_v[k, at] += by_v[k, own]


@njit(**OPTIONS)
def force_derivatives(m, space, q, v, a, force, by_q, by_v, M):
    """d(M a + C v + g) by q and by v, and M, of an opened handle m; force (n,) is overwritten with
    M a + C v + g. With followers the matrices (n, n) have as many rows and columns more, which
    mean nothing.

    space: derivative_length numbers, a workspace among them: that of the model keeps its factors.
    Returns the address of the places for `responses`.
    """
    w, s = carve(space, m.size), carve_derivatives(space, m.size)
    kinematics(m.table, m.body, m.coef, q, v, w, True)
    node_accelerations(m.table, m.body, m.gravity, a, w)
    motion_derivatives(m.table, m.body, m.coef, q, v, a, w, s)
    own_body_derivatives(m.table, m.body, m.coef, q, v, a, w, s)
    inverse_sweeps(m.table, m.body, m.gravity, v, a, w, force)
    add_rotors(m.table, m.body, v, w, s)
    frame_changes(m.table, m.body, v, w, s)
    _sum_bodies(m.table, m.body, m.coef, q, w, s, by_q, by_v, M)
    if m.size[6] > 0:
        fold_derivatives(m.table, by_q, by_v, M)
    return s.responses
