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
"""Accelerations that many generalised forces cause, four at a time in vector registers.

What constraints/response.py does for one force: by the factors that solve_sweeps has left, in
O(nodes) a force. Forces are the columns of a matrix (n, width), which the accelerations replace;
`width` is a multiple of LANES.
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
from flex_dynamics.kernels.base.vector import load, shifted, spread, store

TWIST = 6 * LANES         # numbers of a twist or wrench of four forces


@njit(**OPTIONS)
def responses(table, body, w, Y, width, space):
    """Y (n, width), address: forces in, accelerations out. space: 2 TWIST numbers a node."""
    for column in range(0, width, LANES):
        _carry_forces(table, body, w, shifted(Y, column), width, space)
        _carry_accelerations(table, body, w, shifted(Y, column), width,
                             shifted(space, TWIST * table.shape[0]))


@njit(**OPTIONS)
def _row(Y, width, coordinate):
    return load(Y, width * coordinate)


@njit(**OPTIONS)
def _twist(space, i):
    at = TWIST * i
    return (load(space, at), load(space, at + 4), load(space, at + 8), load(space, at + 12),
            load(space, at + 16), load(space, at + 20))


@njit(**OPTIONS)
def _keep_twist(space, i, x0, x1, x2, x3, x4, x5):
    at = TWIST * i
    store(space, at, x0)
    store(space, at + 4, x1)
    store(space, at + 8, x2)
    store(space, at + 12, x3)
    store(space, at + 16, x4)
    store(space, at + 20, x5)


@njit(**OPTIONS)
def _along(s, x0, x1, x2, x3, x4, x5):
    """s . x of six numbers and six vectors."""
    return x0 * s[0] + x1 * s[1] + x2 * s[2] + x3 * s[3] + x4 * s[4] + x5 * s[5]


@njit(**OPTIONS)
def _plus(s, scale, x0, x1, x2, x3, x4, x5):
    """x + s scale."""
    return (x0 + scale * s[0], x1 + scale * s[1], x2 + scale * s[2], x3 + scale * s[3],
            x4 + scale * s[4], x5 + scale * s[5])


@njit(**OPTIONS)
def _carry_forces(table, body, w, Y, width, space):
    """Tips to base: right-hand sides of the pivots, in the places of the forces."""
    first, nodes = table[0, ELASTIC], table.shape[0]
    zero = spread(0.0)
    for k in range(0, TWIST * nodes, LANES):
        store(space, k, zero)
    for i in range(nodes - 1, -1, -1):
        kind, parent, at = table[i, KIND], table[i, PARENT], table[i, Q]
        modes, start = table[i, MODES], table[i, ELASTIC]
        x0, x1, x2, x3, x4, x5 = _twist(space, i)
        F, H = shifted(w.F, ROW * (start - first)), shifted(w.H, w.most * (start - first))
        for k in range(modes):
            y = _row(Y, width, start + k) * H[k * w.most + k]
            for j in range(k + 1, modes):
                place = width * (start + j)
                store(Y, place, load(Y, place) - y * H[k * w.most + j])
            x0, x1, x2, x3, x4, x5 = _plus(shifted(F, ROW * k), y, x0, x1, x2, x3, x4, x5)
        elastic_joint = table[i, MOTOR] >= 0
        if kind == REVOLUTE or kind == PRISMATIC:
            s = _row(Y, width, at) - _along(body[i, SCREW:SCREW + 6], x0, x1, x2, x3, x4, x5)
            store(Y, width * at, s)
            if not elastic_joint:
                x0, x1, x2, x3, x4, x5 = _plus(shifted(w.U, ROW * i), s * w.D[i, 0], x0, x1, x2,
                                               x3, x4, x5)
        elif kind != FIXED and kind != ON_BEAM:
            for m in range(3 if kind == PLANAR else 6):
                place = width * (at + m)
                store(Y, place, load(Y, place) - _along(w.S[m], x0, x1, x2, x3, x4, x5))
        if parent < 0:
            continue
        if kind == ON_BEAM:
            start, row = table[parent, ELASTIC], table[i, PHI_ROW]
            for m in range(table[parent, MODES]):
                place = width * (start + m)
                store(Y, place, load(Y, place) - _along(w.phi[row + m], x0, x1, x2, x3, x4, x5))
        R, p = w.R[i], w.p[i]
        f0 = x3 * R[0, 0] + x4 * R[0, 1] + x5 * R[0, 2]
        f1 = x3 * R[1, 0] + x4 * R[1, 1] + x5 * R[1, 2]
        f2 = x3 * R[2, 0] + x4 * R[2, 1] + x5 * R[2, 2]
        n0 = x0 * R[0, 0] + x1 * R[0, 1] + x2 * R[0, 2] + f2 * p[1] - f1 * p[2]
        n1 = x0 * R[1, 0] + x1 * R[1, 1] + x2 * R[1, 2] + f0 * p[2] - f2 * p[0]
        n2 = x0 * R[2, 0] + x1 * R[2, 1] + x2 * R[2, 2] + f1 * p[0] - f0 * p[1]
        y0, y1, y2, y3, y4, y5 = _twist(space, parent)
        y0, y1, y2, y3, y4, y5 = y0 + n0, y1 + n1, y2 + n2, y3 + f0, y4 + f1, y5 + f2
        if elastic_joint:
            # U is in the parent's axes, where joint and rotor were eliminated.
            D = w.D[i]
            s0, s1 = _row(Y, width, at), _row(Y, width, table[i, MOTOR])
            y0, y1, y2, y3, y4, y5 = _plus(shifted(w.U, ROW * i), s0 * D[0] + s1 * D[1], y0, y1,
                                           y2, y3, y4, y5)
            spin = (s0 * D[1] + s1 * D[2]) * body[i, ROTOR]
            y0 = y0 + spin * body[i, ROTOR_AXIS]
            y1 = y1 + spin * body[i, ROTOR_AXIS + 1]
            y2 = y2 + spin * body[i, ROTOR_AXIS + 2]
        _keep_twist(space, parent, y0, y1, y2, y3, y4, y5)


@njit(**OPTIONS)
def _carry_accelerations(table, body, w, Y, width, space):
    """Base to tips: accelerations from the right-hand sides."""
    first = table[0, ELASTIC]
    zero = spread(0.0)
    for i in range(table.shape[0]):
        kind, parent, at = table[i, KIND], table[i, PARENT], table[i, Q]
        x0, x1, x2, x3, x4, x5 = zero, zero, zero, zero, zero, zero
        if parent >= 0:
            R, p = w.R[i], w.p[i]
            y0, y1, y2, y3, y4, y5 = _twist(space, parent)
            y3, y4, y5 = (y3 + y1 * p[2] - y2 * p[1], y4 + y2 * p[0] - y0 * p[2],
                          y5 + y0 * p[1] - y1 * p[0])
            x0 = y0 * R[0, 0] + y1 * R[1, 0] + y2 * R[2, 0]
            x1 = y0 * R[0, 1] + y1 * R[1, 1] + y2 * R[2, 1]
            x2 = y0 * R[0, 2] + y1 * R[1, 2] + y2 * R[2, 2]
            x3 = y3 * R[0, 0] + y4 * R[1, 0] + y5 * R[2, 0]
            x4 = y3 * R[0, 1] + y4 * R[1, 1] + y5 * R[2, 1]
            x5 = y3 * R[0, 2] + y4 * R[1, 2] + y5 * R[2, 2]
        if kind == ON_BEAM:
            start, row = table[parent, ELASTIC], table[i, PHI_ROW]
            for m in range(table[parent, MODES]):
                x0, x1, x2, x3, x4, x5 = _plus(w.phi[row + m], _row(Y, width, start + m), x0, x1,
                                               x2, x3, x4, x5)
        elif kind == REVOLUTE or kind == PRISMATIC:
            U, D = shifted(w.U, ROW * i), w.D[i]
            if table[i, MOTOR] >= 0:
                s0, s1 = _row(Y, width, at), _row(Y, width, table[i, MOTOR])
                if parent >= 0:
                    y0, y1, y2, y3, y4, y5 = _twist(space, parent)
                    s0 = s0 - _along(U, y0, y1, y2, y3, y4, y5)
                    s1 = s1 - (y0 * body[i, ROTOR_AXIS] + y1 * body[i, ROTOR_AXIS + 1]
                               + y2 * body[i, ROTOR_AXIS + 2]) * body[i, ROTOR]
                s = s0 * D[0] + s1 * D[1]
                store(Y, width * table[i, MOTOR], s0 * D[1] + s1 * D[2])
            else:
                s = (_row(Y, width, at) - _along(U, x0, x1, x2, x3, x4, x5)) * D[0]
            store(Y, width * at, s)
            x0, x1, x2, x3, x4, x5 = _plus(body[i, SCREW:SCREW + 6], s, x0, x1, x2, x3, x4, x5)
        elif kind != FIXED:
            dof = 3 if kind == PLANAR else 6
            _solve_base(dof, at, w, Y, width, x0, x1, x2, x3, x4, x5)
            for m in range(dof):
                x0, x1, x2, x3, x4, x5 = _plus(w.S[m], _row(Y, width, at + m), x0, x1, x2, x3, x4,
                                               x5)
        modes, start = table[i, MODES], table[i, ELASTIC]
        F, H = shifted(w.F, ROW * (start - first)), shifted(w.H, w.most * (start - first))
        for m in range(modes - 1, -1, -1):
            s = _row(Y, width, start + m) - _along(shifted(F, ROW * m), x0, x1, x2, x3, x4, x5)
            for k in range(m + 1, modes):
                s = s - _row(Y, width, start + k) * H[m * w.most + k]
            store(Y, width * (start + m), s * H[m * w.most + m])
        _keep_twist(space, i, x0, x1, x2, x3, x4, x5)


@njit(**OPTIONS)
def _solve_base(dof, at, w, Y, width, x0, x1, x2, x3, x4, x5):
    """Accelerations of a moving base's own coordinates, by the Cholesky factor of its pivot."""
    D, U = w.base_D, w.base_U
    for m in range(dof):
        s = _row(Y, width, at + m) - _along(U[m], x0, x1, x2, x3, x4, x5)
        for k in range(m):
            s = s - _row(Y, width, at + k) * D[m, k]
        store(Y, width * (at + m), s * D[m, m])
    for m in range(dof - 1, -1, -1):
        s = _row(Y, width, at + m)
        for k in range(m + 1, dof):
            s = s - _row(Y, width, at + k) * D[k, m]
        store(Y, width * (at + m), s * D[m, m])
