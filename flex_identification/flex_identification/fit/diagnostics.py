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
"""What is wrong with a fit: residuals that are not white, and what they ask for."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from flex_dynamics import Model, model_parameters
from flex_dynamics.arrays import Array
from flex_identification.fit.estimate import Estimate
from flex_identification.prediction.filtered_run import filter_run
from flex_identification.prediction.linearized_run import STEP, linearize
from flex_identification.prediction.parameters import FitParameter, ParameterSet

LAGS = 20                # samples
COLOURED = 0.15          # an autocorrelation that matters
ASKED = 5.0              # standard deviations of the score from which a parameter is asked for
ASKABLE = ('friction', 'damping', 'motor_inertia', 'bending_stiffness_y', 'bending_stiffness_z',
           'twist_stiffness', 'stiffness', 'mass', 'mass_per_length')


@dataclass(frozen=True)
class Missing:
    """A parameter that is not in the fit and whose change the residuals ask for: by how many
    standard deviations, and roughly what value."""

    path: str
    score: float
    value: float
    given: float
    unit: str


def whiteness(found: Estimate) -> dict[str, tuple[float, float]]:
    """By channel: rms of the whitened innovations (1 if noise is right), and the largest
    autocorrelation within 20 samples."""
    result = {}
    for channel in found.levels.channels:
        squares, count, sums = 0.0, 0, np.zeros(LAGS)
        for run, one in zip(found.runs, found.filtered, strict=True):
            if channel not in run.channels:
                continue
            e = one.whitened[:, run.channels.index(channel)]
            e = np.clip(np.nan_to_num(e), -5.0, 5.0)
            squares, count = squares + float(e @ e), count + int((e != 0.0).sum())
            sums += [e[lag:] @ e[:-lag] for lag in range(1, LAGS + 1)]
        if count and squares > 0.0:
            worst = int(np.argmax(np.abs(sums)))
            result[channel] = float(np.sqrt(squares / count)), float(sums[worst] / squares)
    return result


def is_coloured(found: Estimate) -> dict[str, float]:
    """Channels whose residuals are not white, and their autocorrelation."""
    count = min(len(run.readings) for run in found.runs)
    return {name: value for name, (_, value) in whiteness(found).items()
            if abs(value) > max(COLOURED, 4.0 / np.sqrt(count))}


def robust_deviations(found: Estimate) -> Array:
    """Standard errors of z (p,) without the assumption that residuals are white: of the sum of the
    scores with their own autocovariance (Bartlett's weights), between two inverse informations."""
    p = len(found.z)
    spread = np.zeros((p, p))
    for one in found.filtered:
        e, v = np.nan_to_num(one.errors), np.where(np.isfinite(one.variances), one.variances, 1.0)
        scores = np.einsum('kip,ki->kp', one.slopes, e / v)
        lags = max(1, min(len(scores) // 10, 50))
        spread += scores.T @ scores
        for lag in range(1, lags + 1):
            part = (1.0 - lag / (lags + 1)) * scores[lag:].T @ scores[:-lag]
            spread += part + part.T
    inverse = found.information.covariance
    deviations: Array = np.sqrt(np.maximum((inverse @ spread @ inverse).diagonal(), 0.0))
    return deviations


def missing_parameters(model: Model, found: Estimate, step: float = STEP,
                       candidates: Iterable[str] | None = None) -> list[Missing]:
    """Parameters of the model that are not in the fit but that its residuals ask for.

    The score of each, freed of what the fitted ones would take up, over its standard deviation: a
    Lagrange multiplier test. model: with the parameters of the fit at their values.
    """
    known = model_parameters(model)
    taken = set(found.parameters.values(found.z))
    if candidates is None:
        candidates = [path for path in known if path.rpartition('.')[2] in ASKABLE]
    left = [path for path in candidates if path not in taken]
    if not left:
        return []
    more = ParameterSet.of(model, left)
    both = ParameterSet([*found.parameters.parameters, *more.parameters],
                        {**{path: value for path, value in found.parameters.values(
                            found.parameters.start()).items()}})
    z = np.concatenate((found.z, more.start()))
    p, size = len(found.z), len(z)
    matrix, vector = np.zeros((size, size)), np.zeros(size)
    for run, weight in zip(found.runs, found.weights, strict=True):
        n = model.n
        line = linearize(model, both, z, run.inputs, run.states[:, :n], run.states[:, n:],
                         run.channels, run.offsets, step)
        one = filter_run(line, run.readings, found.levels.of(run), run.start, run.states[0],
                         weight)
        matrix += one.information
        vector += one.gradient
    inverse = np.linalg.pinv(matrix[:p, :p], 1e-12, hermitian=True)
    asked = []
    for j, parameter in enumerate(more.parameters):
        k = p + j
        free = vector[k] - matrix[k, :p] @ inverse @ vector[:p]
        room = matrix[k, k] - matrix[k, :p] @ inverse @ matrix[:p, k]
        if room <= 1e-9 * max(matrix[k, k], 1e-300):
            continue
        change = free / room
        at_bound = not parameter.logarithmic and parameter.value <= parameter.low
        if abs(free) / np.sqrt(room) < ASKED or (at_bound and change < 0.0):
            continue
        asked.append(Missing(parameter.path, abs(free) / np.sqrt(room), _value(parameter, change),
                             parameter.value, parameter.unit))
    return sorted(asked, key=lambda one: -one.score)


def _value(parameter: FitParameter, change: float) -> float:
    return max(parameter.from_z(parameter.to_z(parameter.value) + float(np.clip(
        change, -3.0 if parameter.logarithmic else -np.inf,
        3.0 if parameter.logarithmic else np.inf))), parameter.low)
