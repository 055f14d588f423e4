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
"""Derivatives of Jacobians by positions.

In world axes, with columns J = [l; o] at the frame's origin, a coordinate j turns the column of a
coordinate m that is farther out, or of the same joint or beam, by o_j x l_m, o_j x o_m; for a
coordinate m nearer to the base it moves the point, o_m x l_j. Columns of amplitudes and of moving
bases also change in their own frame: s_m,j (geometric_stiffness.py).
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import (
    AXIS,
    DOF,
    ELASTIC,
    ENTRY,
    KIND,
    MODES,
    ON_BEAM,
    OPTIONS,
    PARENT,
    PHI_ROW,
    PLANAR,
    ROW,
    SCREW,
    SECTION,
    Q,
)
from flex_dynamics.kernels.base.vector import address_of, shifted
from flex_dynamics.kernels.base.workspace import carve
from flex_dynamics.kernels.beam.section import FIELD, section_fields, section_motion
from flex_dynamics.kernels.derivatives.rotation_derivatives import (
    cross,
    second_coefficients,
    set_jacobian_rates,
    times3,
)
from flex_dynamics.kernels.tree.frames import compose, copy_pose, world_poses
from flex_dynamics.kernels.tree.kinematics import kinematics


@njit(**OPTIONS)
def _bent(b, c, db, dc, x, y, z, u0, u1, u2, w0, w1, w2):
    """dJr[u] w at theta = (x, y, z)."""
    p0, p1, p2 = cross(x, y, z, w0, w1, w2)
    r0, r1, r2 = cross(u0, u1, u2, w0, w1, w2)
    d0, d1, d2 = cross(x, y, z, p0, p1, p2)
    e0, e1, e2 = cross(u0, u1, u2, p0, p1, p2)
    f0, f1, f2 = cross(x, y, z, r0, r1, r2)
    along = 2.0 * (x * u0 + y * u1 + z * u2)
    return (along * (dc * d0 - db * p0) - b * r0 + c * (e0 + f0),
            along * (dc * d1 - db * p1) - b * r1 + c * (e1 + f1),
            along * (dc * d2 - db * p2) - b * r2 + c * (e2 + f2))


@njit(**OPTIONS)
def _carried(R, p, point, s):
    """Linear and angular parts, in world axes at a point, of a twist s in a frame R, p."""
    o0 = R[0, 0] * s[0] + R[0, 1] * s[1] + R[0, 2] * s[2]
    o1 = R[1, 0] * s[0] + R[1, 1] * s[1] + R[1, 2] * s[2]
    o2 = R[2, 0] * s[0] + R[2, 1] * s[1] + R[2, 2] * s[2]
    k0, k1, k2 = cross(o0, o1, o2, point[0] - p[0], point[1] - p[1], point[2] - p[2])
    return (R[0, 0] * s[3] + R[0, 1] * s[4] + R[0, 2] * s[5] + k0,
            R[1, 0] * s[3] + R[1, 1] * s[4] + R[1, 2] * s[5] + k1,
            R[2, 0] * s[3] + R[2, 1] * s[4] + R[2, 2] * s[5] + k2, o0, o1, o2)


@njit(**OPTIONS)
def _add_second(R, p, point, s, m, j, dJ):
    d = _carried(R, p, point, s)
    for k in range(6):
        dJ[k, m, j] += d[k]


@njit(**OPTIONS)
def _section_second(modes, coef, eta, start, R, p, point, phi, section_rows, R_own, dJ):
    """Second derivatives of a section's own motion. R, p: its world pose; phi (modes, ROW): its
    Jacobian; R_own: its rotation against the beam."""
    section, B, B_rate, J, s = section_rows
    section_fields(modes, coef, eta, eta, section, B, B_rate)
    x, y, z = section[FIELD], section[FIELD + 1], section[FIELD + 2]
    b, c, db, dc, _, _ = second_coefficients(x * x + y * y + z * z)
    set_jacobian_rates(x, y, z, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, J)
    product = (1 + modes) * ROW
    for j in range(modes):
        at, o = ROW * j, shifted(phi, ROW * j)
        for m in range(modes):
            to, own = ROW * m, shifted(phi, ROW * m)
            t0, t1, t2 = times3(J, 0, coef[product], coef[product + 1], coef[product + 2])
            e0, e1, e2 = _bent(b, c, db, dc, x, y, z, B[at], B[at + 1], B[at + 2], B[to],
                               B[to + 1], B[to + 2])
            s[0], s[1], s[2] = t0 + e0, t1 + e1, t2 + e2
            k0, k1, k2 = cross(o[0], o[1], o[2], own[3], own[4], own[5])
            r0, r1, r2 = coef[product + 3], coef[product + 4], coef[product + 5]
            s[3] = R_own[0, 0] * r0 + R_own[1, 0] * r1 + R_own[2, 0] * r2 - k0
            s[4] = R_own[0, 1] * r0 + R_own[1, 1] * r1 + R_own[2, 1] * r2 - k1
            s[5] = R_own[0, 2] * r0 + R_own[1, 2] * r1 + R_own[2, 2] * r2 - k2
            _add_second(R, p, point, s, start + m, start + j, dJ)
            product += ROW


@njit(**OPTIONS)
def _base_second(i, table, body, q, R, p, point, w, s, dJ):
    """Second derivatives of the motion of a planar or floating base; s (6,): scratch."""
    at, S = table[i, Q], w.S
    s[0], s[1], s[2] = 0.0, 0.0, 0.0
    if table[i, KIND] == PLANAR:
        for m in range(2):
            k0, k1, k2 = cross(body[i, AXIS], body[i, AXIS + 1], body[i, AXIS + 2], S[m, 3],
                               S[m, 4], S[m, 5])
            s[3], s[4], s[5] = -k0, -k1, -k2
            _add_second(R, p, point, s, at + m, at + 2, dJ)
        return
    x, y, z = q[at + 3], q[at + 4], q[at + 5]
    b, c, db, dc, _, _ = second_coefficients(x * x + y * y + z * z)
    for j in range(3):
        o = S[3 + j]
        for m in range(3):
            k0, k1, k2 = cross(o[0], o[1], o[2], S[m, 3], S[m, 4], S[m, 5])
            s[0], s[1], s[2], s[3], s[4], s[5] = 0.0, 0.0, 0.0, -k0, -k1, -k2
            _add_second(R, p, point, s, at + m, at + 3 + j, dJ)
            s[0], s[1], s[2] = _bent(b, c, db, dc, x, y, z, 1.0 * (j == 0), 1.0 * (j == 1),
                                     1.0 * (j == 2), 1.0 * (m == 0), 1.0 * (m == 1),
                                     1.0 * (m == 2))
            s[3], s[4], s[5] = 0.0, 0.0, 0.0
            _add_second(R, p, point, s, at + 3 + m, at + 3 + j, dJ)


@njit(**OPTIONS)
def _keep_column(count, coordinate, element, R, p, point, s, columns, places):
    columns[count, 0], columns[count, 1], columns[count, 2], columns[count, 3], columns[
        count, 4], columns[count, 5] = _carried(R, p, point, s)
    places[count, 0], places[count, 1] = coordinate, element
    return count + 1


@njit(**ENTRY)
def jacobian_derivative(table, body, coef, size, work, q, node, section, offset, phi, phi_rate,
                        R_world, p_world, columns, places, dJ):
    """dJ (6, n, n): dJ[:, m, j] = d(column m of the Jacobian of a frame)/dq_j, linear rows first,
    world axes. The frame: node, section and offset as frame_motion takes them.

    columns (n + followers, 6), places (n + followers, 2) int64: scratch.
    """
    w = carve(work, size)
    kinematics(table, body, coef, q, q, w, False)
    world_poses(table, w, R_world, p_world)
    nodes, count, element = table.shape[0], 0, 0
    R, p, point = R_world[nodes], p_world[nodes], w.six[3]
    scratch = (w.scratch.section, w.scratch.section_B, w.scratch.section_B_rate, w.scratch.T,
               w.scratch.X)
    dJ[:, :, :] = 0.0
    if section.shape[0] > 0:
        R_own, p_own = R_world[nodes + 1], p_world[nodes + 1]
        start, modes = table[node, ELASTIC], table[node, MODES]
        eta = shifted(address_of(q), start)
        section_motion(modes, section, 0, eta, eta, w.scratch, R_own, p_own, address_of(phi),
                       address_of(phi_rate), False)
        compose(R_world[node], p_world[node], R_own, p_own, R, p)
    elif node >= 0:
        copy_pose(R_world[node], p_world[node], R, p)
    for i in range(3):
        point[i] = p[i] + R[i, 0] * offset[0, 3] + R[i, 1] * offset[1, 3] + R[i, 2] * offset[2, 3]
    if section.shape[0] > 0:
        _section_second(modes, address_of(section), eta, start, R, p, point, address_of(phi),
                        scratch, R_own, dJ)
        for m in range(modes):
            count = _keep_column(count, start + m, element, R, p, point, phi[m], columns, places)
    while node >= 0:
        parent, element = table[node, PARENT], element + 1
        R, p = R_world[node], p_world[node]
        if table[node, KIND] == ON_BEAM:
            start, modes, row = table[parent, ELASTIC], table[parent, MODES], table[node, PHI_ROW]
            _section_second(modes, shifted(address_of(coef), table[node, SECTION]),
                            shifted(address_of(q), start), start, R, p, point,
                            address_of(w.phi[row]), scratch, w.R[node], dJ)
            for m in range(modes):
                count = _keep_column(count, start + m, element, R, p, point, w.phi[row + m],
                                     columns, places)
        elif table[node, DOF] == 1:
            count = _keep_column(count, table[node, Q], element, R, p, point,
                                 body[node, SCREW:SCREW + 6], columns, places)
        elif table[node, DOF] > 1:
            _base_second(node, table, body, q, R, p, point, w, w.six[2], dJ)
            for m in range(table[node, DOF]):
                count = _keep_column(count, table[node, Q] + m, element, R, p, point, w.S[m],
                                     columns, places)
        node = parent
    _turn_columns(count, columns, places, dJ)


@njit(**OPTIONS)
def _turn_columns(count, columns, places, dJ):
    """What coordinates do to the columns of others; elements are numbered towards the base."""
    for a in range(count):
        m, own = places[a, 0], columns[a]
        for b in range(count):
            j, other = places[b, 0], columns[b]
            if places[b, 1] < places[a, 1]:
                k0, k1, k2 = cross(own[3], own[4], own[5], other[0], other[1], other[2])
            else:
                k0, k1, k2 = cross(other[3], other[4], other[5], own[0], own[1], own[2])
                t0, t1, t2 = cross(other[3], other[4], other[5], own[3], own[4], own[5])
                dJ[3, m, j] += t0
                dJ[4, m, j] += t1
                dJ[5, m, j] += t2
            dJ[0, m, j] += k0
            dJ[1, m, j] += k1
            dJ[2, m, j] += k2
