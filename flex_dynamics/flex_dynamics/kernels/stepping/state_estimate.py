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
"""The state of a robot by a Kalman filter, from readings of its sensors, in compiled loops.

The covariance of the filter depends on its linear models and on its sensors, not on what they
read. So its gains are a table over the samples, as those of the control law are, and one table
serves any number of runs. The motion that the filter is linear about is that of the estimated
joints, by the equations of motion of the filter's own model, in every sample:

    x = F x + held b,    b = M^-1 (B tau - f(q_s, v_s)) - dq q_s - dv v_s,
    x = x + L (y - h(x)),

q_s and v_s the quasi-static motion of the joints, dq and dv the slopes of accelerations.
"""
from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import njit, types

from flex_dynamics.kernels.base.handle import HANDLE, NUMBERS, open_handle
from flex_dynamics.kernels.base.layout import (
    ELASTIC,
    FIXED,
    KIND,
    MODES,
    ON_BEAM,
    OPTIONS,
    PARENT,
    PHI_ROW,
    PLANAR,
    ROW,
    SCREW,
    Q,
)
from flex_dynamics.kernels.base.machine_code import caller
from flex_dynamics.kernels.base.spatial import at_parent
from flex_dynamics.kernels.base.workspace import array_at, carve, integers_at
from flex_dynamics.kernels.stepping.driven_period import (
    ACTING,
    JOINT,
    JOINT_RATE,
    look_at_joints,
)
from flex_dynamics.kernels.stepping.step_forces import (
    DAMPING_GAIN,
    STIFFNESS_GAIN,
    TARGET,
    TARGET_RATE,
)
from flex_dynamics.kernels.tree.applied_forces import applied_forces
from flex_dynamics.kernels.tree.frames import world_poses
from flex_dynamics.kernels.tree.inverse_dynamics import inverse_dynamics, node_accelerations
from flex_dynamics.kernels.tree.kinematics import kinematics

MOST_SCALED = 1e6    # of the filter's coordinates, beyond which its estimate has left all bounds
SCRATCH = 11         # rows of n numbers of a run's scratch
accelerations_at = caller(types.int64, HANDLE, *5 * [NUMBERS])

Table = namedtuple('Table', (
    'F',             # (sets, N, N) of the state x (q, v, push) in the filter's coordinates
    'held',          # (sets, 2 n, n) what accelerations held over a period add
    'by_effort',     # (sets, n, n_joints) of accelerations
    'inverse',       # (sets, n, n) of M
    'slope_q', 'slope_v',   # (sets, n, n) of accelerations
    'by_push',       # (sets, n, 3)
    'follow',        # (sets, n, n_joints) how all coordinates go with the joints, quasi-statically
    'rest',          # (sets, n) the pose of each model
    'to_scaled', 'from_scaled',     # (2 n, 2 n) (q, v) to the filter's coordinates and back
    'sees',          # (n_joints, n) joints as their motors see them
    'stiffness', 'damping',         # (n_joints,) of the drives, as the filter knows them
    'gain',          # (samples, N, readings)
    'which'))        # (samples,) int64: the set, -1: the filter has not begun

Gauges = namedtuple('Gauges', (
    'strain',        # (gauges, n)
    'nodes',         # (imus,) int64: node that carries each IMU
    'axes',          # (imus, 3, 3) its axes in the node
    'places'))       # (imus, 3) and its place there

Estimate = namedtuple('Estimate', (
    'x',             # (N,)
    'q', 'v',        # (n,)
    'speed',         # (n_joints,) at the last update
    'reading',       # (readings,) of the sensors
    'expected',      # (readings,) by the estimate, then how far the readings are from that
    'after',         # (N,) scratch
    'scratch'))      # (SCRATCH, n)


def make_observer(table: Table, robot: Gauges, plant: Gauges, estimate: Estimate,
                  robot_handle: np.ndarray, plant_handle: np.ndarray,
                  noise: np.ndarray) -> np.ndarray:
    """Addresses and sizes as open_observer reads them; the arrays must outlive it. robot: the
    filter's, plant: that which moves, both with a node for every IMU; noise (samples, readings)
    is added to what the plant's sensors read."""
    arrays = (*table, *robot, *plant, *estimate, robot_handle, plant_handle, noise)
    assert all(array.flags.c_contiguous for array in arrays)
    sets, size = table.F.shape[:2]
    sizes = (len(table.which), len(estimate.speed), len(estimate.q), sets, size,
             len(robot.strain), len(robot.nodes), len(estimate.reading), len(robot_handle))
    return np.array([*sizes, *(array.ctypes.data for array in arrays)], dtype=np.int64)


@njit(**OPTIONS)
def open_observer(h):
    """Table, gauges of robot and plant, estimate, both models' handles, noise."""
    samples, joints, n, sets, size, gauges, imus, readings, length = (
        h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7], h[8])
    table = Table(
        array_at(h[9], (sets, size, size)), array_at(h[10], (sets, 2 * n, n)),
        array_at(h[11], (sets, n, joints)), array_at(h[12], (sets, n, n)),
        array_at(h[13], (sets, n, n)), array_at(h[14], (sets, n, n)),
        array_at(h[15], (sets, n, 3)), array_at(h[16], (sets, n, joints)),
        array_at(h[17], (sets, n)), array_at(h[18], (2 * n, 2 * n)),
        array_at(h[19], (2 * n, 2 * n)), array_at(h[20], (joints, n)),
        array_at(h[21], (joints,)), array_at(h[22], (joints,)),
        array_at(h[23], (samples, size, readings)), integers_at(h[24], (samples,)))
    robot = Gauges(array_at(h[25], (gauges, n)), integers_at(h[26], (imus,)),
                   array_at(h[27], (imus, 3, 3)), array_at(h[28], (imus, 3)))
    plant = Gauges(array_at(h[29], (gauges, n)), integers_at(h[30], (imus,)),
                   array_at(h[31], (imus, 3, 3)), array_at(h[32], (imus, 3)))
    estimate = Estimate(
        array_at(h[33], (size,)), array_at(h[34], (n,)), array_at(h[35], (n,)),
        array_at(h[36], (joints,)), array_at(h[37], (readings,)), array_at(h[38], (readings,)),
        array_at(h[39], (size,)), array_at(h[40], (SCRATCH, n)))
    return (table, robot, plant, estimate, integers_at(h[41], (length,)),
            integers_at(h[42], (length,)), array_at(h[43], (samples, readings)))


@njit(**OPTIONS)
def add_product(A, x, scale, out):
    """out += scale A x."""
    for i in range(A.shape[0]):
        s = 0.0
        for j in range(A.shape[1]):
            s += A[i, j] * x[j]
        out[i] += scale * s


# Sensors ------------------------------------------------------------------------------------


@njit(**OPTIONS)
def _imus(handle, gauges, q, v, a, first, out):
    """Gyros from out[first] on, then accelerometers, in the axes of their frames."""
    m, imus = open_handle(handle), gauges.nodes.shape[0]
    w = carve(m.work, m.size)
    kinematics(m.table, m.body, m.coef, q, v, w, False)
    node_accelerations(m.table, m.body, m.gravity, a, w)
    for i in range(imus):
        node, p, R = gauges.nodes[i], gauges.places[i], gauges.axes[i]
        if node < 0:
            for k in range(3):
                out[first + 3 * i + k] = 0.0
                out[first + 3 * (imus + i) + k] = -(
                    R[0, k] * m.gravity[0] + R[1, k] * m.gravity[1] + R[2, k] * m.gravity[2])
            continue
        V, at = w.V[node], ROW * node
        # of the point: v + w x p, then its acceleration without gravity
        u0 = V[3] + V[1] * p[2] - V[2] * p[1]
        u1 = V[4] + V[2] * p[0] - V[0] * p[2]
        u2 = V[5] + V[0] * p[1] - V[1] * p[0]
        b0, b1, b2 = w.acc[at], w.acc[at + 1], w.acc[at + 2]
        c0 = w.acc[at + 3] + b1 * p[2] - b2 * p[1] + V[1] * u2 - V[2] * u1
        c1 = w.acc[at + 4] + b2 * p[0] - b0 * p[2] + V[2] * u0 - V[0] * u2
        c2 = w.acc[at + 5] + b0 * p[1] - b1 * p[0] + V[0] * u1 - V[1] * u0
        for k in range(3):
            out[first + 3 * i + k] = R[0, k] * V[0] + R[1, k] * V[1] + R[2, k] * V[2]
            out[first + 3 * (imus + i) + k] = R[0, k] * c0 + R[1, k] * c1 + R[2, k] * c2


@njit(**OPTIONS)
def _add_wrench(table, body, w, node, moment, force, out):
    """out (n,) += generalised force of a wrench at a node, in its axes; after kinematics."""
    m0, m1, m2, f0, f1, f2 = (moment[0], moment[1], moment[2], force[0], force[1], force[2])
    while node >= 0:
        kind, parent, at = table[node, KIND], table[node, PARENT], table[node, Q]
        if kind == ON_BEAM:
            start, row = table[parent, ELASTIC], table[node, PHI_ROW]
            for m in range(table[parent, MODES]):
                s = w.phi[row + m]
                out[start + m] += (s[0] * m0 + s[1] * m1 + s[2] * m2 + s[3] * f0 + s[4] * f1
                                   + s[5] * f2)
        elif kind >= PLANAR:
            for m in range(3 if kind == PLANAR else 6):
                s = w.S[m]
                out[at + m] += (s[0] * m0 + s[1] * m1 + s[2] * m2 + s[3] * f0 + s[4] * f1
                                + s[5] * f2)
        elif kind != FIXED:
            s = body[node, SCREW:SCREW + 6]
            out[at] += (s[0] * m0 + s[1] * m1 + s[2] * m2 + s[3] * f0 + s[4] * f1 + s[5] * f2)
        m0, m1, m2, f0, f1, f2 = at_parent(w.R[node], w.p[node], m0, m1, m2, f0, f1, f2)
        node = parent


@njit(**OPTIONS)
def _wrenches(handle, state, out):
    """out (n,): the generalised force of the wrenches on a robot; its model's workspace is used.
    """
    m = open_handle(handle)
    w = carve(m.work, m.size)
    kinematics(m.table, m.body, m.coef, state.q, state.v, w, False)
    world_poses(m.table, w, state.R_world, state.p_world)
    for k in range(state.carriers.shape[0]):
        node, wrench, p = state.carriers[k], state.wrenches[k], state.points[k]
        R, force, moment = state.R_world[node], w.six[1], w.six[2]
        for i in range(3):
            force[i], moment[i] = 0.0, 0.0
            for j in range(3):
                force[i] += R[j, i] * wrench[j]
                moment[i] += R[j, i] * wrench[3 + j]
        moment[0] += p[1] * force[2] - p[2] * force[1]
        moment[1] += p[2] * force[0] - p[0] * force[2]
        moment[2] += p[0] * force[1] - p[1] * force[0]
        _add_wrench(m.table, m.body, w, node, moment, force, out)


@njit(**OPTIONS)
def measure(address, model_handle, plant_handle, state, motors, seen, gauges, moved, noise,
             efforts, scratch, out):
    """What the plant's sensors read, with noise. address: of the machine code of `accelerations`;
    moved: whether the plant has, before which it is taken to be at rest."""
    joints = motors.shape[1]
    for j in range(joints):
        out[j], out[joints + j] = state.q[j], state.v[j]
    first = 2 * joints + gauges.strain.shape[0]
    out[2 * joints:first] = 0.0
    add_product(gauges.strain, state.q, 1.0, out[2 * joints:first])
    if gauges.nodes.shape[0] > 0:
        a, external = scratch[0], scratch[1]
        a[:] = 0.0
        if moved:
            look_at_joints(seen, state, motors)
            for j in range(joints):
                efforts[j] = (
                    motors[ACTING, j]
                    + state.servo[STIFFNESS_GAIN, j] * (state.servo[TARGET, j] - motors[JOINT, j])
                    + state.servo[DAMPING_GAIN, j] * (state.servo[TARGET_RATE, j]
                                                      - motors[JOINT_RATE, j]))
            external[:] = 0.0
            if state.carriers.shape[0] > 0:
                _wrenches(model_handle, state, external)
            accelerations_at(address, (model_handle, state.q, state.v, efforts, external, a))
        _imus(plant_handle, gauges, state.q, state.v, a, first, out)
    for i in range(out.shape[0]):
        out[i] += noise[i]


# The filter ---------------------------------------------------------------------------------


@njit(**OPTIONS)
def _base(table, at, handle, estimate, effort, position, velocity, speed, out):
    """out (n,): accelerations at the quasi-static motion of the estimated joints with a speed
    (n_joints,), less their linear part; effort, position and velocity (n_joints,) act."""
    joints, s, m = speed.shape[0], estimate.scratch, open_handle(handle)
    q, v, still, force, passive, total, moved = s[2], s[3], s[4], s[5], s[6], s[7], s[8]
    still[:] = 0.0
    passive[:] = 0.0
    v[:] = 0.0
    for j in range(joints):
        moved[j] = estimate.q[j] - table.rest[at, j]
    for i in range(q.shape[0]):
        q[i] = table.rest[at, i]
    add_product(table.follow[at], moved[:joints], 1.0, q)
    add_product(table.follow[at], speed, 1.0, v)
    for j in range(joints):
        there, rate = 0.0, 0.0
        for i in range(q.shape[0]):
            there += table.sees[j, i] * q[i]
            rate += table.sees[j, i] * v[i]
        total[j] = (effort[j] + table.stiffness[j] * (position[j] - there)
                    + table.damping[j] * (velocity[j] - rate))
    inverse_dynamics(m.table, m.body, m.coef, m.size, m.work, m.gravity, q, v, still, force)
    applied_forces(m.table, m.body, m.coef, q, v, still[:joints], passive)
    for i in range(q.shape[0]):
        force[i] -= passive[i]
    out[:] = 0.0
    add_product(table.by_effort[at], total[:joints], 1.0, out)
    add_product(table.inverse[at], force, -1.0, out)
    add_product(table.slope_q[at], q, -1.0, out)
    add_product(table.slope_v[at], v, -1.0, out)


@njit(**OPTIONS)
def _read(table, estimate):
    """q and v of the estimate; whether it is within bounds."""
    n, x = estimate.q.shape[0], estimate.x
    estimate.q[:] = 0.0
    estimate.v[:] = 0.0
    add_product(table.from_scaled[:n], x[:2 * n], 1.0, estimate.q)
    add_product(table.from_scaled[n:], x[:2 * n], 1.0, estimate.v)
    good = True
    for i in range(x.shape[0]):
        good = good and abs(x[i]) < MOST_SCALED
    return good


@njit(**OPTIONS)
def predict(table, at, handle, estimate, effort, position, velocity):
    """x = F x + held b."""
    n = estimate.q.shape[0]
    base, after = estimate.scratch[9], estimate.after
    _base(table, at, handle, estimate, effort, position, velocity, estimate.speed, base)
    after[:] = 0.0
    add_product(table.F[at], estimate.x, 1.0, after)
    add_product(table.held[at], base, 1.0, after[:2 * n])
    for i in range(after.shape[0]):
        estimate.x[i] = after[i]
    return _read(table, estimate)


@njit(**OPTIONS)
def correct(table, at, k, handle, gauges, estimate, effort, position, velocity):
    """x = x + L (y - h(x))."""
    n, joints = estimate.q.shape[0], estimate.speed.shape[0]
    q, v, expected, a = estimate.q, estimate.v, estimate.expected, estimate.scratch[9]
    first = 2 * joints + gauges.strain.shape[0]
    for j in range(joints):
        expected[j], expected[joints + j] = q[j], v[j]
    expected[2 * joints:first] = 0.0
    add_product(gauges.strain, q, 1.0, expected[2 * joints:first])
    if gauges.nodes.shape[0] > 0:
        _base(table, at, handle, estimate, effort, position, velocity, v[:joints], a)
        add_product(table.slope_q[at], q, 1.0, a)
        add_product(table.slope_v[at], v, 1.0, a)
        add_product(table.by_push[at], estimate.x[2 * n:], 1.0, a)
        _imus(handle, gauges, q, v, a, first, expected)
    for i in range(expected.shape[0]):
        expected[i] = estimate.reading[i] - expected[i]
    add_product(table.gain[k], expected, 1.0, estimate.x)
    good = _read(table, estimate)
    for j in range(joints):
        estimate.speed[j] = estimate.v[j]
    return good


@njit(**OPTIONS)
def begin_estimate(table, estimate):
    """The filter's state from q and v of the estimate."""
    n = estimate.q.shape[0]
    estimate.x[:] = 0.0
    add_product(table.to_scaled[:, :n], estimate.q, 1.0, estimate.x[:2 * n])
    add_product(table.to_scaled[:, n:], estimate.v, 1.0, estimate.x[:2 * n])
    _read(table, estimate)
    for j in range(estimate.speed.shape[0]):
        estimate.speed[j] = estimate.v[j]
