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
"""Mass and Coriolis matrices by composite bodies, tip to base: the path beside the recursion.

Composite bodies of Mohan and Saha (32). For the subtree behind a node the force is
A V' + B V; through V = T u of the parent it becomes T'(A T) u' + T'(A T_rate + B T) u, which keeps
dM/dt - 2 C skew at every step. A coordinate's column is its force carried to the base; its row of
C is what the subtree answers to V' and V, carried the same way.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.finite import BAD_INPUT, LARGEST, LARGEST_POSITION, finite
from flex_dynamics.kernels.base.handle import open_handle
from flex_dynamics.kernels.base.layout import (
    ARMATURE,
    DOF,
    ELASTIC,
    ENTRY,
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
    SCREW,
    Q,
)
from flex_dynamics.kernels.base.spatial import (
    clear,
    inertia_to_parent,
    transposed_times,
    wrenches_to_parent,
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
from flex_dynamics.kernels.base.workspace import INERTIA_BLOCK, carve
from flex_dynamics.kernels.tree.body_blocks import (
    carve_blocks,
    frame_changes,
    less_turning,
    own_bodies,
)
from flex_dynamics.kernels.tree.kinematics import kinematics

# Rows of Blocks.rows, of one coordinate at one node: force on the node's twist per acceleration of
# the coordinate, and per its speed; force on the coordinate per twist, less that of the first.
FORCE, SPEED_FORCE, ANSWER, SPARE = 0, ROW, 2 * ROW, 3 * ROW


@njit(**OPTIONS)
def matrix_times(B, x):
    """B x of B (6, ROW) and six numbers, as two vectors; x ends in two numbers that B has not."""
    zero, lo, hi = spread(0.0), load(x, 0), load(x, 4)
    r0 = load(B, 0) * lo + load(B, 4) * hi
    r1 = load(B, 8) * lo + load(B, 12) * hi
    r2 = load(B, 16) * lo + load(B, 20) * hi
    r3 = load(B, 24) * lo + load(B, 28) * hi
    r4 = load(B, 32) * lo + load(B, 36) * hi
    r5 = load(B, 40) * lo + load(B, 44) * hi
    return totals(r0, r1, r2, r3), totals(r4, r5, zero, zero)


@njit(**OPTIONS)
def _set_rows_of_screw(A, B, screw, rate, rows):
    """Rows of a coordinate that moves a composite body: A s, A s_rate + B s and B' s."""
    lo, hi = transposed_times(A, screw)
    store(rows, FORCE, lo)
    store(rows, FORCE + 4, hi)
    lo, hi = transposed_times(A, rate)
    lo_speed, hi_speed = matrix_times(B, screw)
    store(rows, SPEED_FORCE, lo + lo_speed)
    store(rows, SPEED_FORCE + 4, hi + hi_speed)
    lo, hi = transposed_times(B, screw)
    store(rows, ANSWER, lo)
    store(rows, ANSWER + 4, hi)


@njit(**OPTIONS)
def _meet(count, at, column, screws, rates, stride, rows, M, C):
    """Entries of `column` with the coordinates from `at` on, whose screws are `stride` apart."""
    f0, f1 = load(rows, FORCE), load(rows, FORCE + 4)
    c0, c1 = load(rows, SPEED_FORCE), load(rows, SPEED_FORCE + 4)
    h0, h1 = load(rows, ANSWER), load(rows, ANSWER + 4)
    zero, out = spread(0.0), shifted(rows, SPARE)
    for m in range(count):
        k = stride * m
        s0, s1, d0, d1 = load(screws, k), load(screws, k + 4), load(rates, k), load(rates, k + 4)
        store(out, 0, totals(f0 * s0 + f1 * s1, c0 * s0 + c1 * s1,
                             f0 * d0 + f1 * d1 + h0 * s0 + h1 * s1, zero))
        a = at + m
        M[a, column], M[column, a] = out[0], out[0]
        C[a, column], C[column, a] = out[1], out[2]


@njit(**OPTIONS)
def _climb(node, column, meets, table, body, gravity, w, s, still, M, C, weight):
    """Meet every coordinate between `node` and the base; the node's own joint only if `meets`.

    s.rows: those of the coordinate `column` at the node; overwritten. still (ROW,): zeros.
    """
    rows = s.rows
    rows[FORCE + 6], rows[FORCE + 7] = 0.0, 0.0
    while True:
        parent, at, dof = table[node, PARENT], table[node, FULL], table[node, DOF]
        if meets and table[node, KIND] == ON_BEAM:
            row = table[node, PHI_ROW]
            _meet(table[parent, MODES], table[parent, ELASTIC], column, address_of(w.phi[row]),
                  address_of(w.phi_rate[row]), ROW, rows, M, C)
        elif meets and dof == 1:
            _meet(1, at, column, shifted(address_of(body[node]), SCREW), still, 0, rows, M, C)
        elif meets and dof > 1:
            _meet(dof, at, column, address_of(w.S), address_of(w.S_rate), 6, rows, M, C)
        if parent < 0:
            break
        less_turning(shifted(s.own, ROW * node), rows, shifted(rows, ANSWER), 1)
        wrenches_to_parent(shifted(s.X, INERTIA_BLOCK * node), 3, rows, False, rows)
        node, meets = parent, True
    # Gravity: the force on a base that accelerates upwards.
    R, g = w.R[node], 0.0
    for k in range(3):
        g -= gravity[k] * (R[k, 0] * rows[FORCE + 3] + R[k, 1] * rows[FORCE + 4]
                           + R[k, 2] * rows[FORCE + 5])
    weight[column] = g


@njit(**OPTIONS)
def _amplitudes(i, table, body, gravity, w, s, still, M, C, weight):
    """Entries of a beam's own amplitudes, whose sections have all been added."""
    start, modes = table[i, ELASTIC], table[i, MODES]
    e = start - table[0, ELASTIC]
    for m in range(modes):
        for d in range(modes):
            M[start + m, start + d] = w.H[(e + min(m, d)) * w.most + max(m, d)]
            C[start + m, start + d] = s.C[(e + m) * w.most + d]
        at = ROW * (e + m)
        for k in range(0, ROW, 4):
            store(s.rows, FORCE + k, load(w.F, at + k))
            store(s.rows, SPEED_FORCE + k, load(s.on_twist, at + k))
            store(s.rows, ANSWER + k, load(s.on_amplitude, at + k))
        _climb(i, start + m, True, table, body, gravity, w, s, still, M, C, weight)


@njit(**OPTIONS)
def _joint(i, table, body, gravity, w, s, still, M, C, weight):
    """Entries of a node's joint coordinates."""
    A, B = shifted(w.A, INERTIA_BLOCK * i), shifted(s.B, INERTIA_BLOCK * i)
    at, dof, rows = table[i, FULL], table[i, DOF], s.rows
    screws, rates, stride = address_of(w.S), address_of(w.S_rate), 6
    if dof == 1:
        screws, rates, stride = shifted(address_of(body[i]), SCREW), still, 0
    for m in range(dof):
        _set_rows_of_screw(A, B, shifted(screws, stride * m), shifted(rates, stride * m), rows)
        for d in range(dof):
            mass, speed = 0.0, 0.0
            for k in range(6):
                mass += screws[stride * d + k] * rows[FORCE + k]
                speed += screws[stride * d + k] * rows[SPEED_FORCE + k]
            M[at + d, at + m], C[at + d, at + m] = mass, speed
        if dof == 1:
            M[at, at] += body[i, ARMATURE]
        _climb(i, at + m, False, table, body, gravity, w, s, still, M, C, weight)


@njit(**OPTIONS)
def _motor(i, table, body, gravity, w, s, still, M, C, weight):
    """Entries of a rotor, which feels and drives its parent's turning only."""
    motor, parent = table[i, MOTOR], table[i, PARENT]
    M[motor, motor] = body[i, ROTOR]
    if parent < 0:
        return
    clear(s.rows, 3 * ROW)
    for k in range(3):
        s.rows[FORCE + k] = body[i, ROTOR] * body[i, ROTOR_AXIS + k]
    _climb(parent, motor, True, table, body, gravity, w, s, still, M, C, weight)


@njit(**OPTIONS)
def _section_to_beam(i, table, w, s):
    """Amplitude blocks of T'(A T) and T'(A T_rate + B T) with T = [X, Phi]."""
    parent, row, rows = table[i, PARENT], table[i, PHI_ROW], s.rows
    modes, e = table[parent, MODES], table[parent, ELASTIC] - table[0, ELASTIC]
    A, B = shifted(w.A, INERTIA_BLOCK * i), shifted(s.B, INERTIA_BLOCK * i)
    phi, phi_rate = address_of(w.phi[row]), address_of(w.phi_rate[row])
    own, X = shifted(s.own, ROW * i), shifted(s.X, INERTIA_BLOCK * i)
    for a in range(modes):
        _set_rows_of_screw(A, B, shifted(phi, ROW * a), shifted(phi_rate, ROW * a), rows)
        f0, f1 = load(rows, FORCE), load(rows, FORCE + 4)
        c0, c1 = load(rows, SPEED_FORCE), load(rows, SPEED_FORCE + 4)
        for d in range(modes):
            s0, s1 = load(phi, ROW * d), load(phi, ROW * d + 4)
            if d >= a:
                w.H[(e + a) * w.most + d] += total(f0 * s0 + f1 * s1)
            s.C[(e + d) * w.most + a] += total(c0 * s0 + c1 * s1)
        less_turning(own, rows, shifted(rows, ANSWER), 1)
        at = ROW * (e + a)
        wrenches_to_parent(X, 1, rows, True, shifted(w.F, at))
        wrenches_to_parent(X, 1, shifted(rows, SPEED_FORCE), True, shifted(s.on_twist, at))
        wrenches_to_parent(X, 1, shifted(rows, ANSWER), True, shifted(s.on_amplitude, at))


@njit(**OPTIONS)
def sum_bodies(table, body, gravity, w, s, M, C, weight):
    """M, C and weight from every body's own blocks, which become those of composite bodies."""
    M[:, :] = 0.0
    C[:, :] = 0.0
    weight[:] = 0.0
    still = w.scratch.section
    clear(still, ROW)
    for i in range(table.shape[0] - 1, -1, -1):
        parent = table[i, PARENT]
        _amplitudes(i, table, body, gravity, w, s, still, M, C, weight)
        _joint(i, table, body, gravity, w, s, still, M, C, weight)
        if table[i, MOTOR] >= 0:
            _motor(i, table, body, gravity, w, s, still, M, C, weight)
        if parent < 0:
            continue
        if table[i, KIND] == ON_BEAM:
            _section_to_beam(i, table, w, s)
        A, B = shifted(w.A, INERTIA_BLOCK * i), shifted(s.B, INERTIA_BLOCK * i)
        X, R, p = shifted(s.X, INERTIA_BLOCK * i), w.R[i], w.p[i]
        # X_rate = -[own x] X.
        less_turning(shifted(s.own, ROW * i), A, B, 6)
        inertia_to_parent(R, p, A, X, w.scratch.T, shifted(w.A, INERTIA_BLOCK * parent))
        inertia_to_parent(R, p, B, X, w.scratch.T, shifted(s.B, INERTIA_BLOCK * parent))


@njit(**OPTIONS)
def fold_followers(table, M, C, weight):
    """T'M T, T'C T and T'weight, in the first n places, of terms in which every joint has a
    coordinate of its own, x = T q with ones where a joint moves by a coordinate."""
    for i in range(table.shape[0]):
        at, own = table[i, Q], table[i, FULL]
        if own == at:
            continue
        weight[at] += weight[own]
        for k in range(M.shape[0]):
            M[at, k] += M[own, k]
            C[at, k] += C[own, k]
        for k in range(M.shape[0]):
            M[k, at] += M[k, own]
            C[k, at] += C[k, own]


@njit(**ENTRY)
def mass_and_coriolis(handle, q, v, M, C, weight):
    """M, C (n, n) and gravity's force weight (n,); all are overwritten. Returns 0 or BAD_INPUT.

    With followers the arrays have as many rows and columns more, at the end, which mean nothing.
    """
    m = open_handle(handle)
    n = weight.shape[0] - m.size[6]
    if not (q.shape[0] == n and v.shape[0] == n and finite(q, LARGEST_POSITION)
            and finite(v, LARGEST)):
        return BAD_INPUT
    w, s = carve(m.work, m.size), carve_blocks(m.more_work, m.size)
    kinematics(m.table, m.body, m.coef, q, v, w, True)
    own_bodies(m.table, m.body, m.coef, q, v, w, s)
    frame_changes(m.table, m.body, v, w, s)
    sum_bodies(m.table, m.body, m.gravity, w, s, M, C, weight)
    if m.size[6] > 0:
        fold_followers(m.table, M, C, weight)
    return 0
