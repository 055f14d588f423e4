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
"""Kinetic and gravity energy by speeds alone, never forming M: what a step must balance."""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import (
    ARMATURE,
    DOF,
    INERTIA,
    MASS,
    MODES,
    MOMENT,
    MOTOR,
    N_AXIS,
    N_SECTIONS,
    OPTIONS,
    PARENT,
    ROTOR,
    ROTOR_AXIS,
    Q,
)
from flex_dynamics.kernels.base.vector import address_of, load, shifted, spread, total
from flex_dynamics.kernels.beam.beam_body import beam_fields, dot
from flex_dynamics.kernels.beam.fields import FOUR, ZERO, U, axis_columns, section_columns
from flex_dynamics.kernels.beam.section_rotation import turn_sections
from flex_dynamics.kernels.tree.frames import world_poses
from flex_dynamics.kernels.tree.kinematics import kinematics


@njit(**OPTIONS)
def rigid_energy(body, V):
    """Kinetic energy of a rigid body at the twist V (6,) of its origin, J."""
    w0, w1, w2, v0, v1, v2 = V[0], V[1], V[2], V[3], V[4], V[5]
    c0, c1, c2 = body[MOMENT], body[MOMENT + 1], body[MOMENT + 2]
    spin = 0.0
    for i in range(3):
        for j in range(3):
            spin += V[i] * body[INERTIA + 3 * i + j] * V[j]
    return 0.5 * (body[MASS] * (v0 * v0 + v1 * v1 + v2 * v2) + spin) + (
        v0 * (w1 * c2 - w2 * c1) + v1 * (w2 * c0 - w0 * c2) + v2 * (w0 * c1 - w1 * c0))


@njit(**OPTIONS)
def beam_energy(row, coef, roots_at, V, fields):
    """Kinetic energy of a beam, J, from its fields; mass and first moment."""
    n_axis, n_sections = U(row[N_AXIS]), U(row[N_SECTIONS])
    P, Pd, roots = fields.point, fields.point_rate, shifted(address_of(coef), roots_at)
    d = shifted(roots, n_axis)
    turn_sections(d, n_axis, n_sections, ZERO, V, fields, False, False)
    w0, w1, w2 = V[0], V[1], V[2]
    twice = spread(0.0)
    x, y, z = axis_columns(n_axis, n_sections)
    for k in range(ZERO, n_axis, FOUR):
        px, py, pz, root = load(P, x + k), load(P, y + k), load(P, z + k), load(roots, k)
        u0 = load(Pd, x + k) + pz * w1 - py * w2 + root * V[3]
        u1 = load(Pd, y + k) + px * w2 - pz * w0 + root * V[4]
        u2 = load(Pd, z + k) + py * w0 - px * w1 + root * V[5]
        twice = twice + u0 * u0 + u1 * u1 + u2 * u2
    sx, sy, sz = section_columns(n_axis, n_sections)
    for k in range(ZERO, n_sections, FOUR):
        u0 = load(d, k) * load(P, sx + k)
        u1 = load(d, n_sections + k) * load(P, sy + k)
        u2 = load(d, U(2) * n_sections + k) * load(P, sz + k)
        twice = twice + u0 * u0 + u1 * u1 + u2 * u2
    return (0.5 * total(twice), total(dot(roots, roots, n_axis)),
            total(dot(roots, shifted(P, x), n_axis)), total(dot(roots, shifted(P, y), n_axis)),
            total(dot(roots, shifted(P, z), n_axis)))


@njit(**OPTIONS)
def mechanical_energy(table, body, coef, gravity, q, v, R_world, p_world, w):
    """Kinetic energy and energy in gravity (zero at the world's origin), J, at q, v (n,)."""
    kinematics(table, body, coef, q, v, w, False)
    world_poses(table, w, R_world, p_world)
    kinetic, height = 0.0, 0.0
    for i in range(table.shape[0]):
        mass, modes = body[i, MASS], table[i, MODES]
        c0, c1, c2 = body[i, MOMENT], body[i, MOMENT + 1], body[i, MOMENT + 2]
        V = w.V[i]
        if modes == 0:
            kinetic += rigid_energy(body[i], V)
        else:
            roots = beam_fields(table[i], coef, q, v, w.fields, False)
            energy, mass, c0, c1, c2 = beam_energy(table[i], coef, roots, V, w.fields)
            kinetic += energy
        if table[i, MOTOR] >= 0:
            # The rotor turns in the parent: T = 1/2 Im (a.w + m')2 (Mladenova section 8).
            spin = v[table[i, MOTOR]]
            if table[i, PARENT] >= 0:
                for k in range(3):
                    spin += body[i, ROTOR_AXIS + k] * w.V[table[i, PARENT], k]
            kinetic += 0.5 * body[i, ROTOR] * spin * spin
        if table[i, DOF] == 1:
            kinetic += 0.5 * body[i, ARMATURE] * v[table[i, Q]] * v[table[i, Q]]
        R = R_world[i]
        for j in range(3):
            height += gravity[j] * (mass * p_world[i, j] + R[j, 0] * c0 + R[j, 1] * c1
                                    + R[j, 2] * c2)
    return kinetic, -height
