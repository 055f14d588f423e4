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
"""Forces inside a step of the integrator: servo loops, friction, wrenches."""
from __future__ import annotations

import math

from numba import njit

from flex_dynamics.kernels.base.layout import (
    COULOMB,
    DOF,
    FRICTION_SPEED,
    FULL,
    GEAR,
    MOTOR,
    OPTIONS,
    PINNED,
    VISCOUS,
    Q,
)
from flex_dynamics.kernels.tree.applied_forces import root_value

# Rows of `servo` (4, joint coordinates)
STIFFNESS_GAIN = 0    # N m/rad or N/m
DAMPING_GAIN = 1
TARGET = 2
TARGET_RATE = 3


@njit(**OPTIONS)
def implicit_diagonal(table, body, servo, h, diagonal):
    """What viscous friction and servo gains add to the pivots, h/2 d + h2/4 k.

    On a pinned basis they act on amplitudes too, outside the pivots: pinned_roots.py.
    """
    for i in range(diagonal.shape[0]):
        diagonal[i] = 0.0
    for i in range(table.shape[0]):
        if table[i, DOF] != 1 or table[i, PINNED] >= 0:
            continue
        at, motor = table[i, Q], table[i, MOTOR]
        gain = 0.5 * h * servo[DAMPING_GAIN, at] + 0.25 * h * h * servo[STIFFNESS_GAIN, at]
        diagonal[at] += 0.5 * h * body[i, VISCOUS]
        if motor >= 0:
            diagonal[motor] += gain / (body[i, GEAR] * body[i, GEAR])
        else:
            diagonal[at] += gain


@njit(**OPTIONS)
def servo_torque(table, body, coef, servo, tau, q, v, out):
    """out = tau + k (target - q) + d (target_rate - v), on the motor's side where there is one."""
    for i in range(table.shape[0]):
        dof, at, motor = table[i, DOF], table[i, Q], table[i, MOTOR]
        if table[i, FULL] != at:
            continue                 # a follower, which has no motor
        for m in range(dof):
            out[at + m] = tau[at + m]
        if dof != 1:
            continue
        position, speed = root_value(table[i], coef, q), root_value(table[i], coef, v)
        if motor >= 0:
            position, speed = q[motor] / body[i, GEAR], v[motor] / body[i, GEAR]
        out[at] += (servo[STIFFNESS_GAIN, at] * (servo[TARGET, at] - position)
                    + servo[DAMPING_GAIN, at] * (servo[TARGET_RATE, at] - speed))


@njit(**OPTIONS)
def apply_wrenches(carriers, points, wrenches, R_world, w):
    """Take world wrenches [force; moment] at points of nodes off the nodes' bias forces.

    Returns their power at the nodes' twists, W.
    """
    power = 0.0
    for k in range(carriers.shape[0]):
        i = carriers[k]
        R, b, V = R_world[i], w.b[i], w.V[i]
        f0 = R[0, 0] * wrenches[k, 0] + R[1, 0] * wrenches[k, 1] + R[2, 0] * wrenches[k, 2]
        f1 = R[0, 1] * wrenches[k, 0] + R[1, 1] * wrenches[k, 1] + R[2, 1] * wrenches[k, 2]
        f2 = R[0, 2] * wrenches[k, 0] + R[1, 2] * wrenches[k, 1] + R[2, 2] * wrenches[k, 2]
        p0, p1, p2 = points[k, 0], points[k, 1], points[k, 2]
        m0 = (R[0, 0] * wrenches[k, 3] + R[1, 0] * wrenches[k, 4] + R[2, 0] * wrenches[k, 5]
              + p1 * f2 - p2 * f1)
        m1 = (R[0, 1] * wrenches[k, 3] + R[1, 1] * wrenches[k, 4] + R[2, 1] * wrenches[k, 5]
              + p2 * f0 - p0 * f2)
        m2 = (R[0, 2] * wrenches[k, 3] + R[1, 2] * wrenches[k, 4] + R[2, 2] * wrenches[k, 5]
              + p0 * f1 - p1 * f0)
        b[0] -= m0
        b[1] -= m1
        b[2] -= m2
        b[3] -= f0
        b[4] -= f1
        b[5] -= f2
        power += (m0 * V[0] + m1 * V[1] + m2 * V[2] + f0 * V[3] + f1 * V[4] + f2 * V[5])
    return power


@njit(**OPTIONS)
def friction_correction(table, body, v, vm, h, force, diagonal, base_force, base_diagonal):
    """Coulomb friction at the middle of the step, by one Newton step about the last guess.

    base_force holds the friction at v, which applied_forces put there.
    """
    for i in range(table.shape[0]):
        size, at = body[i, COULOMB], table[i, Q]
        if table[i, DOF] != 1 or table[i, PINNED] >= 0 or not size > 0.0:
            continue
        t = math.tanh(vm[at] / FRICTION_SPEED)
        slope = size * (1.0 - t * t) / FRICTION_SPEED
        change = size * (math.tanh(v[at] / FRICTION_SPEED) - t) + slope * (vm[at] - v[at])
        force[at] = base_force[at] + change
        diagonal[at] = base_diagonal[at] + 0.5 * h * slope


@njit(**OPTIONS)
def stop_at_zero_speed(table, body, v, vm, h, a):
    """Put a guess of a that takes a joint with Coulomb friction through zero speed to zero speed.

    Newton's steps on tanh overshoot from where it is flat, to and fro without end if friction is
    large beside inertia. From zero speed, where its slope is largest, they do not. vm (n,): speeds
    of the guess before.
    """
    for i in range(table.shape[0]):
        if table[i, DOF] != 1 or table[i, PINNED] >= 0 or not body[i, COULOMB] > 0.0:
            continue
        at = table[i, Q]
        speed = v[at] + 0.5 * h * a[at]
        if (vm[at] * speed < 0.0 and abs(vm[at]) > 1e-6 * FRICTION_SPEED
                and abs(vm[at]) + abs(speed) > FRICTION_SPEED):
            a[at] = -2.0 * v[at] / h


@njit(**OPTIONS)
def quasi_steady_changes(table, body, servo, v, a, h, w, change):
    """What to add to the speeds v (n,) at the end of a step where friction is stiff; into change.

    The rule of the middle lets the speed of a joint swing about that where friction balances the
    drive, with hardly a decay, if k = h/2 d / inertia is large, where d is the slope of friction
    and dampers. From k = 1 on, where it arrives there in one step, it is set there: by the share
    k / (1 + k) of d in the pivot, the change h a of the step becomes h a / (2 share).
    Returns whether there is such a joint. After solve_sweeps, which leaves the pivots in w.D.
    """
    found = False
    for i in range(change.shape[0]):
        change[i] = 0.0
    for i in range(table.shape[0]):
        if (table[i, DOF] != 1 or table[i, PINNED] >= 0 or table[i, MOTOR] >= 0
                or not body[i, COULOMB] > 0.0):
            continue
        at = table[i, Q]
        t = math.tanh((v[at] + 0.5 * h * a[at]) / FRICTION_SPEED)
        slope = body[i, COULOMB] * (1.0 - t * t) / FRICTION_SPEED
        share = 0.5 * h * (body[i, VISCOUS] + servo[DAMPING_GAIN, at] + slope) * w.D[i, 0]
        if share > 0.5:
            change[at] = h * a[at] * (0.5 / share - 1.0)
            found = True
    return found
