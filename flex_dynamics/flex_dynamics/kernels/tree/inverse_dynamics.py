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
"""Inverse dynamics by recursion: the generalised force M a + C v + g for given accelerations.

Newton-Euler sweeps with beams; with a = 0 it gives the bias, with v = a = 0 gravity.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import (
    ARMATURE,
    ELASTIC,
    ENTRY,
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
from flex_dynamics.kernels.base.spatial import add_force_to_parent, twist_to_child
from flex_dynamics.kernels.base.vector import address_of, shifted
from flex_dynamics.kernels.base.workspace import INERTIA_BLOCK, carve
from flex_dynamics.kernels.tree.kinematics import kinematics
from flex_dynamics.kernels.tree.recursive_forward_dynamics import own_inertia


@njit(**ENTRY)
def inverse_dynamics(table, body, coef, size, work, gravity, q, v, a, force):
    """force (n,) = M(q) a + C(q, v) v + gravity; springs and dampers are not in it."""
    w = carve(work, size)
    kinematics(table, body, coef, q, v, w, False)
    own_inertia(table, body, coef, q, v, w)
    inverse_sweeps(table, body, gravity, v, a, w, force)


@njit(**OPTIONS)
def inverse_sweeps(table, body, gravity, v, a, w, force):
    """force (n,) = M a + C v + gravity from what own_inertia left in w, which stays as it is."""
    node_accelerations(table, body, gravity, a, w)
    first = table[0, ELASTIC]
    force[:] = 0.0
    for i in range(table.shape[0]):
        A, b, acc = shifted(w.A, INERTIA_BLOCK * i), w.b[i], shifted(w.acc, ROW * i)
        U = shifted(w.U, ROW * i)
        for j in range(6):
            s = b[j]
            for k in range(6):
                s += A[ROW * j + k] * acc[k]
            U[j] = s
        modes, start = table[i, MODES], table[i, ELASTIC]
        e = start - first
        for m in range(modes):
            F = shifted(w.F, ROW * (e + m))
            s = F[6]
            for k in range(6):
                U[k] += F[k] * a[start + m]
                s += F[k] * acc[k]
            for d in range(modes):
                s += w.H[(e + min(m, d)) * w.most + max(m, d)] * a[start + d]
            force[start + m] += s
    for i in range(table.shape[0] - 1, -1, -1):
        _project(i, table, body, v, a, w, force)


@njit(**OPTIONS)
def node_accelerations(table, body, gravity, a, w):
    """w.acc of all nodes, gravity as an upward acceleration of the base, after kinematics."""
    base = address_of(w.six[6])
    base[0], base[1], base[2] = 0.0, 0.0, 0.0
    base[3], base[4], base[5] = -gravity[0], -gravity[1], -gravity[2]
    for i in range(table.shape[0]):
        kind, parent, at = table[i, KIND], table[i, PARENT], table[i, Q]
        acc = shifted(w.acc, ROW * i)
        twist_to_child(w.R[i], w.p[i], base if parent < 0 else shifted(w.acc, ROW * parent), acc)
        for k in range(6):
            acc[k] += w.c[i, k]
        if kind == ON_BEAM:
            start, row = table[parent, ELASTIC], table[i, PHI_ROW]
            for m in range(table[parent, MODES]):
                for k in range(6):
                    acc[k] += w.phi[row + m, k] * a[start + m]
        elif kind == REVOLUTE or kind == PRISMATIC:
            for k in range(6):
                acc[k] += body[i, SCREW + k] * a[at]
        elif kind != FIXED:
            for m in range(3 if kind == PLANAR else 6):
                for k in range(6):
                    acc[k] += w.S[m, k] * a[at + m]


@njit(**OPTIONS)
def _project(i, table, body, v, a, w, force):
    """One node's force on its joint, then on its parent."""
    kind, parent, at, f = table[i, KIND], table[i, PARENT], table[i, Q], shifted(w.U, ROW * i)
    if kind == ON_BEAM:
        start, row = table[parent, ELASTIC], table[i, PHI_ROW]
        for m in range(table[parent, MODES]):
            s = 0.0
            for k in range(6):
                s += w.phi[row + m, k] * f[k]
            force[start + m] += s
    elif kind == REVOLUTE or kind == PRISMATIC:
        s = body[i, ARMATURE] * a[at]
        for k in range(6):
            s += body[i, SCREW + k] * f[k]
        force[at] += s
    elif kind != FIXED:
        for m in range(3 if kind == PLANAR else 6):
            s = 0.0
            for k in range(6):
                s += w.S[m, k] * f[k]
            force[at + m] = s
    motor = table[i, MOTOR]
    if motor >= 0:
        torque = body[i, ROTOR] * a[motor]
        if parent >= 0:
            axis = body[i, ROTOR_AXIS:ROTOR_AXIS + 3]
            spin = v[motor]
            for k in range(3):
                torque += body[i, ROTOR] * axis[k] * w.acc[ROW * parent + k]
                spin += axis[k] * w.V[parent, k]
            momentum = body[i, ROTOR] * spin
            o, t = w.V[parent], shifted(w.U, ROW * parent)
            t[0] += torque * axis[0] + momentum * (o[1] * axis[2] - o[2] * axis[1])
            t[1] += torque * axis[1] + momentum * (o[2] * axis[0] - o[0] * axis[2])
            t[2] += torque * axis[2] + momentum * (o[0] * axis[1] - o[1] * axis[0])
        force[motor] = torque
    if parent >= 0:
        add_force_to_parent(w.R[i], w.p[i], f, shifted(w.U, ROW * parent))
