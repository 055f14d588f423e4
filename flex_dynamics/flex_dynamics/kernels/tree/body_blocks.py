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
"""What the composite bodies start from: every body's own blocks of M and C, in its own axes."""
from __future__ import annotations

from collections import namedtuple

from numba import njit

from flex_dynamics.kernels.base.layout import (
    DOF,
    ELASTIC,
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
from flex_dynamics.kernels.base.spatial import set_frame_change
from flex_dynamics.kernels.base.vector import shifted
from flex_dynamics.kernels.base.workspace import INERTIA_BLOCK, at_address
from flex_dynamics.kernels.beam.beam_body import beam_fields, beam_inertia, rigid_body
from flex_dynamics.kernels.beam.beam_coriolis import (
    add_cross_matrix,
    beam_coriolis,
    rigid_coriolis,
)

# Addresses
Blocks = namedtuple('Blocks', (
    'B',         # (nodes, 6, ROW) matrix of speed forces, beside the inertia w.A
    'X',         # (nodes, 6, ROW) change of frame to the parent
    'own',       # (nodes, ROW) twist against the parent, in the node's axes
    'on_twist',  # (elastic, ROW) force on the beam's twist per speed of an amplitude, beside w.F
    'on_amplitude',     # (elastic, ROW) force on the amplitude per twist, less that of w.F
    'C',         # (elastic, most) block of C, beside w.H
    'rows',      # (4, ROW) scratch
))


def blocks_length(size) -> int:
    nodes, elastic, most = (int(s) for s in size[:3])
    return nodes * (2 * INERTIA_BLOCK + ROW) + elastic * (2 * ROW + most) + 4 * ROW


@njit(**OPTIONS)
def carve_blocks(work, size):
    nodes, elastic, most = size[0], size[1], size[2]
    base, at = work.ctypes.data, 0
    B = at_address(base + 8 * at)
    at += INERTIA_BLOCK * nodes
    X = at_address(base + 8 * at)
    at += INERTIA_BLOCK * nodes
    own = at_address(base + 8 * at)
    at += ROW * nodes
    on_twist = at_address(base + 8 * at)
    at += ROW * elastic
    on_amplitude = at_address(base + 8 * at)
    at += ROW * elastic
    C = at_address(base + 8 * at)
    at += most * elastic
    rows = at_address(base + 8 * at)
    return Blocks(B, X, own, on_twist, on_amplitude, C, rows)


@njit(**OPTIONS)
def less_turning(V, F, rows, count):
    """rows -= F [V x] for `count` rows: a frame that moves with V adds -[V x] to twists' rates."""
    for at in range(0, ROW * count, ROW):
        x0, x1, x2, x3, x4, x5 = F[at], F[at + 1], F[at + 2], F[at + 3], F[at + 4], F[at + 5]
        rows[at] -= x1 * V[2] - x2 * V[1] + x4 * V[5] - x5 * V[4]
        rows[at + 1] -= x2 * V[0] - x0 * V[2] + x5 * V[3] - x3 * V[5]
        rows[at + 2] -= x0 * V[1] - x1 * V[0] + x3 * V[4] - x4 * V[3]
        rows[at + 3] -= x4 * V[2] - x5 * V[1]
        rows[at + 4] -= x5 * V[0] - x3 * V[2]
        rows[at + 5] -= x3 * V[1] - x4 * V[0]


@njit(**OPTIONS)
def own_bodies(table, body, coef, q, v, w, s):
    """Every node's own blocks in its own axes: w.A, w.F, w.H; s.B, s.on_twist, s.on_amplitude."""
    first = table[0, ELASTIC]
    for i in range(table.shape[0]):
        A, B = shifted(w.A, INERTIA_BLOCK * i), shifted(s.B, INERTIA_BLOCK * i)
        if table[i, MODES] == 0:
            rigid_body(body[i], w.V[i], A, w.b[i])
            rigid_coriolis(body[i], w.V[i], B)
            continue
        e = table[i, ELASTIC] - first
        F, H, most = shifted(w.F, ROW * e), shifted(w.H, w.most * e), w.most
        roots = beam_fields(table[i], coef, q, v, w.fields, True)
        beam_inertia(table[i], coef, roots, w.fields, w.V[i], A, w.b[i], F, H, most, True)
        beam_coriolis(table[i], coef, roots, w.fields, w.V[i], A, F, B,
                      shifted(s.on_twist, ROW * e), shifted(s.on_amplitude, ROW * e),
                      shifted(s.C, most * e), most)
    for i in range(table.shape[0]):
        if table[i, MOTOR] >= 0 and table[i, PARENT] >= 0:
            _add_rotor(body[i], v[table[i, MOTOR]], w.V[table[i, PARENT]],
                       shifted(w.A, INERTIA_BLOCK * table[i, PARENT]),
                       shifted(s.B, INERTIA_BLOCK * table[i, PARENT]))


@njit(**OPTIONS)
def _add_rotor(row, speed, V, A, B):
    """A rotor that spins about an axis of this node: T = 1/2 Im (a.w + m')2."""
    a0, a1, a2 = row[ROTOR_AXIS], row[ROTOR_AXIS + 1], row[ROTOR_AXIS + 2]
    for k in range(3):
        for j in range(3):
            A[ROW * k + j] += row[ROTOR] * row[ROTOR_AXIS + k] * row[ROTOR_AXIS + j]
    # w x (Im spin a) = -[Im spin a] w.
    momentum = -row[ROTOR] * (speed + a0 * V[0] + a1 * V[1] + a2 * V[2])
    add_cross_matrix(momentum * a0, momentum * a1, momentum * a2, B, 0, 0)


@njit(**OPTIONS)
def frame_changes(table, body, v, w, s):
    """s.X and s.own of every node."""
    for i in range(table.shape[0]):
        set_frame_change(w.R[i], w.p[i], shifted(s.X, INERTIA_BLOCK * i))
        parent, at, own = table[i, PARENT], table[i, Q], shifted(s.own, ROW * i)
        for k in range(6):
            own[k] = 0.0
        if table[i, KIND] == ON_BEAM:
            start, row = table[parent, ELASTIC], table[i, PHI_ROW]
            for m in range(table[parent, MODES]):
                for k in range(6):
                    own[k] += w.phi[row + m, k] * v[start + m]
        elif table[i, DOF] == 1:
            for k in range(6):
                own[k] = body[i, SCREW + k] * v[at]
        else:
            for m in range(table[i, DOF]):
                for k in range(6):
                    own[k] += w.S[m, k] * v[at + m]
