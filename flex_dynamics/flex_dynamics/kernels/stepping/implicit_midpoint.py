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
"""The real-time integrator: implicit midpoint, its linear solves inside the O(n) recursion.

One step solves M(qm) a + bias(qm, vm) + K qm + D vm = force with qm = q + h/2 v + h2/4 a and
vm = v + h/2 a. K and D are constant, so each sweep solves
(M + h/2 D + h2/4 K) a = force - K (q + h/2 v) - D v - bias(qm, vm) at the last a: stiff modes and
stiff servo loops never limit the step, and what is iterated is only the slow, gyroscopic part.
A step whose sweeps do not converge, or that errs much in energy, is cut in halves.

The rule is of second order and symmetric, but M changes with q, and where a mode is faster than
the step it errs in energy by h/8 dv' dM/dt dv, dv the change of speed. So each step ends with a
balance: kinetic and gravity energy must have grown by the work of all other forces at the middle
of the step, and the speeds are scaled, by a part in 1e5 mostly, until they have. That is
of third order in h, like the error of the step itself. On a floating or planar base momentum is
kept as well, to rounding, and only the motion of the shape is scaled (base_momentum.py). Speeds of
damped joints that move hardly any inertia would ring from step to step: light_directions.py.
"""
from __future__ import annotations

from numba import njit, types

from flex_dynamics.kernels.base.handle import HANDLE, NUMBERS, open_handle
from flex_dynamics.kernels.base.layout import COULOMB, DOF, ENTRY, FLOATING, KIND, OPTIONS, Q
from flex_dynamics.kernels.base.machine_code import caller
from flex_dynamics.kernels.base.workspace import carve
from flex_dynamics.kernels.stepping.base_momentum import (
    AHEAD,
    GRAVITY,
    KINETIC,
    impulse,
    keep_momentum,
    locked_inertia,
    moving_base,
    set_ledger,
)
from flex_dynamics.kernels.stepping.constrained_step import (
    constrained_step,
    return_to_constraints,
    work_of_step,
)
from flex_dynamics.kernels.stepping.coupled_step import (
    DIVERGED,
    FASTEST_RATE,
    NOT_CONVERGED,
    coupled_step,
)
from flex_dynamics.kernels.stepping.light_directions import end_ringing, rings
from flex_dynamics.kernels.stepping.pinned_roots import (
    add_root_gains,
    root_friction,
    root_responses,
)
from flex_dynamics.kernels.stepping.recentre import recentre
from flex_dynamics.kernels.stepping.running_state import open_state
from flex_dynamics.kernels.stepping.step_forces import (
    apply_wrenches,
    friction_correction,
    implicit_diagonal,
    quasi_steady_changes,
    servo_torque,
    stop_at_zero_speed,
)
from flex_dynamics.kernels.tree.applied_forces import applied_forces
from flex_dynamics.kernels.tree.frames import world_poses
from flex_dynamics.kernels.tree.kinematics import kinematics
from flex_dynamics.kernels.tree.mechanical_energy import mechanical_energy
from flex_dynamics.kernels.tree.recursive_forward_dynamics import (
    keep_rotor_rates,
    own_inertia,
    solve_sweeps,
)

# Types of the last arguments of `advance`: h, steps, tolerance, most, balance
SETTINGS = types.float64, types.int64, types.float64, types.int64, types.boolean
SIGNATURE = HANDLE, HANDLE, NUMBERS, *SETTINGS
# advance by its address: see machine_code.py
advance_at = caller(types.UniTuple(types.int64, 2), *SIGNATURE)

HALVINGS = 6               # a step is cut into 64 at most
LARGEST_SCALING = 0.05     # of speeds in one step, to balance energy; the rest is kept for later
LARGEST_ERROR = 5e-3       # energy error of a step by kinetic energy, else it is cut; ...
COARSE_ERROR = 5e3         # ... or this times the tolerance, if that is more
FASTEST = 1e3              # rad or m a step: what runs away goes on to infinity from there
SMALLEST_SHARE = 1e-9      # kinetic energy below this share of the rest is not worth balancing


@njit(**OPTIONS)
def step(table, body, coef, w, gravity, q, v, a, tau, servo, carriers, points, wrenches,
         R_world, p_world, scratch, roots, root_work, h, tolerance, most, friction):
    """Acceleration a (n,) at the middle of one step of h, from a first guess in a.

    Returns (status, sweeps, power): power, W, is that of the wrenches.
    """
    n, pinned = q.shape[0], roots.shape[0] > 0
    force, diagonal, qm, vm, qp, new, base_force, base_diagonal, zero = (
        scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5], scratch[6],
        scratch[7], scratch[8])
    torque = base_force
    implicit_diagonal(table, body, servo, h, base_diagonal)
    for i in range(n):
        diagonal[i] = base_diagonal[i]
        qp[i] = q[i] + 0.5 * h * v[i]
    servo_torque(table, body, coef, servo, tau, qp, v, torque)
    applied_forces(table, body, coef, qp, v, torque, force)
    if friction or pinned:
        for i in range(n):
            base_force[i] = force[i]
    power, last = 0.0, 0.0
    for sweep in range(most):
        if friction and sweep > 0:
            stop_at_zero_speed(table, body, v, vm, h, a)
        for i in range(n):
            qm[i] = qp[i] + 0.25 * h * h * a[i]
            vm[i] = v[i] + 0.5 * h * a[i]
        if pinned:
            for i in range(n):
                force[i] = base_force[i]
            root_friction(table, body, coef, v, vm, force)
        if friction:
            friction_correction(table, body, v, vm, h, force, diagonal, base_force, base_diagonal)
        if pinned:
            status = root_responses(table, body, coef, diagonal, h, w, qm, zero, new, roots)
            if status:
                return status, sweep + 1, power
        kinematics(table, body, coef, qm, vm, w, False)
        own_inertia(table, body, coef, qm, vm, w)
        keep_rotor_rates(table, vm, w)
        if carriers.shape[0] > 0:
            world_poses(table, w, R_world, p_world)
            power = apply_wrenches(carriers, points, wrenches, R_world, w)
        status = solve_sweeps(table, body, coef, force, diagonal, 0.5 * h, 0.25 * h * h, gravity,
                              w, new)
        if not status and pinned:
            status = add_root_gains(table, body, coef, servo, h, vm, roots, root_work,
                                    new)
        if status:
            return status, sweep + 1, power
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
            return 0, sweep + 1, power
        last = error
    return NOT_CONVERGED, most, power


@njit(**OPTIONS)
def work_of_forces(table, body, coef, q, v, a, tau, servo, scratch, h):
    """Work of motors, servos, springs, dampers and friction in one step of h, J."""
    n = q.shape[0]
    force, qm, vm, torque = scratch[0], scratch[2], scratch[3], scratch[6]
    for i in range(n):
        qm[i] = q[i] + 0.5 * h * v[i] + 0.25 * h * h * a[i]
        vm[i] = v[i] + 0.5 * h * a[i]
    servo_torque(table, body, coef, servo, tau, qm, vm, torque)
    applied_forces(table, body, coef, qm, vm, torque, force)
    work = 0.0
    for i in range(n):
        work += force[i] * vm[i]
    return h * work


@njit(**OPTIONS)
def _energy(base, table, body, coef, gravity, q, v, R_world, p_world, w):
    """Kinetic and gravity energy, J; on a moving base with what keep_momentum needs."""
    if base >= 0:
        return locked_inertia(table, body, coef, gravity, q, v, w)
    return mechanical_energy(table, body, coef, gravity, q, v, R_world, p_world, w)


@njit(**OPTIONS)
def run_steps(model, state, tau, h, steps, tolerance, most, balance):
    """Advance a running simulation by `steps` of h under the joint efforts tau (n_joints,).

    model and state: what open_handle and open_state give. balance: whether to keep the balance of
    energy and, on a moving base, of momentum.
    Returns (status, sweeps): status 0, or 1 + a coordinate without inertia, DIVERGED if a number
    is no longer finite, NOT_CONVERGED; the state is then the last good one. DIVERGED also as
    soon as an amplitude is beyond its reach.
    """
    table, body, coef, gravity = model.table, model.body, model.coef, model.gravity
    q, v, a, servo, scratch, ledger = (state.q, state.v, state.a, state.servo, state.scratch,
                                       state.ledger)
    carriers, points, wrenches = state.carriers, state.points, state.wrenches
    R_world, p_world, roots, root_work = (state.R_world, state.p_world, state.roots,
                                          state.root_work)
    n = q.shape[0]
    w = carve(model.work, model.size)
    friction = False
    for i in range(table.shape[0]):
        friction = friction or (table[i, DOF] == 1 and body[i, COULOMB] > 0.0)
    base, coupled = moving_base(table), model.size[6] > 0
    floating = base >= 0 and table[base, KIND] == FLOATING
    root, constrained = base, state.constraints.A.shape[0] > 0
    if constrained:
        base = -1      # reactions of the ground change its momentum
    kinetic, potential = ledger[KINETIC], ledger[GRAVITY]
    known = True
    for i in range(n):
        known = known and scratch[9, i] == q[i] and scratch[10, i] == v[i]
    if balance and not known:
        kinetic, potential = _energy(base, table, body, coef, gravity, q, v, R_world, p_world, w)
        if base >= 0:
            set_ledger(base, w, ledger)
    used = 0
    for _ in range(steps):
        halvings, left, part = 0, 1, h
        while left > 0:
            for i in range(n):
                scratch[11, i] = a[i]
            if constrained:
                status, sweeps, power = constrained_step(model, w, state, tau, part, tolerance,
                                                         most, friction)
            elif coupled:
                status, sweeps, power = coupled_step(model, w, state, tau, part, tolerance, most)
            else:
                status, sweeps, power = step(
                    table, body, coef, w, gravity, q, v, a, tau, servo, carriers, points,
                    wrenches, R_world, p_world, scratch, roots, root_work, part, tolerance, most,
                    friction)
            used += sweeps
            before, after, height, off, stiff = 0.0, 0.0, 0.0, False, False
            if status == 0:
                # Speeds of a moving base share its momentum; followers have no own pivots.
                if friction and root < 0 and not coupled and not constrained:
                    stiff = quasi_steady_changes(table, body, servo, v, a, part, w, scratch[5])
                if balance and not constrained:
                    before = kinetic + potential + part * power + work_of_forces(
                        table, body, coef, q, v, a, tau, servo, scratch, part)
                    if base >= 0:
                        impulse(base, table, gravity, tau, carriers, points, wrenches, R_world,
                                p_world, w, part, ledger, w.six[4])
                for i in range(n):
                    scratch[9, i], scratch[10, i] = q[i], v[i]
                    q[i] += part * (v[i] + 0.5 * part * a[i])
                    v[i] += part * a[i]
                if constrained:
                    status = return_to_constraints(model, w, state)
                    if status:
                        for i in range(n):
                            q[i], v[i] = scratch[9, i], scratch[10, i]
                    elif balance:
                        before = kinetic + potential + part * power + work_of_step(model, state,
                                                                                   tau, part)
            if status == 0:
                if balance:
                    after, height = _energy(base, table, body, coef, gravity, q, v, R_world,
                                            p_world, w)
                    off = not abs(after + height - before) < after * max(LARGEST_ERROR,
                                                                         COARSE_ERROR * tolerance)
                    off = off and after > SMALLEST_SHARE * (abs(height) + abs(before))
                fast = False
                for i in range(n):
                    fast = fast or not abs(v[i]) * h < FASTEST
                if fast or (off and halvings < HALVINGS):
                    for i in range(n):
                        q[i], v[i] = scratch[9, i], scratch[10, i]
                if fast:
                    return DIVERGED, used
            elif halvings == HALVINGS:
                return status, used
            if status or (off and halvings < HALVINGS):
                halvings += 1
                left *= 2
                part *= 0.5
                for i in range(n):
                    a[i] = 0.0
                continue
            left -= 1
            if balance:
                carried, locked = 0.0, scratch[0]
                if base >= 0:
                    gained, carried, lifted = keep_momentum(
                        base, table, body, gravity, w.six[4], part, q, v, w, scratch[8], locked,
                        ledger)
                    after, height = after + gained, height + lifted
                kinetic, potential = after, height
                before -= ledger[AHEAD]
                ahead = kinetic + potential - before
                shape = kinetic - carried
                if shape > SMALLEST_SHARE * (abs(potential) + abs(before) + carried):
                    scaling = -0.5 * ahead / shape
                    scaling = min(max(scaling, -LARGEST_SCALING), LARGEST_SCALING)
                    for i in range(n):
                        v[i] *= 1.0 + scaling
                    if base >= 0:
                        # What the momentum alone moves stays as it is.
                        for i in range(table[base, Q], table[base, Q] + table[base, DOF]):
                            v[i] -= scaling * locked[i]
                    kinetic = carried + shape * (1.0 + scaling) * (1.0 + scaling)
                ledger[AHEAD] = kinetic + potential - before
            if stiff:
                for i in range(n):
                    v[i] += scratch[5, i]
            # Speeds that are taken off alone would leave the constraints.
            ringing = (not constrained and rings(table, scratch[11], a, part, scratch[12])
                       and end_ringing(model, w, state, part, scratch[4], scratch[12]))
            if balance and (stiff or ringing):
                kinetic, potential = _energy(base, table, body, coef, gravity, q, v, R_world,
                                             p_world, w)
                if base >= 0:
                    set_ledger(base, w, ledger)
            if halvings > 0 and left % 2 == 0:
                halvings -= 1
                left //= 2
                part *= 2.0
        if floating:
            recentre(q, v, table[root, Q] + 3)
        for i in range(n):
            if abs(q[i]) > state.reach[i]:
                return DIVERGED, used
    ledger[KINETIC], ledger[GRAVITY] = kinetic, potential
    for i in range(n):
        scratch[9, i], scratch[10, i] = q[i], v[i]
    return 0, used


@njit(**ENTRY)
def advance(model_handle, state_handle, tau, h, steps, tolerance, most, balance):
    """run_steps by the handles of a model and of a state."""
    return run_steps(open_handle(model_handle), open_state(state_handle), tau, h, steps,
                     tolerance, most, balance)
