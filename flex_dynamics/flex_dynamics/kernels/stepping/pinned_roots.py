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
"""Stiff loops on the roots of pinned beams: implicit in the step, outside the recursion.

On a pinned basis a servo turns the root section, r = q + phi'(0) eta (Lin and Lewis 4.2): its gain
g couples joint and amplitudes by g c c', c = (1, phi'(0)), which the recursion's pivots cannot
hold. So x = (M + C G C')^-1 f is found from the recursion's M^-1 f and Y = M^-1 C (Woodbury).
"""
from __future__ import annotations

import math

from numba import njit

from flex_dynamics.kernels.base.layout import (
    COULOMB,
    DOF,
    ELASTIC,
    FRICTION_SPEED,
    MODES,
    OPTIONS,
    PINNED,
    VISCOUS,
    Q,
)
from flex_dynamics.kernels.stepping.step_forces import DAMPING_GAIN, STIFFNESS_GAIN
from flex_dynamics.kernels.tree.applied_forces import joint_friction, root_value
from flex_dynamics.kernels.tree.elimination import cholesky
from flex_dynamics.kernels.tree.kinematics import kinematics
from flex_dynamics.kernels.tree.recursive_forward_dynamics import (
    keep_rotor_rates,
    own_inertia,
    solve_sweeps,
)


@njit(**OPTIONS)
def is_pinned(row):
    return row[DOF] == 1 and row[PINNED] >= 0


@njit(**OPTIONS)
def add_at_root(row, coef, torque, force):
    """force (n,) += c torque."""
    force[row[Q]] += torque
    for m in range(row[MODES]):
        force[row[ELASTIC] + m] += coef[row[PINNED] + m] * torque


@njit(**OPTIONS)
def root_responses(table, body, coef, diagonal, h, w, qm, zero, force, Y):
    """Rows Y (roots, n) = M^-1 c at qm, M with its implicit parts; 0 or 1 + the bad coordinate.

    zero (n,): zeros; force (n,) is scratch.
    """
    root = 0
    for i in range(table.shape[0]):
        if not is_pinned(table[i]):
            continue
        for k in range(force.shape[0]):
            force[k] = 0.0
        add_at_root(table[i], coef, 1.0, force)
        # At rest and without gravity the recursion has no bias forces.
        kinematics(table, body, coef, qm, zero, w, False)
        own_inertia(table, body, coef, qm, zero, w)
        keep_rotor_rates(table, zero, w)
        status = solve_sweeps(table, body, coef, force, diagonal, 0.5 * h, 0.25 * h * h, zero, w,
                              Y[root])
        if status:
            return status
        root += 1
    return 0


@njit(**OPTIONS)
def root_friction(table, body, coef, v, vm, force):
    """Coulomb friction of roots at the middle of the step, by one Newton step about vm.

    force (n,) holds the friction at v.
    """
    for i in range(table.shape[0]):
        if not is_pinned(table[i]) or not body[i, COULOMB] > 0.0:
            continue
        before, now = root_value(table[i], coef, v), root_value(table[i], coef, vm)
        viscous = body[i, VISCOUS] * (before - now)
        change = joint_friction(body[i], before) - joint_friction(body[i], now) - viscous
        add_at_root(table[i], coef, change + _slope(body[i], now) * (now - before), force)


@njit(**OPTIONS)
def _slope(body, speed):
    """Derivative of smoothed Coulomb friction."""
    t = math.tanh(speed / FRICTION_SPEED)
    return body[COULOMB] * (1.0 - t * t) / FRICTION_SPEED


@njit(**OPTIONS)
def add_root_gains(table, body, coef, servo, h, vm, Y, S, x):
    """x = M^-1 f becomes (M + C G C')^-1 f, in place; S (roots, roots + 2) is scratch.

    G: h/2 d + h2/4 k of servo and friction at each root.
    """
    roots = Y.shape[0]
    a = 0
    for i in range(table.shape[0]):
        if not is_pinned(table[i]):
            continue
        at = table[i, Q]
        damping = (servo[DAMPING_GAIN, at] + body[i, VISCOUS]
                   + _slope(body[i], root_value(table[i], coef, vm)))
        S[a, roots] = math.sqrt(0.5 * h * damping + 0.25 * h * h * servo[STIFFNESS_GAIN, at])
        S[a, roots + 1] = S[a, roots] * root_value(table[i], coef, x)
        for b in range(roots):
            S[a, b] = root_value(table[i], coef, Y[b])
        a += 1
    # Symmetric: (1 + sqrt(G) C'Y sqrt(G)) z = sqrt(G) C'x, then x -= Y sqrt(G) z.
    for a in range(roots):
        for b in range(roots):
            S[a, b] *= S[a, roots] * S[b, roots]
        S[a, a] += 1.0
    if cholesky(S, roots):
        return 1
    for a in range(roots):
        for b in range(a):
            S[a, roots + 1] -= S[a, b] * S[b, roots + 1]
        S[a, roots + 1] *= S[a, a]
    for a in range(roots - 1, -1, -1):
        for b in range(a + 1, roots):
            S[a, roots + 1] -= S[b, a] * S[b, roots + 1]
        S[a, roots + 1] *= S[a, a]
    for a in range(roots):
        pull = S[a, roots] * S[a, roots + 1]
        for k in range(x.shape[0]):
            x[k] -= Y[a, k] * pull
    return 0
