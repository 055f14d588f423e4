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
"""One output period of a robot behind its drives: their loops, their limits, the joints' stops.

A stop catches a joint in the step whose middle, at which the integrator takes its forces, would
lie beyond the limit, and lets it go when it has come back to where it was caught. The spring is
slack where it catches, so that a stop never brings energy in: it would, with its rest at the limit
itself, because a joint is never there at the end of a step. It is caught off the limit by half a
step's way at most. The damper acts while the stop is being pressed.
"""
from __future__ import annotations

import math

from numba import njit

from flex_dynamics.kernels.base.layout import ENTRY, OPTIONS
from flex_dynamics.kernels.stepping.base_momentum import AHEAD
from flex_dynamics.kernels.stepping.implicit_midpoint import advance_at
from flex_dynamics.kernels.stepping.running_state import open_state
from flex_dynamics.kernels.stepping.step_forces import (
    DAMPING_GAIN,
    STIFFNESS_GAIN,
    TARGET,
    TARGET_RATE,
)

MARGIN = 0.02            # rad or m: nearer than this to a limit every step is looked at

# Rows of `motors` (MOTOR_ROWS, n_joints)
EFFORT = 0               # the command: effort, ...
POSITION = 1             # ... position, NaN: none ...
VELOCITY = 2             # ... and velocity
DRIVE_STIFFNESS = 3      # of the loops that the drives close
DRIVE_DAMPING = 4
LEAST = 5                # limits of the command, three rows
MOST = 8
FASTEST = 11             # beyond this speed the effort of a drive falls to zero, see SPEED_BAND
LOWER, UPPER = 12, 13    # where the stops are
STOP_STIFFNESS = 14
STOP_DAMPING = 15
SIDE = 16                # -1 caught at the lower limit, 1 at the upper, 0 free
CAUGHT_AT = 17
APPLIED = 18             # what the motors give at the end of the period
ACTING = 19              # what acts beside the loops of `servo` in the step
GAIN, DAMP, AIM, AIM_RATE = 20, 21, 22, 23     # the drives' part of `servo`
JOINT, JOINT_RATE = 24, 25                     # joints as the motors see them
BEGIN, BEGIN_RATE = 26, 27                     # the same at the beginning of the period
SIDE_BEFORE, CAUGHT_BEFORE = 28, 29
BOUND = 30               # by which limit the drive is held in the period, as below
MOTOR_ROWS = 31

FREE, AT_EFFORT, AT_SPEED, SETTLED = 0.0, 1.0, 2.0, 3.0      # values of BOUND
MOST_RUNS = 5            # of a period: a drive meets its limits one after the other
SPEED_BAND = 0.1         # of FASTEST: from there to (1 + SPEED_BAND) FASTEST the effort falls


@njit(**ENTRY)
def take_command(effort, position, velocity, motors):
    """Put a command for every joint, each (n_joints,), into `motors`, cut to the limits.

    Returns -1, and changes nothing, if a number is not finite; 1 if something was cut; else 0.
    """
    for j in range(motors.shape[1]):
        if not (abs(effort[j]) < math.inf and abs(position[j]) < math.inf
                and abs(velocity[j]) < math.inf):
            return -1
    cut = 0
    for j in range(motors.shape[1]):
        motors[EFFORT, j] = min(max(effort[j], motors[LEAST, j]), motors[MOST, j])
        motors[POSITION, j] = min(max(position[j], motors[LEAST + 1, j]), motors[MOST + 1, j])
        motors[VELOCITY, j] = min(max(velocity[j], motors[LEAST + 2, j]), motors[MOST + 2, j])
        if (motors[EFFORT, j] != effort[j] or motors[POSITION, j] != position[j]
                or motors[VELOCITY, j] != velocity[j]):
            cut = 1
    return cut


@njit(**OPTIONS)
def look_at_joints(seen, state, motors):
    """Joints as their motors see them, `seen` (n_joints, n) times q; not n columns: q itself."""
    for j in range(motors.shape[1]):
        position, speed = state.q[j], state.v[j]
        if seen.shape[1] == state.q.shape[0]:
            position, speed = 0.0, 0.0
            for i in range(state.q.shape[0]):
                position += seen[j, i] * state.q[i]
                speed += seen[j, i] * state.v[i]
        motors[JOINT, j], motors[JOINT_RATE, j] = position, speed


@njit(**OPTIONS)
def drive_effort(motors, j, position, speed):
    """The effort of the drive of joint j without its limits."""
    return (motors[ACTING, j] + motors[GAIN, j] * (motors[AIM, j] - position)
            + motors[DAMP, j] * (motors[AIM_RATE, j] - speed))


@njit(**OPTIONS)
def hold_effort(motors, j, effort, bound):
    """Let the drive of joint j give this effort, whatever its loop asks for."""
    motors[ACTING, j], motors[BOUND, j] = effort, bound
    motors[GAIN, j] = motors[DAMP, j] = 0.0


@njit(**OPTIONS)
def keep_to_limits(motors, j, period):
    """Hold the drive of joint j to its limits, if the period (s) that has just been run goes
    beyond one; returns whether the period must be run again.

    Beyond the speed limit the effort that drives the joint on falls in a line to zero, and the
    line acts in the integrator's step as a damper does. Switched off and on from period to period
    instead, it would make the speed of a joint without inertia of its own alternate.
    """
    if motors[BOUND, j] == SETTLED:
        return False
    mean = 0.5 * (drive_effort(motors, j, motors[BEGIN, j], motors[BEGIN_RATE, j])
                  + drive_effort(motors, j, motors[JOINT, j], motors[JOINT_RATE, j]))
    if motors[BOUND, j] == AT_SPEED:
        most = SPEED_BAND * motors[FASTEST, j] * motors[DAMP, j]
        ahead = math.copysign(1.0, motors[AIM_RATE, j])
        if 0.0 <= ahead * mean <= most:
            return False
        hold_effort(motors, j, ahead * min(max(ahead * mean, 0.0), most), SETTLED)
        return True
    speed, fastest = (motors[JOINT, j] - motors[BEGIN, j]) / period, motors[FASTEST, j]
    effort = min(max(mean, motors[LEAST, j]), motors[MOST, j])
    if abs(speed) > fastest and speed * effort > 0.0:
        if fastest == 0.0:
            hold_effort(motors, j, 0.0, SETTLED)
            return True
        band = SPEED_BAND * fastest
        hold_effort(motors, j, 0.0, AT_SPEED)
        motors[DAMP, j] = abs(effort) / band
        motors[AIM_RATE, j] = math.copysign(fastest + band, speed)
        return True
    if effort != mean and motors[BOUND, j] == FREE:
        # The loop of a drive asks for more than its motor has: the motor gives its most.
        hold_effort(motors, j, effort, AT_EFFORT)
        return True
    return False


@njit(**OPTIONS)
def near_a_stop(motors, period):
    """Whether a joint is at a stop or may touch it within the period (s)."""
    near = False
    for j in range(motors.shape[1]):
        position, way = motors[JOINT, j], 2.0 * period * abs(motors[JOINT_RATE, j])
        room = min(position - motors[LOWER, j], motors[UPPER, j] - position)
        near = near or motors[SIDE, j] != 0.0 or room < MARGIN + way
    return near


@njit(**OPTIONS)
def catch(motors, j, h):
    """Stiffness, damping and rest of the stop that acts on joint j in the step that begins."""
    position, speed = motors[JOINT, j], motors[JOINT_RATE, j]
    if motors[SIDE, j] * (position - motors[CAUGHT_AT, j]) < 0.0:
        motors[SIDE, j] = 0.0
    middle, touches = position + 0.5 * h * speed, 0.0
    if middle > motors[UPPER, j]:
        touches = 1.0
    elif middle < motors[LOWER, j]:
        touches = -1.0
    if motors[SIDE, j] == 0.0 and touches * speed > 0.0:
        motors[SIDE, j], motors[CAUGHT_AT, j] = touches, position
    if motors[SIDE, j] == 0.0:
        return 0.0, 0.0, 0.0
    pressed = motors[SIDE, j] * speed > 0.0
    return (motors[STOP_STIFFNESS, j], motors[STOP_DAMPING, j] if pressed else 0.0,
            motors[CAUGHT_AT, j])


@njit(**OPTIONS)
def set_loops(motors, servo, j, stiffness, damping, rest):
    """The drive's loop and a stop beside it: two springs in parallel are one."""
    gain, damp = motors[GAIN, j] + stiffness, motors[DAMP, j] + damping
    servo[STIFFNESS_GAIN, j], servo[DAMPING_GAIN, j] = gain, damp
    servo[TARGET, j] = motors[AIM, j]
    servo[TARGET_RATE, j] = motors[AIM_RATE, j]
    if stiffness > 0.0:
        servo[TARGET, j] = (motors[GAIN, j] * motors[AIM, j] + stiffness * rest) / gain
    if damping > 0.0:
        servo[TARGET_RATE, j] = motors[DAMP, j] * motors[AIM_RATE, j] / damp


@njit(**OPTIONS)
def run_period(address, model_handle, state_handle, motors, seen, h, steps, tolerance, most,
               balance):
    """The steps of one period under the loops in `motors`; near a stop step by step."""
    state = open_state(state_handle)
    look_at_joints(seen, state, motors)
    stops = near_a_stop(motors, steps * h)
    at_once, used = 1 if stops else steps, 0
    for done in range(0, steps, at_once):
        if done > 0:
            look_at_joints(seen, state, motors)
        for j in range(motors.shape[1]):
            stiffness, damping, rest = catch(motors, j, h) if stops else (0.0, 0.0, 0.0)
            set_loops(motors, state.servo, j, stiffness, damping, rest)
        status, sweeps = advance_at(address, (model_handle, state_handle, motors[ACTING], h,
                                              at_once, tolerance, most, balance))
        used += sweeps
        if status:
            return status, used
    look_at_joints(seen, state, motors)
    return 0, used


@njit(**ENTRY)
def driven_period(address, model_handle, state_handle, motors, seen, kept, h, steps, tolerance,
                  most, balance, safe):
    """One period of `steps` of h under the command in `motors`, or (safe) under the drives'
    damping alone; kept (3, n): where to keep q, v and a of its beginning. address: of the machine
    code of `advance`.

    Returns (status, sweeps, limited): limited: a drive was at the limit of its motor.
    """
    state = open_state(state_handle)
    n, joints = state.q.shape[0], motors.shape[1]
    for i in range(n):
        kept[0, i], kept[1, i], kept[2, i] = state.q[i], state.v[i], state.a[i]
    ahead = state.ledger[AHEAD]
    look_at_joints(seen, state, motors)
    for j in range(joints):
        motors[BEGIN, j], motors[BEGIN_RATE, j] = motors[JOINT, j], motors[JOINT_RATE, j]
        motors[SIDE_BEFORE, j], motors[CAUGHT_BEFORE, j] = motors[SIDE, j], motors[CAUGHT_AT, j]
        aimed = not safe and motors[POSITION, j] == motors[POSITION, j]
        motors[ACTING, j] = 0.0 if safe else motors[EFFORT, j]
        motors[GAIN, j] = motors[DRIVE_STIFFNESS, j] if aimed else 0.0
        motors[AIM, j] = motors[POSITION, j] if aimed else 0.0
        motors[DAMP, j] = motors[DRIVE_DAMPING, j]
        motors[AIM_RATE, j] = 0.0 if safe else motors[VELOCITY, j]
        motors[BOUND, j] = FREE
    used, limited = 0, False
    for run in range(MOST_RUNS):
        status, sweeps = run_period(address, model_handle, state_handle, motors, seen, h, steps,
                                    tolerance, most, balance)
        used += sweeps
        if status:
            return status, used, limited
        again = False
        if run < MOST_RUNS - 1:
            for j in range(joints):
                again = keep_to_limits(motors, j, steps * h) or again
        if not again:
            break
        limited = True
        for i in range(n):
            state.q[i], state.v[i], state.a[i] = kept[0, i], kept[1, i], kept[2, i]
        state.ledger[AHEAD] = ahead
        for j in range(joints):
            motors[SIDE, j] = motors[SIDE_BEFORE, j]
            motors[CAUGHT_AT, j] = motors[CAUGHT_BEFORE, j]
    for j in range(joints):
        effort = drive_effort(motors, j, motors[JOINT, j], motors[JOINT_RATE, j])
        motors[APPLIED, j] = min(max(effort, motors[LEAST, j]), motors[MOST, j])
    return 0, used, limited
