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
"""Many periods of a robot under a control law of the state that a Kalman filter estimates.

As controlled_run.py, with the filter of state_estimate.py between the sensors and the law.
"""
from __future__ import annotations

from numba import njit, types

from flex_dynamics.kernels.base.handle import HANDLE, MATRIX, NUMBERS
from flex_dynamics.kernels.base.layout import ENTRY
from flex_dynamics.kernels.base.machine_code import caller
from flex_dynamics.kernels.stepping.controlled_run import AT_ONCE, affine_law, open_schedule
from flex_dynamics.kernels.stepping.driven_period import (
    DRIVE_DAMPING,
    DRIVE_STIFFNESS,
    EFFORT,
    JOINT,
    JOINT_RATE,
    POSITION,
    VELOCITY,
    look_at_joints,
    take_command,
)
from flex_dynamics.kernels.stepping.implicit_midpoint import SETTINGS
from flex_dynamics.kernels.stepping.running_state import open_state
from flex_dynamics.kernels.stepping.state_estimate import (
    begin_estimate,
    correct,
    measure,
    open_observer,
    predict,
)

NOT_FINITE = -1      # of the status: the law asks for such efforts
BEGINS = -2          # the filter waits for its first state
LEFT = -3            # the estimate has left all bounds
WAITING, GIVEN, RUNNING = 0, 1, 2      # values of `begun`
PERIOD_SIGNATURE = (types.int64, HANDLE, HANDLE, MATRIX, MATRIX, MATRIX, *SETTINGS, types.boolean)
driven_period_at = caller(types.Tuple((types.int64, types.int64, types.boolean)),
                          *PERIOD_SIGNATURE)


@njit(**ENTRY)
def estimated_run(addresses, model_handle, state_handle, motors, seen, kept, schedule_handle,
                  observer_handle, memory, command, begun, first, last, every, q, v, effort, h,
                  steps, tolerance, most, balance):
    """Periods `first` to `last` - 1 of `steps` of h each, as controlled_run does them, under a
    law of the estimated state.

    addresses: of the machine code of driven_period, advance and accelerations. begun: WAITING, the
    filter has no state, GIVEN, its estimate q, v is to be taken, or RUNNING.

    Returns (status, periods done, sweeps, cuts, begun); status BEGINS: the readings of this period
    are there, and the caller has to say where the filter begins.
    """
    state, schedule = open_state(state_handle), open_schedule(schedule_handle)
    table, robot, plant, estimate, robot_handle, plant_handle, noise = open_observer(
        observer_handle)
    n, joints = state.q.shape[0], motors.shape[1]
    acting = estimate.scratch[10]
    used, cuts = 0, 0
    for k in range(first, last):
        row, at = k // every, table.which[k]
        if row * every == k:
            for i in range(n):
                q[row, i], v[row, i] = state.q[i], state.v[i]
        if at >= 0:
            if begun != GIVEN:
                measure(addresses[2], model_handle, plant_handle, state, motors, seen, plant,
                         k > 0, noise[k], acting[:joints], estimate.scratch, estimate.reading)
            if begun == WAITING:
                return BEGINS, k, used, cuts, begun
            if begun == GIVEN:
                begin_estimate(table, estimate)
                begun = RUNNING
            ago = max(k - 1, 0)
            for j in range(joints):
                acting[j] = command[j]
                if k == 0:
                    acting[j] = min(max(schedule.effort[0, j], -schedule.limit[j]),
                                    schedule.limit[j])
            if k > 0 and not predict(table, at, robot_handle, estimate, acting[:joints],
                                      schedule.position[ago], schedule.velocity[ago]):
                return LEFT, k, used, cuts, begun
            if not correct(table, at, k, robot_handle, robot, estimate, acting[:joints],
                            schedule.position[ago], schedule.velocity[ago]):
                return LEFT, k, used, cuts, begun
        affine_law(schedule, k, estimate.q, estimate.v, steps * h if k > 0 else 0.0, memory,
                   command)
        if take_command(command, schedule.position[k], schedule.velocity[k], motors) < 0:
            return NOT_FINITE, k, used, cuts, begun
        if row * every == k:
            look_at_joints(seen, state, motors)
            for j in range(joints):
                effort[row, j] = (
                    motors[EFFORT, j]
                    + motors[DRIVE_STIFFNESS, j] * (motors[POSITION, j] - motors[JOINT, j])
                    + motors[DRIVE_DAMPING, j] * (motors[VELOCITY, j] - motors[JOINT_RATE, j]))
        done = 0
        while done < steps:
            part = min(AT_ONCE, steps - done)
            status, sweeps, at_limit = driven_period_at(
                addresses[0], (addresses[1], model_handle, state_handle, motors, seen, kept, h,
                               part, tolerance, most, balance, False))
            used += sweeps
            cuts += at_limit
            if status:
                return status, k, used, cuts, begun
            done += part
    return 0, last, used, cuts, begun


SIGNATURE = (HANDLE, HANDLE, HANDLE, MATRIX, MATRIX, MATRIX, HANDLE, HANDLE, NUMBERS, NUMBERS,
             types.int64, types.int64, types.int64, types.int64, MATRIX, MATRIX, MATRIX, *SETTINGS)
