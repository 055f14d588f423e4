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
"""Many output periods of a robot behind its drives in one call, open loop or under a control law.

The control law is that of a schedule: feedforward and gains by sample, which do not depend on the
state, so that one schedule serves any number of runs (simulation/batch/control_schedule.py).
"""
from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import njit, types

from flex_dynamics.kernels.base.handle import HANDLE, MATRIX, NUMBERS
from flex_dynamics.kernels.base.layout import ENTRY, OPTIONS
from flex_dynamics.kernels.base.workspace import array_at, integers_at
from flex_dynamics.kernels.stepping.driven_period import (
    DRIVE_DAMPING,
    DRIVE_STIFFNESS,
    EFFORT,
    JOINT,
    JOINT_RATE,
    POSITION,
    VELOCITY,
    driven_period,
    look_at_joints,
    take_command,
)
from flex_dynamics.kernels.stepping.implicit_midpoint import SETTINGS
from flex_dynamics.kernels.stepping.running_state import open_state

AT_ONCE = 1000       # steps of one period of the drives, as simulate() has it
FRESH = 0            # of `memory`: 1 until the control law has run once
U = 1                # of `memory`: the efforts beyond feedforward (n_joints,), then the integrals

Schedule = namedtuple('Schedule', (
    'effort',        # (samples, n_joints) feedforward
    'position',      # (samples, n_joints) about which drives close their loops, NaN: none
    'velocity',      # (samples, n_joints)
    'wanted',        # (samples, 2 n) q and v of the reference; open loop: (0, 0)
    'gains',         # (sets, n_joints, 2 n)
    'effort_gains',  # (sets, n_joints, n_joints), or no set: the law has no memory of efforts
    'integral',      # (sets, n_joints, integrals)
    'errors',        # (sets, integrals, n) whose time integrals the law feeds back
    'limit',         # (n_joints,) the law cuts its efforts to +- these
    'which'))        # (samples,) int64: the set of gains, -1: feedforward alone


def make_schedule(schedule: Schedule) -> np.ndarray:
    """Addresses and sizes as open_schedule reads them; the arrays must outlive it."""
    assert all(array.flags.c_contiguous for array in schedule)
    samples, joints = schedule.effort.shape
    sizes = (samples, joints, schedule.wanted.shape[1] // 2, len(schedule.gains),
             len(schedule.effort_gains), schedule.integral.shape[2])
    return np.array([*sizes, *(array.ctypes.data for array in schedule)], dtype=np.int64)


@njit(**OPTIONS)
def open_schedule(h):
    """The arrays behind the handle of a schedule."""
    samples, joints, n, sets, remembered, integrals = h[0], h[1], h[2], h[3], h[4], h[5]
    controlled = samples if n else 0
    return Schedule(
        array_at(h[6], (samples, joints)), array_at(h[7], (samples, joints)),
        array_at(h[8], (samples, joints)), array_at(h[9], (controlled, 2 * n)),
        array_at(h[10], (sets, joints, 2 * n)), array_at(h[11], (remembered, joints, joints)),
        array_at(h[12], (sets, joints, integrals)), array_at(h[13], (sets, integrals, n)),
        array_at(h[14], (joints,)), integers_at(h[15], (controlled,)))


@njit(**OPTIONS)
def affine_law(schedule, k, q, v, period, memory, command):
    """The efforts (n_joints,) of sample k at the state q, v (n,); memory: of the law.

    u+ = clip(ff + u - K_u u - K (x - x_r) - K_i z) - ff, z' = E (q - q_r) while nothing is cut;
    without gains of the efforts u+ = -K (x - x_r).
    """
    n, joints = q.shape[0], command.shape[0]
    at = schedule.which[k]
    if at < 0:
        for j in range(joints):
            command[j] = min(max(schedule.effort[k, j], -schedule.limit[j]), schedule.limit[j])
        return
    remembers = schedule.effort_gains.shape[0] > 0
    integrals = schedule.integral.shape[2]
    cut = False
    # command first holds the feedback
    for j in range(joints):
        s = 0.0
        for i in range(integrals):
            s += schedule.integral[at, j, i] * memory[U + joints + i]
        for i in range(n):
            s += schedule.gains[at, j, i] * (q[i] - schedule.wanted[k, i])
        for i in range(n):
            s += schedule.gains[at, j, n + i] * (v[i] - schedule.wanted[k, n + i])
        command[j] = s
    if remembers and memory[FRESH] > 0.0:
        # As if it had been active before: u = -K_u^-1 feedback, no transient at the takeover.
        begin(schedule.effort_gains[at], command, memory)
    memory[FRESH] = 0.0
    for j in range(joints):
        ahead = schedule.effort[k, j]
        effort = ahead - command[j]
        if remembers:
            s = 0.0
            for i in range(joints):
                s += schedule.effort_gains[at, j, i] * memory[U + i]
            effort = ahead + memory[U + j] - s - command[j]
        clipped = min(max(effort, -schedule.limit[j]), schedule.limit[j])
        cut = cut or clipped != effort
        command[j] = clipped
    for j in range(joints):
        memory[U + j] = command[j] - schedule.effort[k, j]
    if not cut:
        for i in range(integrals):
            s = 0.0
            for m in range(n):
                s += schedule.errors[at, i, m] * (q[m] - schedule.wanted[k, m])
            memory[U + joints + i] += period * s


@njit(**OPTIONS)
def begin(gains, feedback, memory):
    """memory[U:] = -gains^-1 feedback by Gauss with the largest pivots; scratch at its end."""
    joints = feedback.shape[0]
    start = memory.shape[0] - joints * (joints + 1)
    work = memory[start:].reshape(joints, joints + 1)
    for i in range(joints):
        for j in range(joints):
            work[i, j] = gains[i, j]
        work[i, joints] = -feedback[i]
    for i in range(joints):
        pivot = i
        for m in range(i + 1, joints):
            if abs(work[m, i]) > abs(work[pivot, i]):
                pivot = m
        for j in range(joints + 1):
            work[i, j], work[pivot, j] = work[pivot, j], work[i, j]
        for m in range(i + 1, joints):
            factor = work[m, i] / work[i, i]
            for j in range(i, joints + 1):
                work[m, j] -= factor * work[i, j]
    for i in range(joints - 1, -1, -1):
        s = work[i, joints]
        for j in range(i + 1, joints):
            s -= work[i, j] * memory[U + j]
        memory[U + i] = s / work[i, i]


@njit(**ENTRY)
def controlled_run(address, model_handle, state_handle, motors, seen, kept, schedule_handle,
                   memory, command, first, last, every, limited, q, v, effort, h, steps,
                   tolerance, most, balance):
    """Periods `first` to `last` - 1 of `steps` of h each.

    Before period k the state is written to row k // every of q, v (outputs, n) if k is a multiple
    of `every`, and into `effort` (outputs, n_joints) what acts then: the commanded effort, under a
    control law with the drives' share. limited: commands are cut to the limits in `motors`.
    memory, command: of the control law, which has run before where first > 0. address: of the
    machine code of `advance`.

    Returns (status, periods done, sweeps, cuts): cuts: periods in which a drive was at its limit.
    """
    state, schedule = open_state(state_handle), open_schedule(schedule_handle)
    n, joints = state.q.shape[0], motors.shape[1]
    controlled = schedule.which.shape[0] > 0
    used, cuts = 0, 0
    for k in range(first, last):
        row = k // every
        if row * every == k:
            for i in range(n):
                q[row, i], v[row, i] = state.q[i], state.v[i]
        if controlled:
            # the first sample comes after none: nothing to integrate over
            affine_law(schedule, k, state.q, state.v, steps * h if k > 0 else 0.0, memory, command)
        else:
            for j in range(joints):
                command[j] = schedule.effort[k, j]
        if limited:
            if take_command(command, schedule.position[k], schedule.velocity[k], motors) < 0:
                return -1, k, used, cuts
        else:
            for j in range(joints):
                motors[EFFORT, j] = command[j]
                motors[POSITION, j] = schedule.position[k, j]
                motors[VELOCITY, j] = schedule.velocity[k, j]
        if row * every == k:
            for j in range(joints):
                effort[row, j] = motors[EFFORT, j]
            if controlled:
                look_at_joints(seen, state, motors)
                for j in range(joints):
                    effort[row, j] += (
                        motors[DRIVE_STIFFNESS, j] * (motors[POSITION, j] - motors[JOINT, j])
                        + motors[DRIVE_DAMPING, j] * (motors[VELOCITY, j] - motors[JOINT_RATE, j]))
        done = 0
        while done < steps:
            part = min(AT_ONCE, steps - done)
            status, sweeps, at_limit = driven_period(
                address, model_handle, state_handle, motors, seen, kept, h, part, tolerance, most,
                balance, False)
            used += sweeps
            cuts += at_limit
            if status:
                return status, k, used, cuts
            done += part
    return 0, last, used, cuts


SIGNATURE = (types.int64, HANDLE, HANDLE, MATRIX, MATRIX, MATRIX, HANDLE, NUMBERS, NUMBERS,
             types.int64, types.int64, types.int64, types.boolean, MATRIX, MATRIX, MATRIX,
             *SETTINGS)
