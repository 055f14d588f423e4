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
"""Derivatives of K q + D v + friction(v): those of springs, dampers and joints, less efforts.

The mirror of tree/applied_forces.py.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import (
    COULOMB,
    DAMPER,
    DAMPING,
    DOF,
    ELASTIC,
    GEAR,
    MODES,
    MOTOR,
    OPTIONS,
    PINNED,
    SPRING,
    STIFFNESS,
    VISCOUS,
    Q,
)
from flex_dynamics.kernels.tree.applied_forces import friction_slope, root_value


@njit(**OPTIONS)
def _add_spring(at, motor, value, gear, matrix):
    """A spring between a joint and its motor, behind a gear."""
    matrix[at, at] += value
    matrix[at, motor] -= value / gear
    matrix[motor, at] -= value / gear
    matrix[motor, motor] += value / (gear * gear)


@njit(**OPTIONS)
def add_passive_derivatives(table, body, coef, v, by_q, by_v):
    """by_q += K, by_v += D and the slope of Coulomb friction at speeds v; (n, n) each."""
    for i in range(table.shape[0]):
        at, motor, modes, start = table[i, Q], table[i, MOTOR], table[i, MODES], table[i, ELASTIC]
        for m in range(modes):
            k, d = table[i, STIFFNESS] + m * modes, table[i, DAMPING] + m * modes
            for j in range(modes):
                by_q[start + m, start + j] += coef[k + j]
                by_v[start + m, start + j] += coef[d + j]
        if table[i, DOF] != 1:
            continue
        slope = body[i, VISCOUS]
        if body[i, COULOMB] > 0.0:
            slope += friction_slope(body[i], root_value(table[i], coef, v))
        by_v[at, at] += slope
        if motor >= 0:
            _add_spring(at, motor, body[i, SPRING], body[i, GEAR], by_q)
            _add_spring(at, motor, body[i, DAMPER], body[i, GEAR], by_v)
        elif table[i, PINNED] >= 0:
            turn = table[i, PINNED]
            for m in range(modes):
                by_v[at, start + m] += slope * coef[turn + m]
                by_v[start + m, at] += slope * coef[turn + m]
                for j in range(modes):
                    by_v[start + m, start + j] += slope * coef[turn + m] * coef[turn + j]
