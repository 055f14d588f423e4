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
"""Generalised forces of motors, springs and dampers: B tau - K q - D v - friction."""
from __future__ import annotations

import math

from numba import njit

from flex_dynamics.kernels.base.layout import (
    COULOMB,
    DAMPER,
    DAMPING,
    DOF,
    ELASTIC,
    ENTRY,
    FRICTION_SPEED,
    FULL,
    GEAR,
    MODES,
    MOTOR,
    OPTIONS,
    PINNED,
    RATIO,
    SPRING,
    STIFFNESS,
    VISCOUS,
    Q,
)


@njit(**OPTIONS)
def root_value(row, coef, x):
    """Joint position or speed as its motor sees it: on a pinned basis that of the root section."""
    value = x[row[Q]]
    if row[PINNED] >= 0:
        for m in range(row[MODES]):
            value += coef[row[PINNED] + m] * x[row[ELASTIC] + m]
    return value


@njit(**OPTIONS)
def joint_friction(body, speed):
    """Viscous and smoothed Coulomb friction of one joint at a speed of its coordinate."""
    friction = body[VISCOUS] * speed
    if body[COULOMB] > 0.0:
        friction += body[COULOMB] * math.tanh(abs(body[RATIO]) * speed / FRICTION_SPEED)
    return friction


@njit(**OPTIONS)
def friction_slope(body, speed):
    """Derivative of smoothed Coulomb friction by the speed of the coordinate."""
    rate = abs(body[RATIO])
    t = math.tanh(rate * speed / FRICTION_SPEED)
    return body[COULOMB] * (1.0 - t * t) * rate / FRICTION_SPEED


@njit(**ENTRY)
def applied_forces(table, body, coef, q, v, tau, force):
    """force (n,) is overwritten; tau (joint coordinates,)."""
    for i in range(force.shape[0]):
        force[i] = 0.0
    for i in range(table.shape[0]):
        at, motor, modes, start = table[i, Q], table[i, MOTOR], table[i, MODES], table[i, ELASTIC]
        for m in range(modes):
            k, d = table[i, STIFFNESS] + m * modes, table[i, DAMPING] + m * modes
            s = 0.0
            for j in range(modes):
                s += coef[k + j] * q[start + j] + coef[d + j] * v[start + j]
            force[start + m] -= s
        if table[i, DOF] > 1:
            for m in range(table[i, DOF]):
                force[at + m] += tau[at + m]
        if table[i, DOF] != 1:
            continue
        # A follower has no motor: what acts on it acts on the leader's coordinate.
        drive = tau[at] if table[i, FULL] == at else 0.0
        friction = joint_friction(body[i], root_value(table[i], coef, v))
        if motor >= 0:
            gear = body[i, GEAR]
            spring = (body[i, SPRING] * (q[motor] / gear - q[at])
                      + body[i, DAMPER] * (v[motor] / gear - v[at]))
            force[at] += spring - friction
            force[motor] += (drive - spring) / gear
        else:
            force[at] += drive - friction
            if table[i, PINNED] >= 0:
                for m in range(modes):
                    force[start + m] += coef[table[i, PINNED] + m] * (drive - friction)
