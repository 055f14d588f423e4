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
"""Kinematics to first order in the elastic coordinates and speeds: Cibicik and Egeland, III, IV.

Every quantity is a pair, index 0 its value without elasticity and 1 its first-order part, the real
and dual part of the paper; a product keeps 00, 01 and 10 and drops 11 at once. Jacobians are
stored column by column, J[node, part, column, 6], only for the coordinates that move the node,
those of the parent first. Elastic columns have the projecting form (93), whose value is not small.
"""
from __future__ import annotations

from collections import namedtuple

from numba import njit

from flex_dynamics.kernels.base.layout import (
    DOF,
    ELASTIC,
    KIND,
    MODES,
    OPTIONS,
    PARENT,
    PLANAR,
    SCREW,
    Q,
)
from flex_dynamics.kernels.base.spatial import add_twist_cross, twist_to_child
from flex_dynamics.kernels.tree.kinematics import base_screws, joint_pose

LinearScratch = namedtuple('LinearScratch', (
    'R', 'p',           # (3, 3), (3,) pose in the parent
    'S', 'S_rate',      # (6, 6) screws of a joint, one row a coordinate
    'V',                # (nodes, 2, 6) twists
    'G',                # (nodes, 2, 6) accelerations that stand for gravity
    'J', 'J_rate',      # (nodes, 2, columns, 6) Jacobians
    'T', 'T_rate',      # (2, columns + 1, size) a body's speeds per coordinate; last row: gravity
    'D', 'B',           # (2, size, size) a body's inertia, and the matrix of its speed forces
    'y', 'z',           # (2, size)
    'turn', 'turn_rate',  # (6,) rotation and displacement of a section
))


@njit(**OPTIONS)
def carry_by_joint(i, table, body, counts, gravity, q, v, s):
    """Twist, gravity and Jacobian of a node behind a joint, which is rigid: V = X V_parent + S qd.
    """
    kind, parent, first, dof = table[i, KIND], table[i, PARENT], table[i, Q], table[i, DOF]
    R, p, V, G, J, Jd = s.R, s.p, s.V[i], s.G[i], s.J[i], s.J_rate[i]
    own = s.turn
    joint_pose(kind, body[i], q, first, R, p)
    if kind >= PLANAR:
        base_screws(kind, body[i], q, v, first, R, s)
    elif dof == 1:
        for k in range(6):
            s.S[0, k], s.S_rate[0, k] = body[i, SCREW + k], 0.0
    own[:] = 0.0
    for m in range(dof):
        for k in range(6):
            own[k] += s.S[m, k] * v[first + m]
    inherited = 0
    if parent < 0:
        V[:, :] = 0.0
        s.y[0, :3] = 0.0
        for k in range(3):
            s.y[0, 3 + k] = -gravity[k]
        twist_to_child(R, p, s.y[0], G[0])
        G[1] = 0.0
    else:
        inherited = counts[parent]
        for part in range(2):
            twist_to_child(R, p, s.V[parent, part], V[part])
            twist_to_child(R, p, s.G[parent, part], G[part])
            for a in range(inherited):
                twist_to_child(R, p, s.J[parent, part, a], J[part, a])
                twist_to_child(R, p, s.J_rate[parent, part, a], Jd[part, a])
                add_twist_cross(own, J[part, a], -1.0, Jd[part, a])
    for k in range(6):
        V[0, k] += own[k]
    for m in range(dof):
        for k in range(6):
            J[0, inherited + m, k], Jd[0, inherited + m, k] = s.S[m, k], s.S_rate[m, k]
            J[1, inherited + m, k], Jd[1, inherited + m, k] = 0.0, 0.0


@njit(**OPTIONS)
def add_turned(turn, u, with_arm, out):
    """out += first-order part of a section's transformation of u, a twist at the undeformed place.

    Axes turn by I + theta x (24), the point moves by d (61): [-theta x w; -theta x v + w x d].
    """
    t0, t1, t2 = turn[0], turn[1], turn[2]
    w0, w1, w2, v0, v1, v2 = u[0], u[1], u[2], u[3], u[4], u[5]
    out[0] -= t1 * w2 - t2 * w1
    out[1] -= t2 * w0 - t0 * w2
    out[2] -= t0 * w1 - t1 * w0
    out[3] -= t1 * v2 - t2 * v1
    out[4] -= t2 * v0 - t0 * v2
    out[5] -= t0 * v1 - t1 * v0
    if with_arm:
        d0, d1, d2 = turn[3], turn[4], turn[5]
        out[3] += w1 * d2 - w2 * d1
        out[4] += w2 * d0 - w0 * d2
        out[5] += w0 * d1 - w1 * d0


@njit(**OPTIONS)
def carry_by_section(i, table, counts, shapes, at, q, v, s):
    """A section's motion, with omega = theta' in the beam's axes (27): V = X V_parent + Phi etad.

    shapes at `at`: x, then per amplitude [theta; r] (6).
    """
    parent = table[i, PARENT]
    modes, start, inherited = table[parent, MODES], table[parent, ELASTIC], counts[parent]
    V, G, J, Jd, turn, turn_rate = s.V[i], s.G[i], s.J[i], s.J_rate[i], s.turn, s.turn_rate
    turn[:] = 0.0
    turn_rate[:] = 0.0
    for m in range(modes):
        for k in range(6):
            phi = shapes[at + 1 + 6 * m + k]
            turn[k] += phi * q[start + m]
            turn_rate[k] += phi * v[start + m]
            J[0, inherited + m, k] = phi
            Jd[0, inherited + m, k] = 0.0
            J[1, inherited + m, k] = 0.0
            Jd[1, inherited + m, k] = 0.0
    R, p = s.R, s.p
    R[:, :] = 0.0
    R[0, 0], R[1, 1], R[2, 2] = 1.0, 1.0, 1.0
    p[0], p[1], p[2] = shapes[at], 0.0, 0.0
    for part in range(2):
        twist_to_child(R, p, s.V[parent, part], V[part])
        twist_to_child(R, p, s.G[parent, part], G[part])
        for a in range(inherited):
            twist_to_child(R, p, s.J[parent, part, a], J[part, a])
            twist_to_child(R, p, s.J_rate[parent, part, a], Jd[part, a])
    for k in range(6):
        V[1, k] += turn_rate[k]
    add_turned(turn, V[0], True, V[1])
    add_turned(turn, G[0], True, G[1])
    for a in range(inherited):
        add_turned(turn, J[0, a], True, J[1, a])
        add_turned(turn, Jd[0, a], True, Jd[1, a])
        add_turned(turn_rate, J[0, a], True, Jd[1, a])
    for a in range(inherited, inherited + modes):
        add_turned(turn, J[0, a], False, J[1, a])
        add_turned(turn_rate, J[0, a], False, Jd[1, a])
