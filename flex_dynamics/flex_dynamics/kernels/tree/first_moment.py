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
"""Mass and first moment of the whole robot in the world: centre of mass and gravity energy."""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import (
    ENTRY,
    MASS,
    MODES,
    MOMENT,
    N_AXIS,
    N_SECTIONS,
)
from flex_dynamics.kernels.base.workspace import carve
from flex_dynamics.kernels.beam.beam_body import beam_fields
from flex_dynamics.kernels.beam.fields import U, axis_columns
from flex_dynamics.kernels.tree.frames import world_poses
from flex_dynamics.kernels.tree.kinematics import kinematics


@njit(**ENTRY)
def first_moment(table, body, coef, size, work, q, R_world, p_world, moment):
    """Total mass, kg; moment (3,) = sum of mass times position, world axes."""
    w = carve(work, size)
    kinematics(table, body, coef, q, q, w, False)
    world_poses(table, w, R_world, p_world)
    total = 0.0
    moment[:] = 0.0
    for i in range(table.shape[0]):
        mass = body[i, MASS]
        c0, c1, c2 = body[i, MOMENT], body[i, MOMENT + 1], body[i, MOMENT + 2]
        modes = table[i, MODES]
        if modes > 0:
            count = table[i, N_AXIS]
            roots = beam_fields(table[i], coef, q, q, w.fields, False)
            x, y, z = axis_columns(U(count), U(table[i, N_SECTIONS]))
            for k in range(U(count)):
                root = coef[U(roots) + k]
                mass += root * root
                c0 += root * w.fields.point[x + k]
                c1 += root * w.fields.point[y + k]
                c2 += root * w.fields.point[z + k]
        R = R_world[i]
        for j in range(3):
            moment[j] += mass * p_world[i, j] + R[j, 0] * c0 + R[j, 1] * c1 + R[j, 2] * c2
        total += mass
    return total
