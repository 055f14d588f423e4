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
"""A step of a robot with constraints: the implicit midpoint rule, with forces that keep them.

The multipliers are those with which the speeds in the middle of the step keep the constraints
there, A(qm) vm = 0, so that the reactions do no work in a step; the equations are those of
implicit_midpoint.step, with A' multiplier among the forces. After the step positions and speeds
return to the constraints: what is left of them is of third order in h for positions and of second
for speeds, across the constraints only. Both use the factors of the step, M + h/2 D + h2/4 K, so
that stiff modes stay at rest.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import OPTIONS
from flex_dynamics.kernels.constraints.constraint_rows import errors_at, lines_here
from flex_dynamics.kernels.constraints.multipliers import (
    add_response,
    apply_multipliers,
    factor_schur,
    keep_responses,
    solve_schur,
)
from flex_dynamics.kernels.constraints.row_forces import set_columns
from flex_dynamics.kernels.stepping.coupled_step import DIVERGED, FASTEST_RATE, NOT_CONVERGED
from flex_dynamics.kernels.stepping.step_forces import (
    apply_wrenches,
    friction_correction,
    implicit_diagonal,
    servo_torque,
    stop_at_zero_speed,
)
from flex_dynamics.kernels.tree.applied_forces import applied_forces
from flex_dynamics.kernels.tree.frames import world_poses
from flex_dynamics.kernels.tree.kinematics import kinematics
from flex_dynamics.kernels.tree.recursive_forward_dynamics import (
    keep_rotor_rates,
    own_inertia,
    solve_sweeps,
)

CLOSED = 1e-14            # m or rad, at which positions are on the constraints
LARGEST_ERROR = 1e-11     # that rounding and redundant rows may leave, else the step is cut
MOST_CLOSINGS = 20
ROUNDING = 1e-15          # of a speed, by the largest of its terms


@njit(**OPTIONS)
def constrained_step(model, w, state, tau, h, tolerance, most, friction):
    """Acceleration state.a (n,) at the middle of one step of h, from a first guess there.

    Returns (status, sweeps, power), as implicit_midpoint.step does; the responses and factors
    that return_to_constraints uses stay in state.constraints.
    """
    table, body, coef = model.table, model.body, model.coef
    q, v, a, scratch, servo, c = (state.q, state.v, state.a, state.scratch, state.servo,
                                  state.constraints)
    n, m = q.shape[0], c.rows.shape[0]
    force, diagonal, qm, vm, qp, new, base_force, base_diagonal = (
        scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5], scratch[6],
        scratch[7])
    implicit_diagonal(table, body, servo, h, base_diagonal)
    for i in range(n):
        diagonal[i] = base_diagonal[i]
        qp[i] = q[i] + 0.5 * h * v[i]
    servo_torque(table, body, coef, servo, tau, qp, v, base_force)
    applied_forces(table, body, coef, qp, v, base_force, force)
    for i in range(n):
        base_force[i] = force[i]
    power, last = 0.0, 0.0
    for sweep in range(most):
        if friction and sweep > 0:
            stop_at_zero_speed(table, body, v, vm, h, a)
        for i in range(n):
            qm[i] = qp[i] + 0.25 * h * h * a[i]
            vm[i] = v[i] + 0.5 * h * a[i]
        if friction:
            friction_correction(table, body, v, vm, h, force, diagonal, base_force, base_diagonal)
        kinematics(table, body, coef, qm, vm, w, False)
        lines_here(table, w, c)
        set_columns(table, body, w, c)
        own_inertia(table, body, coef, qm, vm, w)
        keep_rotor_rates(table, vm, w)
        if state.carriers.shape[0] > 0:
            world_poses(table, w, state.R_world, state.p_world)
            power = apply_wrenches(state.carriers, state.points, state.wrenches, state.R_world, w)
        status = solve_sweeps(table, body, coef, force, diagonal, 0.5 * h, 0.25 * h * h,
                              model.gravity, w, new)
        if status:
            return status, sweep + 1, power
        c.rank[0] = factor_schur(table, body, w, c)
        for r in range(m):
            c.right[r] = 0.0
        for k in range(n):
            x = 2.0 / h * v[k] + new[k]
            for r in range(m):
                c.right[r] -= c.At[k, r] * x
        solve_schur(c, c.rank[0], c.right, c.multiplier)
        apply_multipliers(table, body, w, c, new)
        error = 0.0
        for i in range(n):
            change = abs(new[i] - a[i]) * h
            if not change < 1e300:     # max() below does not see a NaN
                return DIVERGED, sweep + 1, power
            error = max(error, change / (1.0 + abs(v[i]) + h * abs(new[i])))
            a[i] = new[i]
        # The sweeps converge linearly: what is left is the last change times rate / (1 - rate).
        rate = max(error / last, FASTEST_RATE)
        if error < tolerance or (rate < 1.0 and error * rate < tolerance * (1.0 - rate)):
            keep_responses(table, body, w, c)
            return 0, sweep + 1, power
        last = error
    return NOT_CONVERGED, most, power


@njit(**OPTIONS)
def return_to_constraints(model, w, state):
    """Put state.q and state.v after a step back on the constraints; 0 or NOT_CONVERGED."""
    table, body, coef, q, v, c = (model.table, model.body, model.coef, state.q, state.v,
                                  state.constraints)
    n, m, rank = q.shape[0], c.rows.shape[0], c.rank[0]
    last = 1e300
    for _ in range(MOST_CLOSINGS):
        errors_at(table, body, coef, w, q, v, c)
        size = 0.0
        for r in range(m):
            size = max(size, abs(c.error[r]))
            c.right[r] = -c.error[r]
        if not size < 1e300:
            return DIVERGED
        if size < CLOSED or (size < LARGEST_ERROR and size > 0.5 * last):
            last = size
            break
        last = size
        solve_schur(c, rank, c.right, c.multiplier)
        add_response(c, c.multiplier, q)
    if not last < LARGEST_ERROR:
        return NOT_CONVERGED
    lines_here(table, w, c)
    set_columns(table, body, w, c)
    last = 1e300
    for _ in range(MOST_CLOSINGS):
        size, largest = 0.0, 0.0
        for r in range(m):
            s, terms = 0.0, 0.0
            for k in range(n):
                part = c.At[k, r] * v[k]
                s -= part
                terms = max(terms, abs(part))
            c.right[r] = s
            size, largest = max(size, abs(s)), max(largest, terms)
        if size <= ROUNDING * largest or size > 0.5 * last:
            break
        last = size
        solve_schur(c, rank, c.right, c.multiplier)
        add_response(c, c.multiplier, v)
    return 0


@njit(**OPTIONS)
def work_of_step(model, state, tau, h):
    """Work of motors, servos, springs, dampers and friction from where the step of h began, rows 9
    and 10 of state.scratch, to where its end is on the constraints, J.

    Forces are those half-way of the whole displacement: springs then lose just their energy.
    """
    scratch, q, a = state.scratch, state.q, state.a
    force, middle, speed, torque, begin = (scratch[0], scratch[2], scratch[3], scratch[6],
                                           scratch[9])
    for i in range(q.shape[0]):
        middle[i] = 0.5 * (begin[i] + q[i])
        speed[i] = scratch[10, i] + 0.5 * h * a[i]
    servo_torque(model.table, model.body, model.coef, state.servo, tau, middle, speed, torque)
    applied_forces(model.table, model.body, model.coef, middle, speed, torque, force)
    work = 0.0
    for i in range(q.shape[0]):
        work += force[i] * (q[i] - begin[i])
    return work
