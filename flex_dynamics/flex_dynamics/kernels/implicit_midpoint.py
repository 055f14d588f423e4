"""The real-time integrator: implicit midpoint, its linear solves inside the O(n) recursion.

One step solves M(qm) a + bias(qm, vm) + K qm + D vm = force with qm = q + h/2 v + h2/4 a and
vm = v + h/2 a. K and D are constant, so each sweep solves
(M + h/2 D + h2/4 K) a = force - K (q + h/2 v) - D v - bias(qm, vm) at the last a: stiff modes and
stiff servo loops never limit the step, and what is iterated is only the slow, gyroscopic part.
The rule is of second order and symmetric: it damps nothing by itself (doc/integrators.md has the
measured energy errors).
"""
from __future__ import annotations

import math

from numba import njit

from flex_dynamics.kernels.applied_forces import applied_forces, joint_friction, root_value
from flex_dynamics.kernels.frames import world_poses
from flex_dynamics.kernels.kinematics import kinematics
from flex_dynamics.kernels.layout import (
    COULOMB,
    DOF,
    ELASTIC,
    FLOATING,
    FRICTION_SPEED,
    GEAR,
    KIND,
    MODES,
    MOTOR,
    OPTIONS,
    PINNED,
    VISCOUS,
    Q,
)
from flex_dynamics.kernels.recursive_forward_dynamics import (
    keep_rotor_rates,
    own_inertia,
    solve_sweeps,
)
from flex_dynamics.kernels.so3 import coefficients, right_jacobian
from flex_dynamics.kernels.workspace import carve

# Rows of `servo` (4, joint coordinates)
STIFFNESS_GAIN = 0    # N m/rad or N/m
DAMPING_GAIN = 1
TARGET = 2
TARGET_RATE = 3

DIVERGED = -1
NOT_CONVERGED = -2


@njit(**OPTIONS)
def implicit_diagonal(table, body, servo, h, diagonal):
    """What viscous friction and servo gains add to the pivots, h/2 d + h2/4 k.

    On a pinned basis they act on amplitudes too, outside the pivots: pinned_correction.
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
    """Take world wrenches [force; moment] at points of nodes off the nodes' bias forces."""
    for k in range(carriers.shape[0]):
        i = carriers[k]
        R, b = R_world[i], w.b[i]
        f0 = R[0, 0] * wrenches[k, 0] + R[1, 0] * wrenches[k, 1] + R[2, 0] * wrenches[k, 2]
        f1 = R[0, 1] * wrenches[k, 0] + R[1, 1] * wrenches[k, 1] + R[2, 1] * wrenches[k, 2]
        f2 = R[0, 2] * wrenches[k, 0] + R[1, 2] * wrenches[k, 1] + R[2, 2] * wrenches[k, 2]
        p0, p1, p2 = points[k, 0], points[k, 1], points[k, 2]
        b[0] -= (R[0, 0] * wrenches[k, 3] + R[1, 0] * wrenches[k, 4] + R[2, 0] * wrenches[k, 5]
                 + p1 * f2 - p2 * f1)
        b[1] -= (R[0, 1] * wrenches[k, 3] + R[1, 1] * wrenches[k, 4] + R[2, 1] * wrenches[k, 5]
                 + p2 * f0 - p0 * f2)
        b[2] -= (R[0, 2] * wrenches[k, 3] + R[1, 2] * wrenches[k, 4] + R[2, 2] * wrenches[k, 5]
                 + p0 * f1 - p1 * f0)
        b[3] -= f0
        b[4] -= f1
        b[5] -= f2


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
def pinned_correction(table, body, coef, servo, qp, v, qm, vm, force, base_force):
    """Servo and friction of pinned bases at the middle of the step, by iteration.

    base_force holds them at qp, v. They turn the root section, so joint and amplitudes feel them.
    """
    for i in range(table.shape[0]):
        if table[i, DOF] != 1 or table[i, PINNED] < 0:
            continue
        row, at, start = table[i], table[i, Q], table[i, ELASTIC]
        before, now = root_value(row, coef, v), root_value(row, coef, vm)
        change = (servo[STIFFNESS_GAIN, at] * (root_value(row, coef, qp)
                                               - root_value(row, coef, qm))
                  + servo[DAMPING_GAIN, at] * (before - now)
                  + joint_friction(body[i], before) - joint_friction(body[i], now))
        force[at] = base_force[at] + change
        for m in range(row[MODES]):
            force[start + m] = base_force[start + m] + coef[row[PINNED] + m] * change


@njit(**OPTIONS)
def advance(table, body, coef, size, work, gravity, q, v, a, tau, servo, carriers, points,
            wrenches, R_world, p_world, scratch, h, steps, tolerance, most):
    """Advance q, v (n,) by `steps` of h in place; a (n,) is the last acceleration, a first guess.

    scratch (8, n). Returns (status, iterations): status 0, or 1 + a coordinate without inertia,
    DIVERGED if a number is no longer finite, NOT_CONVERGED; the state is then the last good one.
    """
    n = q.shape[0]
    force, diagonal, qm, vm, qp, new, base_force, base_diagonal = (
        scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5], scratch[6],
        scratch[7])
    torque = base_force
    w = carve(work, size)
    friction, pinned = False, False
    for i in range(table.shape[0]):
        friction = friction or (table[i, DOF] == 1 and body[i, COULOMB] > 0.0)
        pinned = pinned or table[i, PINNED] >= 0
    implicit_diagonal(table, body, servo, h, base_diagonal)
    diagonal[:] = base_diagonal
    used = 0
    for _ in range(steps):
        for i in range(n):
            qp[i] = q[i] + 0.5 * h * v[i]
        servo_torque(table, body, coef, servo, tau, qp, v, torque)
        applied_forces(table, body, coef, qp, v, torque, force)
        if friction or pinned:
            base_force[:] = force
        converged = False
        for _ in range(most):
            for i in range(n):
                qm[i] = qp[i] + 0.25 * h * h * a[i]
                vm[i] = v[i] + 0.5 * h * a[i]
            if friction:
                friction_correction(table, body, v, vm, h, force, diagonal, base_force,
                                    base_diagonal)
            if pinned:
                pinned_correction(table, body, coef, servo, qp, v, qm, vm, force, base_force)
            kinematics(table, body, coef, qm, vm, w, False)
            own_inertia(table, body, coef, qm, vm, w)
            keep_rotor_rates(table, vm, w)
            if carriers.shape[0] > 0:
                world_poses(table, w, R_world, p_world)
                apply_wrenches(carriers, points, wrenches, R_world, w)
            status = solve_sweeps(table, body, coef, force, diagonal, 0.5 * h, 0.25 * h * h,
                                  gravity, w, new)
            used += 1
            if status:
                return status, used
            error = 0.0
            for i in range(n):
                change = abs(new[i] - a[i]) * h
                error = max(error, change / (1.0 + abs(v[i]) + h * abs(new[i])))
                a[i] = new[i]
            if error < tolerance:
                converged = True
                break
            if not error < 1e300:
                return DIVERGED, used
        if not converged:
            return NOT_CONVERGED, used
        for i in range(n):
            q[i] = qp[i] + 0.5 * h * v[i] + 0.5 * h * h * a[i]
            v[i] = v[i] + h * a[i]
        if table[0, KIND] == FLOATING:
            recentre(q, v, table[0, Q] + 3)
    return 0, used


@njit(**OPTIONS)
def recentre(q, v, at):
    """Keep the rotation vector of a floating base below a half turn: same pose, same motion."""
    x, y, z = q[at], q[at + 1], q[at + 2]
    t2 = x * x + y * y + z * z
    if t2 <= math.pi * math.pi:
        return
    _, b, c, _, _ = coefficients(t2)
    o0, o1, o2 = right_jacobian(b, c, x, y, z, v[at], v[at + 1], v[at + 2])
    t = math.sqrt(t2)
    scale = 1.0 - 2.0 * math.pi / t
    x, y, z = scale * x, scale * y, scale * z
    q[at], q[at + 1], q[at + 2] = x, y, z
    # Inverse of the right Jacobian: 1 + 1/2 [r] + d [r]^2.
    t2 = x * x + y * y + z * z
    t = math.sqrt(t2)
    d = (1.0 - 0.5 * t * math.sin(t) / (1.0 - math.cos(t))) / t2
    w0, w1, w2 = y * o2 - z * o1, z * o0 - x * o2, x * o1 - y * o0
    v[at] = o0 + 0.5 * w0 + d * (y * w2 - z * w1)
    v[at + 1] = o1 + 0.5 * w1 + d * (z * w0 - x * w2)
    v[at + 2] = o2 + 0.5 * w2 + d * (x * w1 - y * w0)
