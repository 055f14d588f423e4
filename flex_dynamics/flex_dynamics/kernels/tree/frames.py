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
"""World poses, Jacobians and their rates of frames on nodes and of sections anywhere on a beam.

Piedboeuf (2), (3), (26): the column of a coordinate is its own motion carried to the point; with
second-order fields the Jacobian is exact to first order in the amplitudes.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import (
    ELASTIC,
    ENTRY,
    FIXED,
    KIND,
    MODES,
    ON_BEAM,
    OPTIONS,
    PARENT,
    PHI_ROW,
    PLANAR,
    SCREW,
    Q,
)
from flex_dynamics.kernels.base.vector import address_of, shifted
from flex_dynamics.kernels.base.workspace import carve
from flex_dynamics.kernels.beam.section import OWN, section_motion
from flex_dynamics.kernels.tree.kinematics import kinematics


@njit(**OPTIONS)
def compose(R, p, R_inner, p_inner, R_out, p_out):
    for i in range(3):
        s = p[i]
        for k in range(3):
            s += R[i, k] * p_inner[k]
        p_out[i] = s
        for j in range(3):
            s = 0.0
            for k in range(3):
                s += R[i, k] * R_inner[k, j]
            R_out[i, j] = s


@njit(**OPTIONS)
def copy_pose(R, p, R_out, p_out):
    for i in range(3):
        p_out[i] = p[i]
        for j in range(3):
            R_out[i, j] = R[i, j]


@njit(**OPTIONS)
def world_poses(table, w, R_world, p_world):
    """R_world (nodes, 3, 3) and p_world (nodes, 3) from w.R, w.p."""
    for i in range(table.shape[0]):
        parent = table[i, PARENT]
        if parent < 0:
            copy_pose(w.R[i], w.p[i], R_world[i], p_world[i])
        else:
            compose(R_world[parent], p_world[parent], w.R[i], w.p[i], R_world[i], p_world[i])


@njit(**ENTRY)
def node_poses(table, body, coef, size, work, q, v, R_world, p_world):
    w = carve(work, size)
    kinematics(table, body, coef, q, v, w, True)
    world_poses(table, w, R_world, p_world)


@njit(**ENTRY)
def frame_motion(table, body, coef, size, work, q, v, node, section, offset, phi, phi_rate,
                 R_world, p_world, pose, J, J_rate):
    """Pose (4, 4), J (6, n), J_rate (6, n) of a frame; linear rows first, world axes.

    node: the node that carries it. section: None (empty) if the frame is fixed in the node, else
    the coefficients of a section of that beam node. offset (4, 4): frame in node or section.
    phi, phi_rate: scratch (most modes, ROW).
    """
    w = carve(work, size)
    kinematics(table, body, coef, q, v, w, True)
    world_poses(table, w, R_world, p_world)
    nodes = table.shape[0]
    J[:, :] = 0.0
    J_rate[:, :] = 0.0
    # Slot `nodes` holds the carrying frame: the section if there is one, else the node itself.
    R, p, V = R_world[nodes], p_world[nodes], w.six[7]
    on_section = section.shape[0] > 0
    if on_section:
        start, modes = table[node, ELASTIC], table[node, MODES]
        R_own, p_own, own = R_world[nodes + 1], p_world[nodes + 1], shifted(w.scratch.section, OWN)
        section_motion(modes, section, 0, shifted(address_of(q), start),
                       shifted(address_of(v), start), w.scratch, R_own, p_own, address_of(phi),
                       address_of(phi_rate), True)
        compose(R_world[node], p_world[node], R_own, p_own, R, p)
        _twist_into(R_own, p_own, w.V[node], own, V)
    else:
        if node >= 0:
            copy_pose(R_world[node], p_world[node], R, p)
            for k in range(6):
                V[k] = w.V[node, k]
        else:
            R[:, :] = 0.0
            R[0, 0], R[1, 1], R[2, 2] = 1.0, 1.0, 1.0
            p[:] = 0.0
            V[:] = 0.0
    pose[:, :] = 0.0
    pose[3, 3] = 1.0
    compose(R, p, offset[:3, :3], offset[:3, 3], pose[:3, :3], pose[:3, 3])
    # World velocity of the frame's origin.
    d0, d1, d2 = offset[0, 3], offset[1, 3], offset[2, 3]
    l0 = V[3] + V[1] * d2 - V[2] * d1
    l1 = V[4] + V[2] * d0 - V[0] * d2
    l2 = V[5] + V[0] * d1 - V[1] * d0
    speed = w.six[3]
    for i in range(3):
        speed[i] = R[i, 0] * l0 + R[i, 1] * l1 + R[i, 2] * l2
    if on_section:
        for m in range(modes):
            _column(R, p, V, phi[m], phi_rate[m], pose[:3, 3], speed, start + m, w.six, J, J_rate)
    _climb(table, body, w, R_world, p_world, node, pose[:3, 3], speed, J, J_rate)


@njit(**OPTIONS)
def frame_columns(table, body, w, R_world, p_world, node, point, J, J_rate):
    """Add to J and J_rate (6, n) the columns of a frame fixed in a node, whose origin is at
    `point` (3,) in the world; kinematics and world_poses are those of the state."""
    R, p, V = R_world[node], p_world[node], w.V[node]
    # In the node's axes: the arm, then the speed of the point.
    e0, e1, e2 = point[0] - p[0], point[1] - p[1], point[2] - p[2]
    d0 = R[0, 0] * e0 + R[1, 0] * e1 + R[2, 0] * e2
    d1 = R[0, 1] * e0 + R[1, 1] * e1 + R[2, 1] * e2
    d2 = R[0, 2] * e0 + R[1, 2] * e1 + R[2, 2] * e2
    l0 = V[3] + V[1] * d2 - V[2] * d1
    l1 = V[4] + V[2] * d0 - V[0] * d2
    l2 = V[5] + V[0] * d1 - V[1] * d0
    speed = w.six[3]
    for i in range(3):
        speed[i] = R[i, 0] * l0 + R[i, 1] * l1 + R[i, 2] * l2
    _climb(table, body, w, R_world, p_world, node, point, speed, J, J_rate)


@njit(**OPTIONS)
def _climb(table, body, w, R_world, p_world, node, point, speed, J, J_rate):
    """Columns of all coordinates from a node to the base, for a point (3,) with its speed."""
    zero = w.six[4]
    zero[:] = 0.0
    while node >= 0:
        kind, parent, at = table[node, KIND], table[node, PARENT], table[node, Q]
        R, p, V = R_world[node], p_world[node], w.V[node]
        if kind == ON_BEAM:
            start, row = table[parent, ELASTIC], table[node, PHI_ROW]
            for m in range(table[parent, MODES]):
                _column(R, p, V, w.phi[row + m], w.phi_rate[row + m], point, speed, start + m,
                        w.six, J, J_rate)
        elif kind >= PLANAR:
            for m in range(3 if kind == PLANAR else 6):
                _column(R, p, V, w.S[m], w.S_rate[m], point, speed, at + m, w.six, J, J_rate)
        elif kind != FIXED:
            _column(R, p, V, body[node, SCREW:SCREW + 6], zero, point, speed, at, w.six, J,
                    J_rate)
        node = parent


@njit(**OPTIONS)
def _twist_into(R, p, parent, own, V):
    w0, w1, w2 = parent[0], parent[1], parent[2]
    v0 = parent[3] + w1 * p[2] - w2 * p[1]
    v1 = parent[4] + w2 * p[0] - w0 * p[2]
    v2 = parent[5] + w0 * p[1] - w1 * p[0]
    for i in range(3):
        V[i] = R[0, i] * w0 + R[1, i] * w1 + R[2, i] * w2 + own[i]
        V[3 + i] = R[0, i] * v0 + R[1, i] * v1 + R[2, i] * v2 + own[3 + i]


@njit(**OPTIONS)
def _column(R, p, V, s, s_rate, point, speed, column, six, J, J_rate):
    """Add to the column of a coordinate that moves a frame (world pose R, p; own twist V) with
    screw s; a leader's and its followers' joints have one column. six: rows 1 and 2 are scratch.
    """
    own, rate = six[1], six[2]
    # In the frame's axes: rate of s seen from the world is s_rate + [w, 0] x s.
    a0 = s_rate[0] + V[1] * s[2] - V[2] * s[1]
    a1 = s_rate[1] + V[2] * s[0] - V[0] * s[2]
    a2 = s_rate[2] + V[0] * s[1] - V[1] * s[0]
    b0 = s_rate[3] + V[1] * s[5] - V[2] * s[4]
    b1 = s_rate[4] + V[2] * s[3] - V[0] * s[5]
    b2 = s_rate[5] + V[0] * s[4] - V[1] * s[3]
    for i in range(3):
        own[3 + i] = R[i, 0] * s[0] + R[i, 1] * s[1] + R[i, 2] * s[2]
        rate[3 + i] = R[i, 0] * a0 + R[i, 1] * a1 + R[i, 2] * a2
        own[i] = R[i, 0] * s[3] + R[i, 1] * s[4] + R[i, 2] * s[5]
        rate[i] = R[i, 0] * b0 + R[i, 1] * b1 + R[i, 2] * b2
    # To the point: arm d and its rate.
    d0, d1, d2 = point[0] - p[0], point[1] - p[1], point[2] - p[2]
    e0 = speed[0] - (R[0, 0] * V[3] + R[0, 1] * V[4] + R[0, 2] * V[5])
    e1 = speed[1] - (R[1, 0] * V[3] + R[1, 1] * V[4] + R[1, 2] * V[5])
    e2 = speed[2] - (R[2, 0] * V[3] + R[2, 1] * V[4] + R[2, 2] * V[5])
    w0, w1, w2 = own[3], own[4], own[5]
    r0, r1, r2 = rate[3], rate[4], rate[5]
    own[0] += w1 * d2 - w2 * d1
    own[1] += w2 * d0 - w0 * d2
    own[2] += w0 * d1 - w1 * d0
    rate[0] += r1 * d2 - r2 * d1 + w1 * e2 - w2 * e1
    rate[1] += r2 * d0 - r0 * d2 + w2 * e0 - w0 * e2
    rate[2] += r0 * d1 - r1 * d0 + w0 * e1 - w1 * e0
    for i in range(6):
        J[i, column] += own[i]
        J_rate[i, column] += rate[i]
