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
"""Directions in which damped joints move hardly any inertia: their speeds ring, which ends here.

The rule of the middle lets the speed of such a direction swing about the one that its dampers
allow: after a step it is (1 - k) / (1 + k) times as far from it, with k = h/2 d / inertia. From
k = 400 on, it takes a second or more of steps of 1 ms to decay to 1 %. No joint need be light by
itself: three axes that meet, with a mass that is nearly a point, have a turn that moves nothing.
So a ringing is seen by the speed of a joint, which changes by the same amount to and fro for 20
steps, and is taken off in all coordinates at once:

    v - h/2 P a,    P = S^8,    S = (M + h/2 D + h2/4 K)^-1 (h/2 D + h2/4 K),

D, K: of links, drives, dampers and friction; a light direction may bend links, too. S is k / (1 +
k) in each direction, so that v becomes the speed at the middle of the step where k is large (k =
400: by 98 %), and stays as it is where the step resolves the motion (k = 1: 0.4 %, k = 0.1: 5e-9).
No momentum of a moving base changes, because neither damper nor spring acts on it. Speeds of light
directions are then of first order in h, positions of second order, as before.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import (
    DAMPING,
    DOF,
    ELASTIC,
    FULL,
    GEAR,
    MODES,
    MOTOR,
    OPTIONS,
    PINNED,
    STIFFNESS,
    VISCOUS,
    Q,
)
from flex_dynamics.kernels.stepping.coupled_step import set_implicit, set_pivots, solve
from flex_dynamics.kernels.stepping.step_forces import (
    DAMPING_GAIN,
    STIFFNESS_GAIN,
    implicit_diagonal,
)
from flex_dynamics.kernels.tree.applied_forces import friction_slope, root_value
from flex_dynamics.kernels.tree.kinematics import kinematics
from flex_dynamics.kernels.tree.recursive_forward_dynamics import (
    keep_rotor_rates,
    own_inertia,
    solve_sweeps,
)

POWER = 8                # of S
LEAST_DECAY = 0.005      # of a change of speed from step to step, k = 400: slower is a ringing ...
LEAST_CHANGE = 1e-6      # ... if it is more than this, rad/s or m/s ...
STEPS = 20               # ... for so many steps: no motion that is resolved does that
LEAST_SHARE = 0.95       # of a joint's ringing that P takes off, else another cause rings: k = 156


@njit(**OPTIONS)
def _count(before, after, h, count):
    """Steps (count + 1 or 0) for which a speed has changed to and fro."""
    alternates = (abs(before + after) < LEAST_DECAY * abs(after)
                  and h * abs(after) > LEAST_CHANGE)
    return count + 1.0 if alternates else 0.0


@njit(**OPTIONS)
def rings(table, before, a, h, counts):
    """Whether the speed of a joint or motor rings; before, a (n,): accelerations of the step
    before and of this one; counts (n,): for how many steps, kept from step to step."""
    found = False
    for i in range(table.shape[0]):
        if table[i, DOF] != 1 or table[i, FULL] != table[i, Q]:
            continue
        at, motor = table[i, Q], table[i, MOTOR]
        counts[at] = _count(before[at], a[at], h, counts[at])
        found = found or counts[at] >= STEPS
        if motor >= 0:
            counts[motor] = _count(before[motor], a[motor], h, counts[motor])
            found = found or counts[motor] >= STEPS
    return found


@njit(**OPTIONS)
def _damper_forces(table, body, coef, servo, vm, h, x, force):
    """force (n,) = (h/2 D + h2/4 K) x: links, drives, dampers, friction at the speeds vm (n,)."""
    for i in range(force.shape[0]):
        force[i] = 0.0
    for i in range(table.shape[0]):
        modes, start = table[i, MODES], table[i, ELASTIC]
        for m in range(modes):
            stiffness, damping = table[i, STIFFNESS] + m * modes, table[i, DAMPING] + m * modes
            for j in range(modes):
                force[start + m] += 0.5 * h * x[start + j] * (
                    coef[damping + j] + 0.5 * h * coef[stiffness + j])
        if table[i, DOF] != 1:
            continue
        at, motor = table[i, Q], table[i, MOTOR]
        speed = root_value(table[i], coef, x)
        gain = 0.5 * h * (body[i, VISCOUS]
                          + friction_slope(body[i], root_value(table[i], coef, vm)))
        drive = 0.5 * h * servo[DAMPING_GAIN, at] + 0.25 * h * h * servo[STIFFNESS_GAIN, at]
        if table[i, FULL] != at:
            drive = 0.0                  # a follower, which has no motor
        if motor >= 0:
            force[motor] += drive * x[motor] / (body[i, GEAR] * body[i, GEAR])
        else:
            gain += drive
        force[at] += gain * speed
        if table[i, PINNED] >= 0:
            for m in range(table[i, MODES]):
                force[table[i, ELASTIC] + m] += gain * speed * coef[table[i, PINNED] + m]


@njit(**OPTIONS)
def end_ringing(model, w, state, h, x, counts):
    """Take P a h/2 off the speeds state.v (n,) at the end of a step of h, and begin to count anew;
    x (n,) is scratch.

    Returns whether it did: not on pinned bases, whose loops act outside the pivots, and not where
    inertia or stiffness is not small beside the dampers: then commands or springs ring.
    """
    table, body, coef, scratch = model.table, model.body, model.coef, state.scratch
    q, v, a, servo, zero = state.q, state.v, state.a, state.servo, state.scratch[8]
    force, diagonal, vm = scratch[0], scratch[1], scratch[3]
    n, coupled = q.shape[0], model.size[6] > 0
    if state.roots.shape[0] > 0 and not coupled:
        return False
    for i in range(n):
        vm[i], x[i] = v[i] - 0.5 * h * a[i], a[i]
    if coupled:
        set_implicit(model, w, q, v, servo, h, state.coupled)
        if set_pivots(table, body, coef, vm, h, state.coupled):
            return False
    else:
        implicit_diagonal(table, body, servo, h, diagonal)
        for i in range(table.shape[0]):
            if table[i, DOF] == 1:
                diagonal[table[i, Q]] += 0.5 * h * friction_slope(body[i], vm[table[i, Q]])
    for _ in range(POWER):
        _damper_forces(table, body, coef, servo, vm, h, x, force)
        if coupled:
            solve(state.coupled.pivots, force)
            for i in range(n):
                x[i] = force[i]
            continue
        # At rest and without gravity the recursion has no bias forces.
        kinematics(table, body, coef, q, zero, w, False)
        own_inertia(table, body, coef, q, zero, w)
        keep_rotor_rates(table, zero, w)
        if solve_sweeps(table, body, coef, force, diagonal, 0.5 * h, 0.25 * h * h, zero, w, x):
            return False
    damped = False
    for i in range(n):
        damped = damped or (counts[i] >= STEPS and x[i] / a[i] > LEAST_SHARE)
        counts[i] = 0.0
    if damped:
        for i in range(n):
            v[i] -= 0.5 * h * x[i]
    return damped
