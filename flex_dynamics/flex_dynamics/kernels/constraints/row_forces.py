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
"""Forces of all rows at once, carried from the tips to the base: four columns in a register.

A row's multiplier is a pair of wrenches on the nodes of its ends. Carried rigidly to the base,
they give the columns of A'. Carried through the articulated bodies that solve_sweeps has left,
they give Z = L^-1 A' of M = L D L', and with it A M^-1 A' = Z' D^-1 Z: one sweep for all rows,
without A.
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
from flex_dynamics.kernels.base.spatial import clear
from flex_dynamics.kernels.base.vector import address_of, load, shifted, spread, store
from flex_dynamics.kernels.constraints.constraint_arrays import FIRST, SECOND


@njit(**OPTIONS)
def set_pulls(c):
    """c.pull: wrenches of c.lines on the nodes of the ends, all else zero."""
    columns = c.right.shape[0]
    clear(address_of(c.pull), c.pull.shape[0] * 6 * columns)
    for r in range(c.rows.shape[0]):
        line = c.lines[r]
        add_pull(c, c.rows[r, FIRST], r, -line[0], -line[1], -line[2], line[3], line[4], line[5])
        add_pull(c, c.rows[r, SECOND], r, line[0], line[1], line[2], line[6], line[7], line[8])


@njit(**OPTIONS)
def add_pull(c, end, r, f0, f1, f2, m0, m1, m2):
    """Force f and moment m of row r on an end, in world axes, to its node in its own axes."""
    node = c.end_nodes[end]
    if node < 0:
        return
    R, d, out = c.R_world[node], c.end_poses[end], c.pull[node]
    l0 = R[0, 0] * f0 + R[1, 0] * f1 + R[2, 0] * f2
    l1 = R[0, 1] * f0 + R[1, 1] * f1 + R[2, 1] * f2
    l2 = R[0, 2] * f0 + R[1, 2] * f1 + R[2, 2] * f2
    out[0, r] += R[0, 0] * m0 + R[1, 0] * m1 + R[2, 0] * m2 + d[10] * l2 - d[11] * l1
    out[1, r] += R[0, 1] * m0 + R[1, 1] * m1 + R[2, 1] * m2 + d[11] * l0 - d[9] * l2
    out[2, r] += R[0, 2] * m0 + R[1, 2] * m1 + R[2, 2] * m2 + d[9] * l1 - d[10] * l0
    out[3, r] += l0
    out[4, r] += l1
    out[5, r] += l2


@njit(**OPTIONS)
def pull_parent(R, p, own, parent, stride):
    """parent += X' own for the wrenches of four columns; addresses of (6, stride)."""
    m0, m1, m2 = load(own, 0), load(own, stride), load(own, 2 * stride)
    l0, l1, l2 = load(own, 3 * stride), load(own, 4 * stride), load(own, 5 * stride)
    f0 = l0 * R[0, 0] + l1 * R[0, 1] + l2 * R[0, 2]
    f1 = l0 * R[1, 0] + l1 * R[1, 1] + l2 * R[1, 2]
    f2 = l0 * R[2, 0] + l1 * R[2, 1] + l2 * R[2, 2]
    n0 = m0 * R[0, 0] + m1 * R[0, 1] + m2 * R[0, 2] + f2 * p[1] - f1 * p[2]
    n1 = m0 * R[1, 0] + m1 * R[1, 1] + m2 * R[1, 2] + f0 * p[2] - f2 * p[0]
    n2 = m0 * R[2, 0] + m1 * R[2, 1] + m2 * R[2, 2] + f1 * p[0] - f0 * p[1]
    store(parent, 0, load(parent, 0) + n0)
    store(parent, stride, load(parent, stride) + n1)
    store(parent, 2 * stride, load(parent, 2 * stride) + n2)
    store(parent, 3 * stride, load(parent, 3 * stride) + f0)
    store(parent, 4 * stride, load(parent, 4 * stride) + f1)
    store(parent, 5 * stride, load(parent, 5 * stride) + f2)


@njit(**OPTIONS)
def along(screw, own, stride):
    """screw . own for the wrenches of four columns; addresses of (6,) and (6, stride)."""
    return (load(own, 0) * screw[0] + load(own, stride) * screw[1]
            + load(own, 2 * stride) * screw[2] + load(own, 3 * stride) * screw[3]
            + load(own, 4 * stride) * screw[4] + load(own, 5 * stride) * screw[5])


@njit(**OPTIONS)
def pull_amplitudes(modes, phi, own, stride, out):
    """out (modes, stride) += phi' own for four columns of a section; addresses."""
    for m in range(modes):
        store(out, m * stride, load(out, m * stride) + along(shifted(phi, ROW * m), own, stride))


@njit(**OPTIONS)
def take_off(U, x, own, stride):
    """own -= U x for four columns; addresses of (6,) and (6, stride)."""
    for k in range(6):
        store(own, k * stride, load(own, k * stride) - x * U[k])


@njit(**OPTIONS)
def add_size(by, own, stride, size):
    """size += by |own|^2 for the wrenches of four columns; addresses."""
    s = load(own, 0) * load(own, 0)
    for k in range(1, 6):
        s = s + load(own, k * stride) * load(own, k * stride)
    store(size, 0, load(size, 0) + s * by)


@njit(**OPTIONS)
def square(screw):
    """|screw|^2 of an address of (6,)."""
    s = 0.0
    for k in range(6):
        s += screw[k] * screw[k]
    return s


@njit(**OPTIONS)
def set_columns(table, body, w, c):
    """c.At = A' from the lines of the rows, at the kinematics of the workspace."""
    set_pulls(c)
    n, stride = c.At.shape
    clear(address_of(c.At), n * stride)
    for i in range(table.shape[0] - 1, -1, -1):
        kind, parent, at = table[i, KIND], table[i, PARENT], table[i, Q]
        for column in range(c.span[i, 0], c.span[i, 1], 4):
            own, out = shifted(address_of(c.pull[i]), column), shifted(address_of(c.At), column)
            if kind == REVOLUTE or kind == PRISMATIC:
                store(out, at * stride, along(shifted(address_of(body[i]), SCREW), own, stride))
            elif kind == ON_BEAM:
                pull_amplitudes(table[parent, MODES], address_of(w.phi[table[i, PHI_ROW]]), own,
                                stride, shifted(out, table[parent, ELASTIC] * stride))
            elif kind != FIXED:
                for m in range(3 if kind == PLANAR else 6):
                    store(out, (at + m) * stride, along(address_of(w.S[m]), own, stride))
            if parent >= 0:
                pull_parent(w.R[i], w.p[i], own, shifted(address_of(c.pull[parent]), column),
                            stride)


@njit(**OPTIONS)
def reduce_forces(table, body, w, c):
    """c.Z, c.W and c.size of the lines of the rows, by the factors that solve_sweeps has left."""
    set_pulls(c)
    clear(address_of(c.size), c.size.shape[0])
    n, stride, first = c.Z.shape[0], c.Z.shape[1], table[0, ELASTIC]
    clear(address_of(c.Z), n * stride)
    clear(address_of(c.W), n * stride)
    for i in range(table.shape[0] - 1, -1, -1):
        kind, parent, modes = table[i, KIND], table[i, PARENT], table[i, MODES]
        for column in range(c.span[i, 0], c.span[i, 1], 4):
            own = shifted(address_of(c.pull[i]), column)
            Z, W = shifted(address_of(c.Z), column), shifted(address_of(c.W), column)
            size = shifted(address_of(c.size), column)
            if modes > 0:
                start = table[i, ELASTIC]
                reduce_amplitudes(modes, shifted(w.F, ROW * (start - first)),
                                  shifted(w.H, w.most * (start - first)), w.most, own, stride,
                                  shifted(Z, start * stride), shifted(W, start * stride))
            if kind == REVOLUTE or kind == PRISMATIC:
                reduce_joint(i, table, body, w, own, stride, Z, W, size)
            elif kind != FIXED and kind != ON_BEAM:
                reduce_base(3 if kind == PLANAR else 6, table[i, Q], w, own, stride, Z, W, size)
            if parent < 0:
                continue
            above = shifted(address_of(c.pull[parent]), column)
            if kind == ON_BEAM:
                pull_amplitudes(table[parent, MODES], address_of(w.phi[table[i, PHI_ROW]]), own,
                                stride, shifted(Z, table[parent, ELASTIC] * stride))
            pull_parent(w.R[i], w.p[i], own, above, stride)
            if table[i, MOTOR] >= 0:
                # U is in the parent's axes, where joint and rotor were eliminated.
                motor = load(W, table[i, MOTOR] * stride)
                take_off(shifted(w.U, ROW * i), load(W, table[i, Q] * stride), above, stride)
                for k in range(3):
                    store(above, k * stride, load(above, k * stride)
                          - motor * (body[i, ROTOR] * body[i, ROTOR_AXIS + k]))


@njit(**OPTIONS)
def reduce_amplitudes(modes, F, H, most, own, stride, Z, W):
    """Amplitudes of a beam, after what its sections have added to Z; addresses."""
    for k in range(modes):
        x = load(Z, k * stride) * H[k * most + k]
        store(W, k * stride, x)
        for j in range(k + 1, modes):
            store(Z, j * stride, load(Z, j * stride) - x * H[k * most + j])
        take_off(shifted(F, ROW * k), x, own, stride)


@njit(**OPTIONS)
def reduce_joint(i, table, body, w, own, stride, Z, W, size):
    """A joint with one coordinate; the rotor of an elastic one has no force of its own."""
    at, D, screw = table[i, Q] * stride, w.D[i], shifted(address_of(body[i]), SCREW)
    z = along(screw, own, stride)
    add_size(square(screw) * D[0], own, stride, size)
    store(Z, at, z)
    store(W, at, z * D[0])
    if table[i, MOTOR] >= 0:
        store(W, table[i, MOTOR] * stride, z * D[1])
    else:
        take_off(shifted(w.U, ROW * i), z * D[0], own, stride)


@njit(**OPTIONS)
def reduce_base(dof, at, w, own, stride, Z, W, size):
    """The coordinates of a moving base, by the Cholesky factor of their pivot."""
    D = w.base_D
    for m in range(dof):
        add_size(square(address_of(w.S[m])) * D[m, m] * D[m, m], own, stride, size)
        x = along(address_of(w.S[m]), own, stride)
        store(Z, (at + m) * stride, x)
        for k in range(m):
            x = x - load(W, (at + k) * stride) * D[m, k]
        store(W, (at + m) * stride, x * D[m, m])
    for m in range(dof - 1, -1, -1):
        x = load(W, (at + m) * stride)
        for k in range(m + 1, dof):
            x = x - load(W, (at + k) * stride) * D[k, m]
        store(W, (at + m) * stride, x * D[m, m])


@njit(**OPTIONS)
def set_schur(c):
    """Lower triangle of c.S = Z' D^-1 Z (m, columns)."""
    n, stride = c.Z.shape
    Z, W, S = address_of(c.Z), address_of(c.W), address_of(c.S)
    for r in range(c.rows.shape[0]):
        for column in range(0, r + 1, 4):
            s = spread(0.0)
            for k in range(n):
                s = s + load(W, k * stride + column) * Z[k * stride + r]
            store(S, r * stride + column, s)
