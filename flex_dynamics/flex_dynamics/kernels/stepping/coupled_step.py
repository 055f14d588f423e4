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
"""A step of a robot with followers (<mimic>): leaders and followers share coordinates.

The recursion eliminates each joint where it is, which a shared coordinate does not allow. So the
equation of the step is solved by Newton's method with the matrix in full, from the composite
bodies, T'M T; what is solved is the same as in implicit_midpoint.step,

    force(qm, vm) - M(qm) a - bias(qm, vm) = 0,

with the residual by the recursion of inverse dynamics. M is taken once a step, at its first guess;
it changes too little for more.
"""
from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import njit

from flex_dynamics.kernels.base.layout import COULOMB, DOF, ELASTIC, MODES, OPTIONS, PINNED, Q
from flex_dynamics.kernels.base.workspace import array_at
from flex_dynamics.kernels.stepping.step_forces import (
    DAMPING_GAIN,
    STIFFNESS_GAIN,
    apply_wrenches,
    servo_torque,
    stop_at_zero_speed,
)
from flex_dynamics.kernels.tree.applied_forces import applied_forces, friction_slope, root_value
from flex_dynamics.kernels.tree.body_blocks import carve_blocks, frame_changes, own_bodies
from flex_dynamics.kernels.tree.composite_mass_matrix import fold_followers, sum_bodies
from flex_dynamics.kernels.tree.elimination import cholesky
from flex_dynamics.kernels.tree.frames import world_poses
from flex_dynamics.kernels.tree.inverse_dynamics import inverse_sweeps
from flex_dynamics.kernels.tree.kinematics import kinematics
from flex_dynamics.kernels.tree.recursive_forward_dynamics import own_inertia

DIVERGED = -1
NOT_CONVERGED = -2
FASTEST_RATE = 1e-3        # at which sweeps are taken to converge; faster may be chance

Coupled = namedtuple('Coupled', (
    'M',            # (n + followers, n + followers) scratch
    'C',            # (n + followers, n + followers) scratch
    'weight',       # (n + followers,) scratch
    'implicit',     # (n, n) scratch: M and what acts implicitly, without friction
    'pivots',       # (n, n) scratch: its Cholesky factor, with friction
    'stiffness',    # (n, n) K
    'damping',      # (n, n) D
    'inputs',       # (n, n_joints) B
))


def make_coupled(followers: int, stiffness: np.ndarray, damping: np.ndarray,
                 inputs: np.ndarray) -> Coupled:
    """For a model with K, D (n, n) and B (n, n_joints); without followers all are empty."""
    n = len(stiffness) if followers else 0
    full, joints = n + followers, inputs.shape[1] if followers else 0
    return Coupled(np.zeros((full, full)), np.zeros((full, full)), np.zeros(full),
                   np.zeros((n, n)), np.zeros((n, n)), np.array(stiffness[:n, :n]),
                   np.array(damping[:n, :n]), np.array(inputs[:n, :joints]))


@njit(**OPTIONS)
def open_coupled(h, at):
    """A Coupled from full, n and n_joints and eight addresses, which begin at h[at]."""
    full, n, joints = h[at], h[at + 1], h[at + 2]
    return Coupled(array_at(h[at + 3], (full, full)), array_at(h[at + 4], (full, full)),
                   array_at(h[at + 5], (full,)), array_at(h[at + 6], (n, n)),
                   array_at(h[at + 7], (n, n)), array_at(h[at + 8], (n, n)),
                   array_at(h[at + 9], (n, n)), array_at(h[at + 10], (n, joints)))


@njit(**OPTIONS)
def set_implicit(model, w, q, v, servo, h, c):
    """c.implicit = M + h/2 D + h2/4 K + B (h/2 d + h2/4 k) B' at q, v; k, d: gains of a servo."""
    table, body, coef = model.table, model.body, model.coef
    blocks = carve_blocks(model.more_work, model.size)
    kinematics(table, body, coef, q, v, w, True)
    own_bodies(table, body, coef, q, v, w, blocks)
    frame_changes(table, body, v, w, blocks)
    sum_bodies(table, body, model.gravity, w, blocks, c.M, c.C, c.weight)
    fold_followers(table, c.M, c.C, c.weight)
    n = q.shape[0]
    for i in range(n):
        for k in range(n):
            s = c.M[i, k] + 0.5 * h * c.damping[i, k] + 0.25 * h * h * c.stiffness[i, k]
            for j in range(servo.shape[1]):
                gain = 0.5 * h * servo[DAMPING_GAIN, j] + 0.25 * h * h * servo[STIFFNESS_GAIN, j]
                s += c.inputs[i, j] * gain * c.inputs[k, j]
            c.implicit[i, k] = s


@njit(**OPTIONS)
def set_pivots(table, body, coef, v, h, c):
    """c.pivots: Cholesky factor of c.implicit with the slope of Coulomb friction at v; returns 0
    or 1 + the coordinate whose pivot is not positive."""
    n = v.shape[0]
    for i in range(n):
        for k in range(i + 1):
            c.pivots[i, k] = c.implicit[i, k]
    for i in range(table.shape[0]):
        if table[i, DOF] != 1 or not body[i, COULOMB] > 0.0:
            continue
        at, start = table[i, Q], table[i, ELASTIC]
        slope = 0.5 * h * friction_slope(body[i], root_value(table[i], coef, v))
        c.pivots[at, at] += slope
        if table[i, PINNED] < 0:
            continue
        for m in range(table[i, MODES]):
            turn = slope * coef[table[i, PINNED] + m]
            c.pivots[start + m, at] += turn
            for k in range(m + 1):
                c.pivots[start + m, start + k] += turn * coef[table[i, PINNED] + k]
    return cholesky(c.pivots, n)


@njit(**OPTIONS)
def solve(L, x):
    """x (n,) = (L L')^-1 x in place; L has reciprocals on its diagonal."""
    n = x.shape[0]
    for i in range(n):
        s = x[i]
        for k in range(i):
            s -= L[i, k] * x[k]
        x[i] = s * L[i, i]
    for i in range(n - 1, -1, -1):
        s = x[i]
        for k in range(i + 1, n):
            s -= L[k, i] * x[k]
        x[i] = s * L[i, i]


@njit(**OPTIONS)
def coupled_step(model, w, state, tau, h, tolerance, most):
    """Acceleration state.a (n,) at the middle of one step of h, from a first guess there.

    Returns (status, sweeps, power), as implicit_midpoint.step does.
    """
    table, body, coef = model.table, model.body, model.coef
    q, v, a, scratch, c = state.q, state.v, state.a, state.scratch, state.coupled
    n = q.shape[0]
    force, qm, vm, left, torque = scratch[0], scratch[2], scratch[3], scratch[5], scratch[6]
    power, last = 0.0, 0.0
    for sweep in range(most):
        if sweep > 0:
            stop_at_zero_speed(table, body, v, vm, h, a)
        for i in range(n):
            qm[i] = q[i] + 0.5 * h * v[i] + 0.25 * h * h * a[i]
            vm[i] = v[i] + 0.5 * h * a[i]
        if sweep == 0:
            set_implicit(model, w, qm, vm, state.servo, h, c)
        status = set_pivots(table, body, coef, vm, h, c)
        if status:
            return status, sweep + 1, power
        servo_torque(table, body, coef, state.servo, tau, qm, vm, torque)
        applied_forces(table, body, coef, qm, vm, torque, force)
        kinematics(table, body, coef, qm, vm, w, False)
        own_inertia(table, body, coef, qm, vm, w)
        if state.carriers.shape[0] > 0:
            world_poses(table, w, state.R_world, state.p_world)
            power = apply_wrenches(state.carriers, state.points, state.wrenches, state.R_world, w)
        inverse_sweeps(table, body, model.gravity, vm, a, w, left)
        for i in range(n):
            left[i] = force[i] - left[i]
        solve(c.pivots, left)
        error = 0.0
        for i in range(n):
            change = abs(left[i]) * h
            if not change < 1e300:     # max() below does not see a NaN
                return DIVERGED, sweep + 1, power
            a[i] += left[i]
            error = max(error, change / (1.0 + abs(v[i]) + h * abs(a[i])))
        # The sweeps converge linearly: what is left is the last change times rate / (1 - rate).
        rate = max(error / last, FASTEST_RATE)
        if error < tolerance or (rate < 1.0 and error * rate < tolerance * (1.0 - rate)):
            return 0, sweep + 1, power
        last = error
    return NOT_CONVERGED, most, power
