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
"""Prediction-error estimation: the parameters for which a Kalman filter's innovations are least.

Each round takes the runs in pieces about their nominal states (linearized_run.py), with every
sample a node of multiple shooting, filters them, and takes a Gauss-Newton step: the parameters
for which sum(slope error / v) vanishes, within bounds and a trust region, by scipy's bounded least
squares. The nominal states then become those that all readings tell under the new parameters.
Readings far beyond their noise lose weight, as Huber has it.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import lsq_linear

from flex_dynamics import DynamicsError, Model
from flex_dynamics.arrays import Array
from flex_identification.errors import IdentificationError
from flex_identification.fit.noise_levels import NoiseLevels
from flex_identification.fit.prepared_run import PreparedRun
from flex_identification.prediction.filtered_run import (
    FilteredRun,
    Noise,
    filter_run,
    smooth_run,
)
from flex_identification.prediction.fisher import FisherInformation
from flex_identification.prediction.linearized_run import STEP, LinearizedRun, linearize
from flex_identification.prediction.parameters import ParameterSet

LONGEST_STEP = 0.7       # of z in one round: a factor of 2
CLOSE = 0.05             # of a standard error: the fit has converged
STILL = 0.2              # of a reading's noise, rms: the states have converged
ROUNDS = 25
FAR = 4.0                # standard deviations from which a reading loses weight
SETTLED = 1.0            # of -2 log likelihood: noise levels that win less are left alone
NEAR = 0.5               # of a standard error, from which on they may be

SHORTER = 6              # times that a step is made shorter if the model diverges

LOST = 20.0              # of cost a sample, from which on a step led too far
LEAST_TRUST = 0.1
RETURNS = 6
FURTHEST = 6.0           # standard deviations of the start

Progress = Callable[[str], None]


@dataclass
class Estimate:
    """z (p,) and what it rests on: runs, what is linear about them, and their innovations."""

    parameters: ParameterSet
    z: Array
    information: FisherInformation
    levels: NoiseLevels
    runs: list[PreparedRun]
    lines: list[LinearizedRun]
    filtered: list[FilteredRun]
    weights: list[Array | None]
    rounds: int
    converged: bool

    @property
    def cost(self) -> float:
        """-2 log likelihood but for a constant."""
        return _cost(self.filtered)


@dataclass
class _Best:
    """Where the cost was least, to go back to."""

    z: Array
    cost: float
    states: list[Array]
    lines: list[LinearizedRun]
    effort: Array
    readings: dict[str, float]

    @classmethod
    def of(cls, z: Array, cost: float, runs: Sequence[PreparedRun], lines: list[LinearizedRun],
           levels: NoiseLevels) -> _Best:
        return cls(z.copy(), cost, [run.states.copy() for run in runs], lines,
                   levels.effort.copy(), dict(levels.readings))

    def restore(self, runs: Sequence[PreparedRun], levels: NoiseLevels) -> Array:
        """Put states and noise levels back; z."""
        for run, states in zip(runs, self.states, strict=True):
            run.states[:] = states
        levels.effort, levels.readings = self.effort.copy(), dict(self.readings)
        return self.z.copy()


def estimate(model: Model, runs: Sequence[PreparedRun], parameters: ParameterSet,
             noise: Mapping[str, float] | None = None, *, z: Array | None = None,
             levels: NoiseLevels | None = None, rounds: int = ROUNDS, step: float = STEP,
             find_noise: bool = True, progress: Progress | None = None) -> Estimate:
    """Fit parameters to runs, whose nominal states are improved in place.

    Parameters
    ----------
    model : Model
    runs : sequence of PreparedRun
    parameters : ParameterSet
    noise : mapping of channel to standard deviation, optional
        What is known of the sensors; other levels are found.
    z : array, shape (p,), optional
        Where to start; default: the set's start.
    levels : NoiseLevels, optional
        Where the noise levels start; z is then near, and the states are found first.
    rounds : int
        At most.
    step : float
        s, longest of the integrator.
    find_noise : bool
        False keeps the noise levels as they are.
    progress : function of a str, optional
    """
    report = progress or (lambda text: None)
    warm = levels is not None
    levels = levels or NoiseLevels(runs, noise or {})
    z = parameters.start() if z is None else z.copy()
    low, high = parameters.bounds()
    weights: list[Array | None] = [None] * len(runs)
    lines = [_about(model, parameters, z, run, step) for run in runs]
    if warm:
        lines = _settled(model, parameters, z, runs, lines, levels, step)
    found = _filtered(runs, lines, levels, weights)
    best: _Best | None = None
    returns, size = 0, np.inf
    converged, calm, settled, done, trust = False, 0, not find_noise, 0, LONGEST_STEP
    for done in range(1, rounds + 1):
        if not settled:
            settled = levels.improve(runs, lines, weights) < SETTLED and size < NEAR
        weights = [_weights(run, line, one) for run, line, one in
                   zip(runs, lines, found, strict=True)]
        found = _filtered(runs, lines, levels, weights)
        if best is not None and _cost(found) > best.cost + LOST * sum(
                len(run.readings) for run in runs):
            # Beyond where the runs are linear: back, and on in smaller steps.
            z, lines = best.restore(runs, levels), best.lines
            trust, settled, calm, returns = max(0.25 * trust, LEAST_TRUST), False, 0, returns + 1
            found = _filtered(runs, lines, levels, weights)
            if returns > RETURNS:
                break
        elif best is None or _cost(found) < best.cost + 1.0:
            best = _Best.of(z, _cost(found), runs, lines, levels)
            trust = min(LONGEST_STEP, 2.0 * trust)
        information, change, wanted = _step(parameters, z, found, low, high, trust)
        ways = [smooth_run(line, run.readings, change, levels.of(run), run.start, run.states[0],
                           weight) for run, line, weight in zip(runs, lines, weights, strict=True)]
        before, trial = [run.states.copy() for run in runs], None
        share = float(np.clip(trust / LONGEST_STEP, 0.1, 1.0))
        for _ in range(SHORTER):
            for run, states, way in zip(runs, before, ways, strict=True):
                run.states[:] = _bounded(run, states + share * way)
            try:
                moved = [_about(model, parameters, z + share * change, run, step) for run in runs]
                trial = _filtered(runs, moved, levels, weights)
            except (DynamicsError, IdentificationError, np.linalg.LinAlgError):
                trial = None
            if trial is not None:
                break
            share *= 0.3
        if trial is None:
            raise IdentificationError('fit: expected a model that follows the recording, found '
                                      'that it diverges from every guess tried; check units and '
                                      'signs of efforts, and the first guess of the robot')
        shift = max(_shift(line, share * way, levels.of(run)) for run, line, way in
                    zip(runs, lines, ways, strict=True))
        change = share * change
        z, lines, found = z + change, moved, trial
        deviations = FisherInformation(parameters, z, information).deviations
        size = float(np.max(np.abs(wanted) / np.maximum(deviations, 1e-12))) if len(z) else 0.0
        report(f'round {done}: cost {_cost(found):.6g}, largest step '
               f'{size:.2g} standard errors')
        calm = calm + 1 if size < CLOSE and shift < STILL else 0
        if calm >= 2 and settled:
            converged = True
            break
    information = sum((one.information for one in found), np.zeros((len(z), len(z))))
    information = information + np.diag(parameters.prior(z)[0])
    return Estimate(parameters, z, FisherInformation(parameters, z, information), levels,
                    list(runs), lines, found, weights, done, converged)


def _cost(found: Sequence[FilteredRun]) -> float:
    return sum(one.cost for one in found)


def _about(model: Model, parameters: ParameterSet, z: Array, run: PreparedRun,
           step: float) -> LinearizedRun:
    n = model.n
    return linearize(model, parameters, z, run.inputs, run.states[:, :n], run.states[:, n:],
                     run.channels, run.offsets, step)


def _bounded(run: PreparedRun, states: Array) -> Array:
    """States (N, s) whose links swing no further than some times what their energy allows: where
    the model cannot follow, motions that no sensor sees would grow without end."""
    reach = FURTHEST * np.sqrt(run.start.covariance.diagonal())
    free = np.zeros(len(reach), dtype=bool)
    half, joints = len(reach) // 2, run.inputs.effort.shape[1]
    free[:joints] = free[half:half + joints] = True
    middle = np.where(free, 0.0, run.start.mean)
    found: Array = np.where(free, states, np.clip(states, middle - reach, middle + reach))
    return found


def _shift(line: LinearizedRun, way: Array, noise: Noise) -> float:
    """By how much a change of the states moves the readings, rms by their noise."""
    moved = np.einsum('kms,ks->km', line.H, way) / noise.readings
    return float(np.sqrt((moved**2).mean(axis=0)).max())


def _settled(model: Model, parameters: ParameterSet, z: Array, runs: Sequence[PreparedRun],
             lines: list[LinearizedRun], levels: NoiseLevels, step: float) -> list[LinearizedRun]:
    """The runs about the states that readings tell under these parameters: first as if efforts
    were hardly known, for which a nominal run far from a motion is near enough."""
    still = np.zeros(len(z))
    for one in (*[NoiseLevels(runs, levels.given)] * 2, levels):
        for run, line in zip(runs, lines, strict=True):
            run.states[:] = _bounded(run, run.states + smooth_run(
                line, run.readings, still, one.of(run), run.start, run.states[0]))
        lines = [_about(model, parameters, z, run, step) for run in runs]
    return lines


def _filtered(runs: Sequence[PreparedRun], lines: Sequence[LinearizedRun], levels: NoiseLevels,
              weights: Sequence[Array | None]) -> list[FilteredRun]:
    return [filter_run(line, run.readings, levels.of(run), run.start, run.states[0], weight)
            for run, line, weight in zip(runs, lines, weights, strict=True)]


def _weights(run: PreparedRun, line: LinearizedRun, found: FilteredRun) -> Array | None:
    """Of the readings (N, m), by sample; None if none lies far out.

    A misfit of the model is no outlier: weights are given only where few readings lie far out.
    """
    size = np.abs(found.whitened)
    far = size > FAR
    if not far.any() or np.nanmean(far[np.isfinite(size)]) > 0.02:
        return None
    weights = np.ones(run.readings.shape)
    for i in range(size.shape[1]):
        rows = np.flatnonzero(far[:, i])
        weights[line.source[rows, i], i] = FAR / size[rows, i]
    return weights


def _step(parameters: ParameterSet, z: Array, found: Sequence[FilteredRun], low: Array,
          high: Array, trust: float) -> tuple[Array, Array, Array]:
    """Information (p, p), the change of z of Gauss and Newton within bounds and trust region, and
    what it would be within bounds only."""
    p = len(z)
    if not p:
        return np.zeros((0, 0)), np.zeros(0), np.zeros(0)
    prior, away = parameters.prior(z)
    matrix = sum((one.information for one in found), np.zeros((p, p))) + np.diag(prior)
    vector = sum((one.gradient for one in found), np.zeros(p)) + prior * away
    # What is not logarithmic has no natural size: only its information limits it.
    logarithmic = np.array([one.logarithmic for one in parameters.parameters])
    widest = np.where(logarithmic, trust, np.inf)
    # What is hardly told moves little in a round: Levenberg's damping.
    damping = np.where(logarithmic, 1.0, 0.01) / trust**2
    return (matrix, _within(matrix + np.diag(damping), vector, low - z, high - z, widest),
            _within(matrix, vector, low - z, high - z, np.full(p, np.inf)))


def _within(matrix: Array, vector: Array, low: Array, high: Array, widest: Array) -> Array:
    """x of least x'Mx/2 - vector.x within low, high and +-widest."""
    scale = 1.0 / np.sqrt(np.maximum(matrix.diagonal(), 1e-300))
    squares, vectors = np.linalg.eigh(scale[:, None] * matrix * scale)
    roots = np.sqrt(np.maximum(squares, 1e-12))
    least, most = np.maximum(low, -widest), np.minimum(high, widest)
    # In numbers of one scale, for the solver's tolerances.
    found = lsq_linear(roots[:, None] * vectors.T, (vectors.T @ (scale * vector)) / roots,
                       bounds=(np.minimum(least / scale, -1e-12),
                               np.maximum(most / scale, 1e-12))).x
    change: Array = np.clip(scale * found, least, most)
    return change
