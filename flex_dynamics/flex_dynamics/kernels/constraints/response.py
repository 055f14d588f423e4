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
"""Accelerations that forces cause, by the factors that solve_sweeps has left: base to tips.

The last sweep of forward dynamics for four right-hand sides in a register. They are forces that
row_forces.reduce_forces has carried to the base, Z = L^-1 force of M = L D L', or sums of them.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import (
    ELASTIC,
    FIXED,
    KIND,
    LANES,
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
from flex_dynamics.kernels.base.vector import address_of, load, shifted, spread, store


@njit(**OPTIONS)
def respond(table, body, w, Z, stride, move, Y):
    """Y (n, stride) = (L')^-1 D^-1 Z for Z (n, stride); move: scratch (nodes, 6, stride).

    Addresses; stride: a multiple of LANES.
    """
    first = table[0, ELASTIC]
    for column in range(0, stride, LANES):
        z, y = shifted(Z, column), shifted(Y, column)
        for i in range(table.shape[0]):
            kind, parent, modes = table[i, KIND], table[i, PARENT], table[i, MODES]
            acc, above = (shifted(move, 6 * stride * i + column),
                          shifted(move, 6 * stride * max(parent, 0) + column))
            if parent < 0:
                for k in range(6):
                    store(acc, k * stride, spread(0.0))
            else:
                twists_to_child(w.R[i], w.p[i], above, acc, stride)
            if kind == ON_BEAM:
                start, phi = table[parent, ELASTIC], address_of(w.phi[table[i, PHI_ROW]])
                for m in range(table[parent, MODES]):
                    add_twist(shifted(phi, ROW * m), load(y, (start + m) * stride), acc, stride)
            elif kind == REVOLUTE or kind == PRISMATIC:
                respond_joint(i, table, body, w, above, acc, stride, z, y)
            elif kind != FIXED:
                respond_base(3 if kind == PLANAR else 6, table[i, Q], w, acc, stride, z, y)
            if modes > 0:
                start = table[i, ELASTIC]
                respond_amplitudes(modes, shifted(w.F, ROW * (start - first)),
                                   shifted(w.H, w.most * (start - first)), w.most, acc, stride,
                                   shifted(z, start * stride), shifted(y, start * stride))


@njit(**OPTIONS)
def twists_to_child(R, p, parent, child, stride):
    """child = X parent for four columns; addresses of (6, stride)."""
    w0, w1, w2 = load(parent, 0), load(parent, stride), load(parent, 2 * stride)
    v0 = load(parent, 3 * stride) + w1 * p[2] - w2 * p[1]
    v1 = load(parent, 4 * stride) + w2 * p[0] - w0 * p[2]
    v2 = load(parent, 5 * stride) + w0 * p[1] - w1 * p[0]
    for i in range(3):
        store(child, i * stride, w0 * R[0, i] + w1 * R[1, i] + w2 * R[2, i])
        store(child, (3 + i) * stride, v0 * R[0, i] + v1 * R[1, i] + v2 * R[2, i])


@njit(**OPTIONS)
def add_twist(screw, y, acc, stride):
    """acc += screw y for four columns; addresses of (6,) and (6, stride)."""
    for k in range(6):
        store(acc, k * stride, load(acc, k * stride) + y * screw[k])


@njit(**OPTIONS)
def less(s, U, acc, stride):
    """s - U . acc for four columns; addresses of (6,) and (6, stride)."""
    for k in range(6):
        s = s - load(acc, k * stride) * U[k]
    return s


@njit(**OPTIONS)
def respond_joint(i, table, body, w, above, acc, stride, z, y):
    """A joint with one coordinate, and its rotor if it is elastic."""
    at, motor, U, D = table[i, Q] * stride, table[i, MOTOR], shifted(w.U, ROW * i), w.D[i]
    if motor >= 0:
        s0, s1 = load(z, at), load(z, motor * stride)
        if table[i, PARENT] >= 0:
            s0 = less(s0, U, above, stride)
            for k in range(3):
                s1 = s1 - load(above, k * stride) * (body[i, ROTOR] * body[i, ROTOR_AXIS + k])
        x = s0 * D[0] + s1 * D[1]
        store(y, motor * stride, s0 * D[1] + s1 * D[2])
    else:
        x = less(load(z, at), U, acc, stride) * D[0]
    store(y, at, x)
    add_twist(shifted(address_of(body[i]), SCREW), x, acc, stride)


@njit(**OPTIONS)
def respond_base(dof, at, w, acc, stride, z, y):
    """The coordinates of a moving base, which nothing carries: acc is zero there before."""
    D = w.base_D
    for m in range(dof):
        x = load(z, (at + m) * stride)
        for k in range(m):
            x = x - load(y, (at + k) * stride) * D[m, k]
        store(y, (at + m) * stride, x * D[m, m])
    for m in range(dof - 1, -1, -1):
        x = load(y, (at + m) * stride)
        for k in range(m + 1, dof):
            x = x - load(y, (at + k) * stride) * D[k, m]
        x = x * D[m, m]
        store(y, (at + m) * stride, x)
        add_twist(address_of(w.S[m]), x, acc, stride)


@njit(**OPTIONS)
def respond_amplitudes(modes, F, H, most, acc, stride, z, y):
    """Amplitudes of a beam, backwards; addresses."""
    for m in range(modes - 1, -1, -1):
        s = less(load(z, m * stride), shifted(F, ROW * m), acc, stride)
        for k in range(m + 1, modes):
            s = s - load(y, k * stride) * H[m * most + k]
        store(y, m * stride, s * H[m * most + m])
