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
"""Accelerations that a generalised force causes, by the factors that solve_sweeps has left.

The recursion's factors serve for any right-hand side: one sweep from the tips to the base carries
the force, one back the accelerations, both in O(nodes), without a new elimination.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import (
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
from flex_dynamics.kernels.base.spatial import add_force_to_parent, twist_to_child
from flex_dynamics.kernels.base.vector import shifted


@njit(**OPTIONS)
def response(table, body, w, force, c, y):
    """y (n,): (M + what solve_sweeps was given) y = force (n,)."""
    carry_force(table, body, w, force, c)
    carry_acceleration(table, body, w, c, y)


@njit(**OPTIONS)
def carry_force(table, body, w, force, c):
    """Tips to base: right-hand sides of the pivots in c.node_right and c.elastic."""
    first, nodes = table[0, ELASTIC], table.shape[0]
    b, right, elastic = c.node_force, c.node_right, c.elastic
    for i in range(nodes):
        for k in range(6):
            b[i, k] = 0.0
    for k in range(first, elastic.shape[0]):
        elastic[k] = -force[k]
    for i in range(nodes - 1, -1, -1):
        kind, parent, at, own = table[i, KIND], table[i, PARENT], table[i, Q], b[i]
        modes = table[i, MODES]
        if modes > 0:
            start = table[i, ELASTIC]
            F, H = shifted(w.F, ROW * (start - first)), shifted(w.H, w.most * (start - first))
            for k in range(modes):
                x = elastic[start + k] * H[k * w.most + k]
                for j in range(k + 1, modes):
                    elastic[start + j] -= H[k * w.most + j] * x
                for j in range(6):
                    own[j] -= F[ROW * k + j] * x
        elastic_joint = table[i, MOTOR] >= 0
        if kind == REVOLUTE or kind == PRISMATIC:
            s = force[at]
            for k in range(6):
                s -= body[i, SCREW + k] * own[k]
            right[i, 0] = s
            if elastic_joint:
                right[i, 1] = force[table[i, MOTOR]]
            else:
                U, x = shifted(w.U, ROW * i), s * w.D[i, 0]
                for k in range(6):
                    own[k] += U[k] * x
        elif kind != FIXED and kind != ON_BEAM:
            for m in range(3 if kind == PLANAR else 6):
                s = force[at + m]
                for k in range(6):
                    s -= w.S[m, k] * own[k]
                right[i, m] = s
        if parent < 0:
            continue
        if kind == ON_BEAM:
            start, row = table[parent, ELASTIC], table[i, PHI_ROW]
            for m in range(table[parent, MODES]):
                s = 0.0
                for k in range(6):
                    s += w.phi[row + m, k] * own[k]
                elastic[start + m] += s
        add_force_to_parent(w.R[i], w.p[i], own, b[parent])
        if elastic_joint:
            # U is in the parent's axes, where joint and rotor were eliminated.
            U, D = shifted(w.U, ROW * i), w.D[i]
            x0 = D[0] * right[i, 0] + D[1] * right[i, 1]
            x1 = D[1] * right[i, 0] + D[2] * right[i, 1]
            for k in range(6):
                b[parent, k] += U[k] * x0
            for k in range(3):
                b[parent, k] += body[i, ROTOR] * body[i, ROTOR_AXIS + k] * x1


@njit(**OPTIONS)
def carry_acceleration(table, body, w, c, y):
    """Base to tips: y (n,) from the right-hand sides."""
    first = table[0, ELASTIC]
    right, elastic = c.node_right, c.elastic
    for i in range(table.shape[0]):
        kind, parent, at, acc = table[i, KIND], table[i, PARENT], table[i, Q], c.node_acc[i]
        if parent < 0:
            for k in range(6):
                acc[k] = 0.0
        else:
            twist_to_child(w.R[i], w.p[i], c.node_acc[parent], acc)
        if kind == ON_BEAM:
            start, row = table[parent, ELASTIC], table[i, PHI_ROW]
            for m in range(table[parent, MODES]):
                for k in range(6):
                    acc[k] += w.phi[row + m, k] * y[start + m]
        elif kind == REVOLUTE or kind == PRISMATIC:
            U, D = shifted(w.U, ROW * i), w.D[i]
            if table[i, MOTOR] >= 0:
                s0, s1 = right[i, 0], right[i, 1]
                if parent >= 0:
                    carrier = c.node_acc[parent]
                    for k in range(6):
                        s0 -= U[k] * carrier[k]
                    for k in range(3):
                        s1 -= body[i, ROTOR] * body[i, ROTOR_AXIS + k] * carrier[k]
                y[at] = D[0] * s0 + D[1] * s1
                y[table[i, MOTOR]] = D[1] * s0 + D[2] * s1
            else:
                s = right[i, 0]
                for k in range(6):
                    s -= U[k] * acc[k]
                y[at] = s * D[0]
            for k in range(6):
                acc[k] += body[i, SCREW + k] * y[at]
        elif kind != FIXED:
            respond_base(3 if kind == PLANAR else 6, at, w, right[i], acc, y)
        modes = table[i, MODES]
        if modes > 0:
            start = table[i, ELASTIC]
            F, H = shifted(w.F, ROW * (start - first)), shifted(w.H, w.most * (start - first))
            for m in range(modes - 1, -1, -1):
                s = elastic[start + m]
                for k in range(6):
                    s += F[ROW * m + k] * acc[k]
                for k in range(m + 1, modes):
                    s += H[m * w.most + k] * y[start + k]
                y[start + m] = -s * H[m * w.most + m]


@njit(**OPTIONS)
def respond_base(dof, at, w, right, acc, y):
    """Accelerations of a moving base's own coordinates, added to its spatial acceleration."""
    D, U = w.base_D, w.base_U
    for m in range(dof):
        s = right[m]
        for k in range(6):
            s -= U[m, k] * acc[k]
        for k in range(m):
            s -= D[m, k] * y[at + k]
        y[at + m] = s * D[m, m]
    for m in range(dof - 1, -1, -1):
        s = y[at + m]
        for k in range(m + 1, dof):
            s -= D[k, m] * y[at + k]
        y[at + m] = s * D[m, m]
    for m in range(dof):
        for k in range(6):
            acc[k] += w.S[m, k] * y[at + m]
