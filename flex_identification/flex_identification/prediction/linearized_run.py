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
"""A run in pieces of one sample: where each leads, and how that depends on state and parameters.

From a nominal state (q, v) of each sample one period of the integrator, the implicit midpoint
rule in steps of `step` (simulation/sensitivity/rollout.py has its derivative), leads to
f(x_k); with the nominal state of the next sample that gives

    x_k+1 - nominal_k+1 = F (x_k - nominal_k) + d + G p + B w,    d = f(nominal_k) - nominal_k+1

so that the run need not be one motion of the model: each sample is a node of multiple shooting.
f, F, G and B are those of the steps as they are taken, to rounding.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flex_dynamics import Model, ParameterDerivatives, Simulation, with_parameters
from flex_dynamics.arrays import Array
from flex_identification.prediction.outputs import Outputs
from flex_identification.prediction.parameters import (
    COMMON_DELAY,
    ParameterSet,
    is_sensor_path,
)

STEP = 1e-3        # s, of the integrator, that of simulate() and of the simulator


class Inputs(NamedTuple):
    """What acts: stamps (N,) s, joint efforts (N, n_joints), each from its stamp to the next."""

    time: Array
    effort: Array


class LinearizedRun(NamedTuple):
    """s = 2n states, m readings, p parameters (in z of the set).

    F (N-1, s, s), d (N-1, s), G (N-1, s, p), B (N-1, s, n_joints) as above. predicted (N, m) at
    the nominal states, H (N, m, s), J (N, m, p) its derivatives. source (N, m): the sample whose
    reading belongs to each row, -1 for none; delays move it.
    """

    F: Array
    d: Array
    G: Array
    B: Array
    predicted: Array
    H: Array
    J: Array
    source: NDArray[np.int64]


def model_with(model: Model, parameters: ParameterSet, z: Array) -> Model:
    """The model with the parameters' values at z (those of sensors change nothing in it)."""
    wanted = {path: value for path, value in parameters.values(z).items()
              if path != COMMON_DELAY and not is_sensor_path(path)}
    return with_parameters(model, wanted)


def linearize(model: Model, parameters: ParameterSet, z: Array, inputs: Inputs, q: Array,
              v: Array, channels: Sequence[str], offsets: Array | None = None,
              step: float = STEP) -> LinearizedRun:
    """About nominal states q, v (N, n).

    Parameters
    ----------
    model : Model
        Its parameters that are not in the set hold; those in it are taken at z (p,).
    inputs : Inputs
    channels : sequence of str
        Readings (m).
    offsets : array, shape (N, m), optional
        s by which a reading is later than the stamp of its sample.
    step : float
        s, longest step of the integrator.
    """
    there = model_with(model, parameters, z)
    slopes = parameters.slopes(z)
    mine = [path for path in slopes if path != COMMON_DELAY and not is_sensor_path(path)]
    derivatives = ParameterDerivatives(there, mine)
    N, p = len(q), len(parameters)
    into = np.zeros((len(mine), p))           # from values of the model's parameters to z
    for row, path in enumerate(mine):
        column, slope = slopes[path]
        into[row, column] = slope
    F, d, by_effort, by_values = _periods(there, derivatives, inputs, q, v, step)
    before = np.vstack((inputs.effort[:1], inputs.effort[:N - 1]))
    outputs = Outputs(there, channels)
    values, H, J = outputs.along(q, v, before, derivatives)
    run = LinearizedRun(F, d, by_values @ into, by_effort, values, H, J @ into,
                        np.broadcast_to(np.arange(N, dtype=np.int64)[:, None],
                                        values.shape).copy())
    return _through_sensors(run, parameters, z, inputs.time, channels, offsets)


def _periods(model: Model, derivatives: ParameterDerivatives, inputs: Inputs, q: Array, v: Array,
             step: float) -> tuple[Array, Array, Array, Array]:
    """F, d, B and G by the values of the model's parameters."""
    n, periods = model.n, np.diff(inputs.time)
    N = len(periods)
    counts = np.maximum(1, np.ceil(periods / step - 1e-6).astype(int))
    steps, first = periods / counts, np.append(0, np.cumsum(counts))
    run, data = Simulation(model, step, balance=False), model.create_data()
    middle = np.zeros((3, first[-1], n))
    slopes = np.zeros((3, first[-1], n, n))
    after = np.zeros((N, 2 * n))
    position, speed, last = run.q, run.v, 0.0
    for k in range(N):
        if abs(steps[k] - last) > 1e-9 * step:
            run.step = last = float(steps[k])
        position[:], speed[:] = q[k], v[k]
        for j in range(first[k], first[k + 1]):
            middle[:2, j] = 0.5 * position, 0.5 * speed
            run.advance(1, inputs.effort[k])
            middle[0, j] += 0.5 * position
            middle[1, j] += 0.5 * speed
            middle[2, j] = run.acceleration
            slopes[:, j] = model.inverse_dynamics_derivatives(middle[0, j], middle[1, j],
                                                              middle[2, j], data)
        after[k, :n], after[k, n:] = position, speed
    d = after - np.hstack((q[1:], v[1:]))
    by_values = derivatives.inverse_dynamics_along(*middle)
    h, joints = np.repeat(steps, counts)[:, None, None], model.n_joints
    by_q, by_v, by_a = slopes
    inputs_of = np.broadcast_to(model.input_matrix(), (first[-1], n, joints))
    right = np.concatenate((-by_q, -by_v - 0.5 * h * by_q, inputs_of, -by_values), axis=2)
    # Joints and amplitudes differ in size by orders.
    scale = 1.0 / np.sqrt(np.einsum('kii->ki', by_a))[:, :, None]
    matrix = scale * (by_a + 0.5 * h * by_v + 0.25 * h * h * by_q) * scale.transpose(0, 2, 1)
    change = scale * np.linalg.solve(matrix, scale * right)
    unit = np.eye(2 * n, right.shape[2])
    one = np.concatenate((unit[:n] + h * unit[n:] + 0.5 * h * h * change, unit[n:] + h * change),
                         axis=1)
    A, C = one[:, :, :2 * n], one[:, :, 2 * n:]
    F, total = A[first[:-1]].copy(), C[first[:-1]].copy()
    for j in range(1, int(counts.max())):
        on = counts > j
        at = first[:-1][on] + j
        total[on] = A[at] @ total[on] + C[at]
        F[on] = A[at] @ F[on]
    return F, d, np.ascontiguousarray(total[:, :, :joints]), total[:, :, joints:]


def _through_sensors(run: LinearizedRun, parameters: ParameterSet, z: Array, time: Array,
                     channels: Sequence[str], offsets: Array | None) -> LinearizedRun:
    """Delays, gains and biases of the sensors put into the readings."""
    values, slopes = parameters.values(z), parameters.slopes(z)
    N, period = len(time), float(np.median(np.diff(time)))
    predicted, H, J = run.predicted, run.H, run.J
    source = run.source
    for i, channel in enumerate(channels):
        delays = [path for path in (COMMON_DELAY, f'{channel}.delay') if path in values]
        late = np.zeros(N) if offsets is None else offsets[:, i]
        if delays or late.any():
            shift = late - sum(values[path] for path in delays)
            source[:, i] = _delayed(run, i, shift / period, predicted, H, J)
            rate = _rate(predicted[:, i], time)
            for path in delays:
                column, slope = slopes[path]
                J[:, i, column] -= slope * rate
        gain, bias = f'{channel}.gain', f'{channel}.bias'
        if gain in values:
            column, slope = slopes[gain]
            J[:, i] *= values[gain]
            H[:, i] *= values[gain]
            J[:, i, column] += slope * predicted[:, i]
            predicted[:, i] *= values[gain]
        if bias in values:
            column, slope = slopes[bias]
            predicted[:, i] += values[bias]
            J[:, i, column] += slope
    return LinearizedRun(run.F, run.d, run.G, run.B, predicted, H, J, source)


def _rate(values: Array, time: Array) -> Array:
    """d values / dt by central differences."""
    found: Array = np.gradient(values, time)
    return found


def _delayed(run: LinearizedRun, i: int, shift: Array, predicted: Array, H: Array,
             J: Array) -> Array:
    """Row i of the readings at (sample + shift), shift (N,) in samples: in place; returns of
    which sample (N,) the reading of each row is, -1 of none."""
    N = len(shift)
    whole = np.floor(shift + 1e-9).astype(int)
    part = np.maximum(shift - whole, 0.0)
    source, fraction = np.full(N, -1), np.zeros(N)
    rows = np.arange(N) + whole
    inside = (rows >= 0) & (rows < N)
    source[rows[inside]], fraction[rows[inside]] = np.flatnonzero(inside), part[inside]
    if not (fraction > 1e-6).any():
        return source
    source[N - 1] = -1          # needs a sample after it
    given, slope, by = predicted[:, i].copy(), H[:, i].copy(), J[:, i].copy()
    f = fraction[:N - 1]
    # Lagrange's cubic through the samples -1, 0, 1, 2
    spread = np.concatenate((given[:1] * 2.0 - given[1:2], given,
                             given[-1:] * 2.0 - given[-2:-1]))
    a, b, c, e = spread[:N - 1], spread[1:N], spread[2:N + 1], spread[3:N + 2]
    predicted[:N - 1, i] = (-f * (f - 1.0) * (f - 2.0) / 6.0 * a
                            + (f + 1.0) * (f - 1.0) * (f - 2.0) / 2.0 * b
                            - (f + 1.0) * f * (f - 2.0) / 2.0 * c
                            + (f + 1.0) * f * (f - 1.0) / 6.0 * e)
    follows = slope[1:, None, :]
    predicted[:N - 1, i] += f * (follows @ run.d[:, :, None])[:, 0, 0]
    H[:N - 1, i] = (1.0 - f)[:, None] * slope[:-1] + f[:, None] * (follows @ run.F)[:, 0]
    J[:N - 1, i] = ((1.0 - f)[:, None] * by[:-1]
                    + f[:, None] * (by[1:] + (follows @ run.G)[:, 0]))
    return source
