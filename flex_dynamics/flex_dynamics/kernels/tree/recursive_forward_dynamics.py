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
"""Forward dynamics in O(nodes), never forming M: articulated bodies and three sweeps.

Mohan and Saha: U D U' of the mass matrix by the articulated bodies (36)-(38), solved by the sweeps
(39)-(42), with their misprints corrected. A node's amplitudes are eliminated first (block H),
then its joint, and what remains is handed to the parent. Stiffness and damping enter the pivots
through `by_damping` and `by_stiffness`, which is how the implicit integrator stays in O(nodes).
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import (
    ARMATURE,
    ELASTIC,
    FIXED,
    KIND,
    MODES,
    MOTOR,
    ON_BEAM,
    OPTIONS,
    PARENT,
    PHI_ROW,
    PLANAR,
    PRISMATIC,
    REVOLUTE,
    ROTOR,
    ROTOR_AXIS,
    ROW,
    SCREW,
    Q,
)
from flex_dynamics.kernels.base.spatial import (
    at_parent,
    inertia_to_parent,
    set_frame_change,
    transposed_times,
    twist_to_child,
    wrenches_to_parent,
)
from flex_dynamics.kernels.base.vector import address_of, load, shifted, store, total, totals
from flex_dynamics.kernels.base.workspace import INERTIA_BLOCK, carve
from flex_dynamics.kernels.beam.beam_body import beam_fields, beam_inertia, rigid_body
from flex_dynamics.kernels.tree.elimination import (
    base_pivot,
    elastic_joint_pivot,
    eliminate_amplitudes,
    eliminate_joint,
    reduce_parent_by_rotor,
)
from flex_dynamics.kernels.tree.kinematics import kinematics


@njit(**OPTIONS)
def own_inertia(table, body, coef, q, v, w):
    """Every node's own inertia and bias force: w.A, w.b and for beams w.F, w.H."""
    first = table[0, ELASTIC]
    for i in range(table.shape[0]):
        A = shifted(w.A, INERTIA_BLOCK * i)
        if table[i, MODES] == 0:
            rigid_body(body[i], w.V[i], A, w.b[i])
            continue
        e = table[i, ELASTIC] - first
        roots = beam_fields(table[i], coef, q, v, w.fields, False)
        beam_inertia(table[i], coef, roots, w.fields, w.V[i], A, w.b[i], shifted(w.F, ROW * e),
                     shifted(w.H, w.most * e), w.most, False)


@njit(**OPTIONS)
def hand_over(R, p, c, A, scratch, parent):
    """X' A X and X'(b + A c) of a node to the inertia of its parent; addresses."""
    for j in range(6):
        at = ROW * j
        s = A[at + 6]
        for k in range(6):
            s += A[at + k] * c[k]
        A[at + 6] = s
    set_frame_change(R, p, scratch.X)
    inertia_to_parent(R, p, A, scratch.X, scratch.T, parent)


@njit(**OPTIONS)
def hand_to_amplitudes(modes, phi, A, scratch, F, H, most):
    """After hand_over of a section: F += X'[A, b] Phi and H += Phi' A Phi, its upper triangle."""
    rows = scratch.rows
    for a in range(modes):
        at = ROW * a
        lo, hi = transposed_times(A, shifted(phi, at))
        store(rows, at, lo)
        store(rows, at + 4, hi)
        # Rows of phi end in zeros, and there are zero rows up to a multiple of four.
        for d in range(a // 4 * 4, modes, 4):
            k = ROW * d
            s0 = lo * load(phi, k) + hi * load(phi, k + 4)
            s1 = lo * load(phi, k + 8) + hi * load(phi, k + 12)
            s2 = lo * load(phi, k + 16) + hi * load(phi, k + 20)
            s3 = lo * load(phi, k + 24) + hi * load(phi, k + 28)
            place = a * most + d
            store(H, place, load(H, place) + totals(s0, s1, s2, s3))
    wrenches_to_parent(scratch.X, modes, rows, True, F)


@njit(**OPTIONS)
def solve_sweeps(table, body, coef, force, diagonal, by_damping, by_stiffness, gravity, w, a):
    """(M + diagonal + by_damping D + by_stiffness K) a = force - bias, from what own_inertia left.

    Returns 0, or 1 + the index of the coordinate whose pivot is not positive.
    """
    first = table[0, ELASTIC]
    for i in range(table.shape[0] - 1, -1, -1):
        kind, parent, at = table[i, KIND], table[i, PARENT], table[i, Q]
        A, b = shifted(w.A, INERTIA_BLOCK * i), w.b[i]
        for j in range(6):
            A[ROW * j + 6] += b[j]
        bad = 0
        if table[i, MODES] > 0:
            e = table[i, ELASTIC] - first
            bad = eliminate_amplitudes(table[i], coef, shifted(w.F, ROW * e),
                                       shifted(w.H, w.most * e), w.most, force, by_damping,
                                       by_stiffness, A)
            if bad:
                return bad
        if kind == PLANAR or (kind > PLANAR and kind != ON_BEAM):
            bad = base_pivot(kind, at, force, diagonal, w, A, w.c[i])
        elif kind == REVOLUTE or kind == PRISMATIC:
            if table[i, MOTOR] >= 0:
                bad = elastic_joint_pivot(i, table, body, force, diagonal, by_damping,
                                          by_stiffness, w, A)
            else:
                bad = eliminate_joint(shifted(address_of(body[i]), SCREW), at, body[i, ARMATURE],
                                      force, diagonal, A, shifted(w.U, ROW * i), w.D[i])
        if bad:
            return bad
        if parent < 0:
            continue
        hand_over(w.R[i], w.p[i], w.c[i], A, w.scratch, shifted(w.A, INERTIA_BLOCK * parent))
        if kind == ON_BEAM:
            e = table[parent, ELASTIC] - first
            hand_to_amplitudes(table[parent, MODES], address_of(w.phi[table[i, PHI_ROW]]), A,
                               w.scratch, shifted(w.F, ROW * e), shifted(w.H, w.most * e), w.most)
        if table[i, MOTOR] >= 0:
            U = shifted(w.U, ROW * i)
            U[0], U[1], U[2], U[3], U[4], U[5] = at_parent(w.R[i], w.p[i], U[0], U[1], U[2], U[3],
                                                           U[4], U[5])
            reduce_parent_by_rotor(i, parent, body, w)
    accelerate(table, body, gravity, w, a)
    return 0


@njit(**OPTIONS)
def accelerate(table, body, gravity, w, a):
    """Last sweep, base to tip: accelerations of all coordinates into a (n,)."""
    first = table[0, ELASTIC]
    base = address_of(w.six[6])
    base[0], base[1], base[2] = 0.0, 0.0, 0.0
    base[3], base[4], base[5] = -gravity[0], -gravity[1], -gravity[2]
    for i in range(table.shape[0]):
        kind, parent, at = table[i, KIND], table[i, PARENT], table[i, Q]
        acc, c = shifted(w.acc, ROW * i), w.c[i]
        parent_acc = base if parent < 0 else shifted(w.acc, ROW * parent)
        twist_to_child(w.R[i], w.p[i], parent_acc, acc)
        for k in range(6):
            acc[k] += c[k]
        acc[6], acc[7] = 1.0, 0.0
        if kind == ON_BEAM:
            start, phi = table[parent, ELASTIC], address_of(w.phi[table[i, PHI_ROW]])
            lo, hi = load(acc, 0), load(acc, 4)
            for m in range(table[parent, MODES]):
                lo = lo + load(phi, ROW * m) * a[start + m]
                hi = hi + load(phi, ROW * m + 4) * a[start + m]
            store(acc, 0, lo)
            store(acc, 4, hi)
        elif kind == REVOLUTE or kind == PRISMATIC:
            if table[i, MOTOR] >= 0:
                solve_elastic_joint(i, table, body, parent_acc, w, a)
            else:
                U, s = shifted(w.U, ROW * i), w.D[i, 1]
                for k in range(6):
                    s -= U[k] * acc[k]
                a[at] = s * w.D[i, 0]
            for k in range(6):
                acc[k] += body[i, SCREW + k] * a[at]
        elif kind != FIXED:
            solve_base(3 if kind == PLANAR else 6, at, w, acc, c, a)
        if table[i, MODES] > 0:
            start = table[i, ELASTIC]
            e = start - first
            solve_amplitudes(table[i, MODES], shifted(w.F, ROW * e), shifted(w.H, w.most * e),
                             w.most, acc, shifted(address_of(a), start))


@njit(**OPTIONS)
def solve_amplitudes(modes, F, H, most, acc, a):
    """D L' a = -(F acc + L^-1 (bias - force)), backwards; acc ends in 1 for F's column 6."""
    x0, x1 = load(acc, 0), load(acc, 4)
    for m in range(modes - 1, -1, -1):
        s = load(F, ROW * m) * x0 + load(F, ROW * m + 4) * x1
        t = total(s)
        for k in range(m + 1, modes):
            t += H[m * most + k] * a[k]
        a[m] = -t * H[m * most + m]


@njit(**OPTIONS)
def solve_elastic_joint(i, table, body, parent_acc, w, a):
    """Accelerations of a joint and its rotor, from the acceleration of the parent."""
    U, D = shifted(w.U, ROW * i), w.D[i]
    s0, s1 = D[3], D[4]
    if table[i, PARENT] >= 0:
        for k in range(6):
            s0 -= U[k] * parent_acc[k]
        for k in range(3):
            s1 -= body[i, ROTOR] * body[i, ROTOR_AXIS + k] * parent_acc[k]
    else:
        # U stayed in the node's axes: the base does not move, only gravity acts.
        still = w.six[2]
        twist_to_child(w.R[i], w.p[i], parent_acc, still)
        for k in range(6):
            s0 -= U[k] * still[k]
    a[table[i, Q]] = D[0] * s0 + D[1] * s1
    a[table[i, MOTOR]] = D[1] * s0 + D[2] * s1


@njit(**OPTIONS)
def solve_base(dof, at, w, acc, c, a):
    """Accelerations of a moving base's own coordinates, added to its spatial acceleration."""
    D, U, right = w.base_D, w.base_U, w.six[5]
    for m in range(dof):
        s = right[m]
        for k in range(6):
            s -= U[m, k] * (acc[k] - c[k])
        for k in range(m):
            s -= D[m, k] * a[at + k]
        a[at + m] = s * D[m, m]
    for m in range(dof - 1, -1, -1):
        s = a[at + m]
        for k in range(m + 1, dof):
            s -= D[k, m] * a[at + k]
        a[at + m] = s * D[m, m]
    for m in range(dof):
        for k in range(6):
            acc[k] += w.S[m, k] * a[at + m]


@njit(**OPTIONS)
def keep_rotor_rates(table, v, w):
    """Rotor speeds where reduce_parent_by_rotor looks for them."""
    for i in range(table.shape[0]):
        if table[i, MOTOR] >= 0:
            w.D[i, 5] = v[table[i, MOTOR]]


@njit(**OPTIONS)
def forward_dynamics(table, body, coef, size, work, gravity, q, v, force, diagonal, by_damping,
                     by_stiffness, a):
    """a (n,) with (M + diagonal + by_damping D + by_stiffness K) a = force - bias(q, v).

    force (n,): all generalised forces, springs and dampers included. Returns 0, or 1 + the index
    of the coordinate at which the mass matrix is not positive definite.
    """
    w = carve(work, size)
    kinematics(table, body, coef, q, v, w, False)
    own_inertia(table, body, coef, q, v, w)
    keep_rotor_rates(table, v, w)
    return solve_sweeps(table, body, coef, force, diagonal, by_damping, by_stiffness, gravity, w,
                        a)
