"""Forces inside a step of the integrator: servo loops, friction, wrenches."""
from __future__ import annotations

import math

from numba import njit

from flex_dynamics.kernels.base.layout import (
    COULOMB,
    DOF,
    FRICTION_SPEED,
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
