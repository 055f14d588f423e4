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
"""How large the errors of efforts and readings are: by maximum likelihood of the innovations.

A fit that takes them for smaller than they are states standard errors that are too small. At a
wrong guess of the parameters the likelihood finds them large, so that the first steps of the fit
look only a short time ahead; as the parameters come right they shrink.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.optimize import minimize

from flex_dynamics.arrays import Array
from flex_identification.errors import IdentificationError
from flex_identification.fit.prepared_run import PreparedRun
from flex_identification.prediction.filtered_run import Noise, filter_run
from flex_identification.prediction.linearized_run import LinearizedRun

LEAST_SHARE = 1e-5      # of the range of a channel: its least noise
LEAST_EFFORT = 1e-4     # of the rms effort
SAMPLES = 2000          # of the window, for 12 states


class NoiseLevels:
    """Standard deviations by channel, and by joint of the efforts.

    given: channels whose noise is known, from the mapping.
    """

    def __init__(self, runs: Sequence[PreparedRun], given: Mapping[str, float]) -> None:
        self.channels = list(dict.fromkeys(name for run in runs for name in run.channels))
        self.given = dict(given)
        self.readings = {name: given[name] if name in given else max(
            _white(run.readings[:, run.channels.index(name)]) for run in runs
            if name in run.channels) for name in self.channels}
        self._least = {name: max(_least(run.readings[:, run.channels.index(name)])
                                 for run in runs if name in run.channels)
                       for name in self.channels}
        for name in self.channels:
            if name not in self.given:
                self.readings[name] = max(self.readings[name], 2.0 * self._least[name])
        efforts = np.concatenate([run.inputs.effort for run in runs])
        size = np.sqrt((efforts**2).mean(axis=0)) + 1e-6
        self.effort = 0.2 * size
        self._least_effort = LEAST_EFFORT * size

    def of(self, run: PreparedRun) -> Noise:
        """The noise of a run."""
        return Noise(self.effort, np.array([self.readings[name] for name in run.channels]))

    def improve(self, runs: Sequence[PreparedRun], lines: Sequence[LinearizedRun],
                weights: Sequence[Array | None], rounds: int = 6) -> float:
        """Take the levels of greatest likelihood along linearised runs; by how much -2 log
        likelihood falls."""
        free = [name for name in self.channels if name not in self.given]
        windows = [_window(run, line, weight)
                   for run, line, weight in zip(runs, lines, weights, strict=True)][:3]

        def cost(x: Array) -> float:
            self._set(x, free)
            total = 0.0
            try:
                for run, line, weight in windows:
                    total += filter_run(line, run.readings, self.of(run), run.start,
                                        run.states[0], weight, sensitivities=False).cost
            except IdentificationError:       # a covariance lost to rounding
                return 1e15
            return total

        start = np.log(np.concatenate((self.effort, [self.readings[name] for name in free])))
        low = np.log(np.concatenate((self._least_effort, [self._least[name] for name in free])))
        before = cost(start)
        found = minimize(cost, start, method='L-BFGS-B', bounds=[
            (max(a, at - 3.0), at + 3.0) for a, at in zip(low, start, strict=True)],
            options={'maxiter': rounds, 'maxfun': 400, 'eps': 1e-4})
        self._set(found.x, free)
        return before - float(found.fun)

    def _set(self, x: Array, free: Sequence[str]) -> None:
        joints = len(self.effort)
        self.effort = np.exp(x[:joints])
        for name, value in zip(free, x[joints:], strict=True):
            self.readings[name] = float(np.exp(value))


def _window(run: PreparedRun, line: LinearizedRun,
            weight: Array | None) -> tuple[PreparedRun, LinearizedRun, Array | None]:
    """The stretch of a run where the joints move most, short enough to be filtered often."""
    N, _, s = line.H.shape
    length = int(np.clip(SAMPLES * (12.0 / s)**2, 200, SAMPLES))
    if length >= N:
        return run, line, weight
    speed = np.abs(run.states[:, s // 2:]).sum(axis=1)
    sums = np.cumsum(np.append(0.0, speed))
    begin = int(np.argmax(sums[length:] - sums[:-length]))
    keep, inner = slice(begin, begin + length), slice(begin, begin + length - 1)
    source = line.source[keep] - begin
    source[(source < 0) | (source >= length)] = -1
    return (run.part(begin, begin + length), LinearizedRun(
        line.F[inner], line.d[inner], line.G[inner], line.B[inner], line.predicted[keep],
        line.H[keep], line.J[keep], source), None if weight is None else weight[keep])


def _white(values: Array) -> float:
    """Standard deviation of white noise: by third differences, which a slow motion does not
    have."""
    differences = np.diff(values, 3)
    differences = differences[np.isfinite(differences)]
    if len(differences) < 10:
        return float(np.nanstd(values)) or 1.0
    return float(np.sqrt(np.mean(differences**2) / 20.0))


def _least(values: Array) -> float:
    """Least noise: that of rounding, or a small share of the range."""
    steps = np.abs(np.diff(values[np.isfinite(values)]))
    steps = steps[steps > 0.0]
    span = float(np.nanmax(values) - np.nanmin(values)) or 1.0
    quantum = float(np.quantile(steps, 0.01)) if len(steps) else span
    coarse = len(steps) and np.mean(np.abs(steps / quantum - np.round(steps / quantum))) < 0.02
    return max(LEAST_SHARE * span, 0.2 * quantum if coarse else 0.0, 1e-12)


