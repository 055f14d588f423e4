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
"""What a run can tell of parameters: Fisher information, standard errors, what cannot be told.

With slopes of the innovations, the information is the sum of slope slope' / variance over all
readings, plus that of the priors (filtered_run.py). A direction of z whose standard deviation is
above LOOSE is not told: a quarter of a value, for which no interval of 95 % would be right.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flex_dynamics import Model, Simulation
from flex_dynamics.arrays import Array
from flex_identification.prediction.filtered_run import (
    Noise,
    Start,
    filter_run,
    start_of,
)
from flex_identification.prediction.linearized_run import STEP, Inputs, linearize, model_with
from flex_identification.prediction.parameters import ParameterSet

LOOSE = 0.25
PART = 0.3         # of the largest component: who takes part in a direction


@dataclass(frozen=True)
class NullDirection:
    """Parameters that data cannot tell, or not tell apart; components as powers or multiples.

    left_out: the one whose value must be known for the others to be found.
    """

    paths: tuple[str, ...]
    components: tuple[float, ...]
    deviation: float
    left_out: str
    text: str


@dataclass(frozen=True)
class FisherInformation:
    """Information (p, p) on z of a set of parameters at z (p,), with that of the priors."""

    parameters: ParameterSet
    z: Array
    matrix: Array

    @property
    def covariance(self) -> Array:
        """Of z (p, p); infinite where nothing is told."""
        p = len(self.z)
        scale = 1.0 / np.sqrt(np.maximum(self.matrix.diagonal(), 1e-300))
        squares, vectors = np.linalg.eigh(scale[:, None] * self.matrix * scale)
        inverse = np.where(squares > 1e-13 * p, 1.0 / np.maximum(squares, 1e-300), 1e30)
        found: Array = scale[:, None] * ((vectors * inverse) @ vectors.T) * scale
        return found

    @property
    def deviations(self) -> Array:
        """Standard errors of z (p,)."""
        found: Array = np.sqrt(self.covariance.diagonal())
        return found

    def standard_errors(self) -> dict[str, float]:
        """By path, in the parameter's unit."""
        return {one.path: float(one.slope(z) * deviation) for one, z, deviation in
                zip(self.parameters.parameters, self.z, self.deviations, strict=True)}

    def relative_errors(self) -> dict[str, float]:
        """Standard errors by the size of the value; infinite where that is zero."""
        values = self.parameters.values(self.z)
        return {path: error / abs(values[path]) if values[path] else np.inf
                for path, error in self.standard_errors().items()}

    def correlations(self) -> Array:
        """Of the estimates (p, p)."""
        covariance = self.covariance
        scale = 1.0 / np.sqrt(covariance.diagonal())
        found: Array = scale[:, None] * covariance * scale
        return found

    def null_directions(self, loose: float = LOOSE) -> list[NullDirection]:
        """What is not told, one direction after the other, in words."""
        left = list(range(len(self.z)))
        paths = self.parameters.paths
        found = []
        for k in list(left):
            own = self.matrix[k, k]
            if own < 1.0 / loose**2:
                deviation = 1.0 / np.sqrt(max(own, 1e-300))
                left.remove(k)
                found.append(NullDirection((paths[k],), (1.0,), deviation, paths[k], (
                    f'{paths[k]} does not show in these data'
                    f'{_size(self, k, deviation)}; it stays at its given value. Move so that it '
                    'matters, add a sensor that shows it, or leave it out')))
        while left:
            part = self.matrix[np.ix_(left, left)]
            squares, vectors = np.linalg.eigh(part)
            deviation = 1.0 / np.sqrt(max(squares[0], 1e-300))
            if deviation <= loose:
                break
            weight = vectors[:, 0] / vectors[np.argmax(np.abs(vectors[:, 0])), 0]
            inside = [j for j in np.argsort(-np.abs(weight)) if abs(weight[j]) > PART]
            names = tuple(paths[left[j]] for j in inside)
            parts = tuple(float(weight[j]) for j in inside)
            found.append(NullDirection(names, parts, deviation, names[0], _text(
                self, [left[j] for j in inside], parts, names, deviation)))
            left.remove(left[inside[0]])
        return found


def fisher_information(model: Model, parameters: ParameterSet, inputs: Inputs, q: Array, v: Array,
                       channels: Sequence[str], noise: Noise,
                       step: float = STEP) -> FisherInformation:
    """What a planned run would tell: the motion from q, v (n,) under the given efforts.

    Parameters
    ----------
    model : Model
    parameters : ParameterSet
        At its starts; its priors count.
    inputs : Inputs
        Stamps (N,) s, and efforts (N, n_joints) from each stamp to the next.
    q, v : array, shape (n,)
        First state, known as start_of has it.
    channels : sequence of str
        Readings (m), such as position/joint1.
    noise : Noise

    Examples
    --------
    >>> import numpy as np
    >>> chosen = ParameterSet.of(model, ['link1.bending_stiffness_z', 'joint1.damping'])
    >>> time = 0.002 * np.arange(500)
    >>> inputs = Inputs(time, np.sin(8.0 * time)[:, None])
    >>> noise = Noise(np.array([0.01]), np.array([1e-4]))
    >>> told = fisher_information(model, chosen, inputs, np.zeros(model.n), np.zeros(model.n),
    ...                           ['position/joint1'], noise)
    >>> told.standard_errors()['joint1.damping'] > 0.0
    True
    """
    z = parameters.start()
    run = simulated(model_with(model, parameters, z), inputs, q, v, step)
    n = model.n
    lines = linearize(model, parameters, z, inputs, run[:, :n], run[:, n:], channels, step=step)
    start = start_of(model, q, np.abs(run[:, n:n + model.n_joints]).max(axis=0))
    start = Start(run[0], start.covariance)
    found = filter_run(lines, lines.predicted, noise, start, run[0])
    prior, _ = parameters.prior(z)
    return FisherInformation(parameters, z, found.information + np.diag(prior))


def simulated(model: Model, inputs: Inputs, q: Array, v: Array, step: float = STEP) -> Array:
    """States (N, 2n) at the stamps of the inputs, from q, v (n,) on."""
    run = Simulation(model, step, q, v, balance=False)
    states = np.zeros((len(inputs.time), 2 * model.n))
    states[0] = np.concatenate((run.q, run.v))
    last = 0.0
    for k, period in enumerate(np.diff(inputs.time)):
        count = max(1, int(np.ceil(period / step - 1e-6)))
        if abs(period / count - last) > 1e-9 * step:
            run.step = last = float(period / count)
        run.advance(count, inputs.effort[k])
        states[k + 1, :model.n], states[k + 1, model.n:] = run.q, run.v
    return states


def _size(told: FisherInformation, k: int, deviation: float) -> str:
    one = told.parameters.parameters[k]
    if deviation > 1e6:
        return ''
    if one.logarithmic:
        return f' (standard error a factor of {np.exp(min(deviation, 50.0)):.3g})'
    return f' (standard error {deviation * one.scale:.3g} {one.unit})'.replace(' )', ')')


def _text(told: FisherInformation, columns: list[int], parts: tuple[float, ...],
          names: tuple[str, ...], deviation: float) -> str:
    if len(names) == 1:
        return (f'{names[0]} is hardly told by these data{_size(told, columns[0], deviation)}; '
                'it stays at its given value')
    changes = []
    for k, part in zip(columns, parts, strict=True):
        one = told.parameters.parameters[k]
        changes.append(f'{one.path} by {part:+.0%}' if one.logarithmic else
                       f'{one.path} by {part * one.scale:+.3g} {one.unit}'.rstrip())
    listed = f'{", ".join(names[:-1])} and {names[-1]}'
    advice = ''
    if any('mass' in name or 'inertia' in name or 'centre' in name for name in names):
        advice = ', or add a run with another known payload or without one'
    return (f'{listed} cannot be separated in these data: to change {", ".join(changes)} changes '
            f'nothing that is seen; fix one of them, give it a prior{advice}')
