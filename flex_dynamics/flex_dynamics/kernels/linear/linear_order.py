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
"""M, C and g to first order in the elastic coordinates and speeds: Cibicik and Egeland (112).

Bodies of all kinds, rigid, beam and rotor, are projected by one function: a body has the twist of
its node, speeds of its own, an inertia D and a matrix B of speed forces, each as a value and a
first-order part (linear_kinematics.py). With projecting Jacobians on both sides dM/dt - 2 C is
skew-symmetric for the truncated M itself.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import (
    ARMATURE,
    DOF,
    ELASTIC,
    ENTRY,
    INERTIA,
    KIND,
    MASS,
    MODES,
    MOMENT,
    MOTOR,
    N_AXIS,
    ON_BEAM,
    OPTIONS,
    PARENT,
    ROTOR,
    ROTOR_AXIS,
    Q,
)
from flex_dynamics.kernels.linear.linear_kinematics import carry_by_joint, carry_by_section


@njit(**ENTRY)
def linear_terms(table, body, columns, counts, shapes, blocks, at, gravity, q, v, with_c, s, M, C,
                 g):
    """M, C (n, n) and g (n,) of the whole tree; C is left alone if not with_c.

    columns (nodes, most), counts (nodes,): the coordinates that move each node. shapes: of
    sections, x and [theta; r] per amplitude; blocks: of beams, D0, D1, C0, C1, C2; at: where.
    """
    M[:, :] = 0.0
    g[:] = 0.0
    if with_c:
        C[:, :] = 0.0
    for i in range(table.shape[0]):
        if table[i, KIND] == ON_BEAM:
            carry_by_section(i, table, counts, shapes, at[i], q, v, s)
        else:
            carry_by_joint(i, table, body, counts, gravity, q, v, s)
        trace = body[i, INERTIA] + body[i, INERTIA + 4] + body[i, INERTIA + 8]
        if body[i, MASS] + trace > 0.0:
            rigid_body(body[i], s.V[i], s.D, s.B)
            _add_body(i, 0, 0, columns, counts, with_c, s, M, C, g)
        modes, start = table[i, MODES], table[i, ELASTIC]
        if table[i, N_AXIS] > 0:
            beam_body(modes, blocks, at[i], s.V[i], q[start:start + modes], v[start:start + modes],
                  with_c, s.D, s.B)
            _add_body(i, modes, start, columns, counts, with_c, s, M, C, g)
        if table[i, DOF] == 1:
            M[table[i, Q], table[i, Q]] += body[i, ARMATURE]
        motor, parent = table[i, MOTOR], table[i, PARENT]
        if motor >= 0 and parent >= 0:
            rotor_body(body[i], s.V[parent], v[motor], s.D, s.B)
            _add_body(parent, 1, motor, columns, counts, with_c, s, M, C, g)
        elif motor >= 0:
            M[motor, motor] += body[i, ROTOR]


@njit(**OPTIONS)
def rigid_body(row, V, D, B):
    """Inertia of a rigid body at its node's origin, and B with B V = V x* D V, skew-symmetric."""
    m, c0, c1, c2 = row[MASS], row[MOMENT], row[MOMENT + 1], row[MOMENT + 2]
    D[:, :6, :6] = 0.0
    for k in range(3):
        D[0, 3 + k, 3 + k] = m
        for j in range(3):
            D[0, k, j] = row[INERTIA + 3 * k + j]
    _set_cross(D[0], 0, 3, c0, c1, c2)
    _set_cross(D[0], 3, 0, -c0, -c1, -c2)
    B[:, :6, :6] = 0.0
    for part in range(2):
        w0, w1, w2, v0, v1, v2 = V[part]
        h0 = D[0, 0, 0] * w0 + D[0, 0, 1] * w1 + D[0, 0, 2] * w2 + c1 * v2 - c2 * v1
        h1 = D[0, 1, 0] * w0 + D[0, 1, 1] * w1 + D[0, 1, 2] * w2 + c2 * v0 - c0 * v2
        h2 = D[0, 2, 0] * w0 + D[0, 2, 1] * w1 + D[0, 2, 2] * w2 + c0 * v1 - c1 * v0
        l0 = m * v0 + w1 * c2 - w2 * c1
        l1 = m * v1 + w2 * c0 - w0 * c2
        l2 = m * v2 + w0 * c1 - w1 * c0
        _set_cross(B[part], 0, 0, -h0, -h1, -h2)
        _set_cross(B[part], 0, 3, -l0, -l1, -l2)
        _set_cross(B[part], 3, 0, -l0, -l1, -l2)


@njit(**OPTIONS)
def _set_cross(A, row, column, x, y, z):
    """The matrix of a cross product into the block of A that starts at (row, column)."""
    A[row, column + 1], A[row, column + 2] = -z, y
    A[row + 1, column], A[row + 1, column + 2] = z, -x
    A[row + 2, column], A[row + 2, column + 1] = -y, x


@njit(**OPTIONS)
def beam_body(modes, blocks, at, V, eta, rate, with_c, D, B):
    """A beam's blocks at its amplitudes and speeds, from the integrals of build/linear_beam."""
    size = 6 + modes
    square = size * size
    D[1, :size, :size] = 0.0
    add_block(size, blocks, at, 1.0, True, D[0])
    at += square
    for m in range(modes):
        add_block(size, blocks, at, eta[m], False, D[1])
        at += square
    if not with_c:
        return
    B[:, :size, :size] = 0.0
    for a in range(6):
        add_block(size, blocks, at, V[0, a], False, B[0])
        add_block(size, blocks, at, V[1, a], False, B[1])
        at += square
    for m in range(modes):
        for a in range(6):
            add_block(size, blocks, at, eta[m] * V[0, a], False, B[1])
            at += square
    for m in range(modes):
        add_block(size, blocks, at, rate[m], False, B[1])
        at += square


@njit(**OPTIONS)
def add_block(size, blocks, at, factor, anew, out):
    for k in range(size):
        for j in range(size):
            value = factor * blocks[at + k * size + j]
            out[k, j] = value if anew else out[k, j] + value


@njit(**OPTIONS)
def rotor_body(row, V, speed, D, B):
    """A rotor in the parent's axes as a body of twist and own speed: T = 1/2 Im (a.w + m')2."""
    a0, a1, a2 = row[ROTOR_AXIS], row[ROTOR_AXIS + 1], row[ROTOR_AXIS + 2]
    D[:, :7, :7] = 0.0
    B[:, :7, :7] = 0.0
    for k in range(3):
        D[0, k, 6] = row[ROTOR] * row[ROTOR_AXIS + k]
        D[0, 6, k] = D[0, k, 6]
        for j in range(3):
            D[0, k, j] = D[0, k, 6] * row[ROTOR_AXIS + j]
    D[0, 6, 6] = row[ROTOR]
    for part in range(2):
        spin = a0 * V[part, 0] + a1 * V[part, 1] + a2 * V[part, 2]
        h = -row[ROTOR] * (spin + (speed if part == 0 else 0.0))
        _set_cross(B[part], 0, 0, h * a0, h * a1, h * a2)


@njit(**OPTIONS)
def _add_body(i, own, start, columns, counts, with_c, s, M, C, g):
    """Project a body on all coordinates (112): M += T'D T, C += T'(D T_rate + B T), g += T'D G.

    The body moves with the twist of node i and `own` speeds of its own, those from `start` on.
    """
    inherited, size = counts[i], 6 + own
    count = inherited + own
    T, Td, D, B, y, z = s.T, s.T_rate, s.D, s.B, s.y, s.z
    T[:, :count + 1, :size] = 0.0
    Td[:, :count, :size] = 0.0
    for part in range(2):
        for k in range(6):
            for a in range(inherited):
                T[part, a, k] = s.J[i, part, a, k]
                Td[part, a, k] = s.J_rate[i, part, a, k]
            T[part, count, k] = s.G[i, part, k]
    for m in range(own):
        T[0, inherited + m, 6 + m] = 1.0
    for b in range(count + 1):
        truncated_product(size, D, T[0, b], T[1, b], True, y)
        if with_c and b < count:
            truncated_product(size, D, Td[0, b], Td[1, b], True, z)
            truncated_product(size, B, T[0, b], T[1, b], False, z)
        column = start + b - inherited if b >= inherited else columns[i, b]
        for a in range(count):
            row = start + a - inherited if a >= inherited else columns[i, a]
            mass, speed = 0.0, 0.0
            for k in range(size):
                mass += T[0, a, k] * (y[0, k] + y[1, k]) + T[1, a, k] * y[0, k]
                speed += T[0, a, k] * (z[0, k] + z[1, k]) + T[1, a, k] * z[0, k]
            if b == count:
                g[row] += mass
            else:
                M[row, column] += mass
                if with_c:
                    C[row, column] += speed


@njit(**OPTIONS)
def truncated_product(size, A, x0, x1, anew, out):
    """out (+)= A x of a truncated matrix and vector."""
    for k in range(size):
        s0, s1 = 0.0, 0.0
        for j in range(size):
            s0 += A[0, k, j] * x0[j]
            s1 += A[0, k, j] * x1[j] + A[1, k, j] * x0[j]
        out[0, k] = s0 if anew else out[0, k] + s0
        out[1, k] = s1 if anew else out[1, k] + s1
