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
"""The whole way from recordings to parameters with intervals, and what cannot be told."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from flex_dynamics import Model, model_parameters
from flex_dynamics.arrays import Array
from flex_identification.data.plausibility import refuse_implausible
from flex_identification.data.recording import Recording
from flex_identification.errors import IdentificationError
from flex_identification.fit.diagnostics import (
    ASKED,
    Missing,
    is_coloured,
    missing_parameters,
    robust_deviations,
    whiteness,
)
from flex_identification.fit.estimate import Estimate, estimate
from flex_identification.fit.noise_levels import NoiseLevels
from flex_identification.fit.prepared_run import HOLDS, PreparedRun, prepare
from flex_identification.prediction.filtered_run import filter_run
from flex_identification.prediction.fisher import FisherInformation, NullDirection
from flex_identification.prediction.linearized_run import STEP, linearize, model_with
from flex_identification.prediction.parameters import (
    COMMON_DELAY,
    ParameterSet,
    Prior,
    is_sensor_path,
)

COARSE = 2000            # samples that the first rounds look at
BEST_EFFORT = 0.05       # of the first guess of the efforts' errors
WITHHELD = 0.2           # of each run, at its end
LEAST_WITHHELD = 100     # samples
BETTER = 50.0            # by how much of cost a trial must be better
MOST_STATES = 4e8        # bytes of the slopes of a run, for one array

Progress = Callable[[str], None]


@dataclass(frozen=True)
class FittedParameter:
    """A result. status: 'fitted', 'not told' (it stays at its given value), 'only together' (its
    value holds if another one, which data cannot tell, is right), 'at its bound', 'not converged'
    (no value of the fit is to be trusted)."""

    path: str
    value: float
    unit: str
    given: float
    standard_error: float
    low: float
    high: float
    status: str


@dataclass(frozen=True)
class Identification:
    """What was found: parameters by path, what could not be told, and how far to trust it.

    model: with the fitted values. directions: what the data cannot tell. correlations (p, p) of
    the fitted ones, in the order of `fitted`. white: channel to rms of whitened innovations and
    their worst autocorrelation. withheld: channel to the same rms on data that was not fitted, and
    the part of the signal's variance that one-step predictions explain.
    """

    model: Model
    parameters: tuple[FittedParameter, ...]
    fitted: tuple[str, ...]
    correlations: Array
    directions: tuple[NullDirection, ...]
    missing: tuple[Missing, ...]
    white: Mapping[str, tuple[float, float]]
    withheld: Mapping[str, tuple[float, float]]
    noise: Mapping[str, float]
    effort_noise: Mapping[str, float]
    warnings: tuple[str, ...]
    estimate: Estimate = field(repr=False)

    def value(self, path: str) -> FittedParameter:
        """The result of a path."""
        for one in self.parameters:
            if one.path == path:
                return one
        raise IdentificationError(f'{path}: expected a parameter of the fit '
                                  f'({", ".join(one.path for one in self.parameters)})')

    def overlay(self) -> dict[str, dict[str, dict[str, float]]]:
        """What load_robot takes as an overlay: values of links and joints that were told."""
        found: dict[str, dict[str, float]] = {}
        for one in self.parameters:
            owner, _, what = one.path.rpartition('.')
            if one.status in ('fitted', 'at its bound') and not (
                    is_sensor_path(one.path) or one.path == COMMON_DELAY
                    or owner in self.model.payloads or owner == 'gravity'):
                found.setdefault(owner, {})[what] = float(f'{one.value:.10g}')
        return {'identified': found}


def default_paths(model: Model, recordings: Sequence[Recording]) -> list[str]:
    """What is fitted if nobody says: stiffness, damping and friction of links and joints, biases
    of gauges, and a delay of all readings."""
    wanted = ('bending_stiffness_y', 'bending_stiffness_z', 'twist_stiffness', 'damping',
              'friction')
    known = model_parameters(model)
    elastic = {joint.name for joint in model.robot.joints if joint.flexible is not None}
    paths = [path for path in known if path.rpartition('.')[2] in wanted
             or (path.rpartition('.')[0] in elastic and path.endswith('.stiffness'))]
    gauges = {f'strain/{name}.bias' for one in recordings for name in one.of_kind('strain')}
    return [*paths, *sorted(gauges), COMMON_DELAY]


def identify(model: Model, recordings: Sequence[Recording], paths: Sequence[str] | None = None, *,
             priors: Mapping[str, Prior] | None = None,
             bounds: Mapping[str, tuple[float, float]] | None = None,
             ties: Mapping[str, Sequence[str]] | None = None, hold: str = '',
             step: float = STEP, withhold: float = WITHHELD,
             progress: Progress | None = None) -> Identification:
    """Find parameters of a robot from recordings.

    Parameters
    ----------
    model : Model
        The first guess; what is not fitted is taken from it.
    recordings : sequence of Recording
    paths : sequence of str, optional
        Parameters to fit (prediction/parameters.py); default: default_paths.
    priors, bounds, ties : mappings by path, optional
        As ParameterSet.of takes them.
    hold : str
        How measured efforts run between samples: 'linear', 'next', 'previous'; default: what fits
        best.
    step : float
        s, longest step of the integrator.
    withhold : float
        Share of each run, at its end, that is not fitted but predicted.
    progress : function of a str, optional

    Raises
    ------
    IdentificationError
        Where recordings do not fit the robot, or tell nothing of any parameter.

    Examples
    --------
    >>> found = identify(model, [run], ['link1.bending_stiffness_z'])    # doctest: +SKIP
    >>> found.value('link1.bending_stiffness_z').value                   # doctest: +SKIP
    """
    report = progress or (lambda text: None)
    if not recordings:
        raise IdentificationError('recordings: expected at least one, found none')
    if model.robot.constraints:
        raise IdentificationError(f'robot {model.robot.name}: expected one without loops, wheels '
                                  'and supports, found some; their motion is not differentiated '
                                  'through time')
    if not 0.0 <= withhold <= 0.5:
        raise IdentificationError(f'withhold: expected 0 to 0.5, found {withhold:g}')
    warnings: list[str] = []
    noise: dict[str, float] = {}
    for one in recordings:
        warnings += [*one.warnings, *refuse_implausible(one, model)]
        noise.update(one.noise)
    given = ParameterSet.of(model, default_paths(model, recordings) if paths is None else paths,
                            priors=priors, bounds=bounds, ties=ties)
    holds = [hold] if hold else list(HOLDS) if any(
        one.of_kind('effort') for one in recordings) else ['previous']
    runs, kept = _split(model, recordings, holds[0], withhold)
    for run in runs:
        size = 8.0 * len(run.readings) * (2 * model.n) * max(2 * model.n, len(run.channels))
        if size > MOST_STATES:
            raise IdentificationError(
                f'{run.name}: expected at most {int(len(run.readings) * MOST_STATES / size)} '
                f'samples of a robot with {model.n} coordinates, found {len(run.readings)}; take '
                'a part, or fewer samples a second')
    chosen, z = given, given.start()
    report(f'{sum(len(run.readings) for run in runs)} samples in {len(runs)} runs, '
           f'{len(given)} parameters')
    coarse = [_busiest(run) for run in runs][:4]
    chosen, z, directions = _without_blind(model, coarse, chosen, z, noise, step)
    report('first rounds, on the part that moves most')
    found, hold = _first_rounds(model, coarse, recordings, chosen, z, noise, holds, withhold,
                                step, report)
    first = found
    while True:
        nulls = found.information.null_directions() if found.converged else []
        if not nulls:
            break
        directions += nulls
        for null in nulls:
            report(f'left out: {null.text}')
        chosen, z = found.parameters.without([null.left_out for null in nulls], found.z)
        z = np.clip(z, *chosen.bounds())
        there = model_with(model, chosen, z)
        found = estimate(there, found.runs, chosen, noise, z=z, step=step, progress=report)
    if not len(found.parameters):
        raise IdentificationError('expected recordings that tell at least one parameter, found '
                                  'that they tell none: ' + '; '.join(
                                      one.text for one in directions[:3]))
    if hold != holds[0]:
        runs, kept = _split(model, recordings, hold, withhold)
    if sum(len(run.readings) for run in found.runs) < sum(len(run.readings) for run in runs):
        report('all samples')
        found = estimate(model, runs, found.parameters, noise, z=found.z, step=step,
                         progress=report)
    if not found.converged:
        warnings.append(f'the fit did not converge in {found.rounds} rounds: no value of it is '
                        'to be trusted, and none is in the overlay')
    fitted = model_with(model, found.parameters, found.z)
    report('checks')
    missing = missing_parameters(fitted, found, step)
    deviations = found.information.deviations
    coloured = is_coloured(found)
    if coloured or not found.converged:
        report('a trial with friction')
        trial = _trial(model, first, noise, step)
        missing = [*trial, *(one for one in missing if one.path not in {
            other.path for other in trial})]
    if coloured:
        wide = robust_deviations(found)
        factor = float(np.max(wide / deviations))
        deviations = np.maximum(deviations, wide)
        worst = max(coloured, key=lambda name: abs(coloured[name]))
        warnings.append(
            f'residuals are not white (autocorrelation {coloured[worst]:.2f} in {worst}): '
            'the model lacks something; standard errors were widened by their correlation, by up '
            f'to {max(factor, 1.0):.2g}')
    for lack in missing[:3]:
        what = 'Coulomb friction' if lack.path.endswith('.friction') else lack.path.rpartition(
            '.')[2].replace('_', ' ')
        warnings.append(f'{lack.path}: {what} is in the data but not in the fit: a value of about '
                        f'{lack.value:.3g} {lack.unit} in place of {lack.given:.3g} is asked for '
                        f'by {lack.score:.0f} standard deviations; add it to the parameters')
    results = _results(given, found, deviations, directions)
    for result in results:
        if result.status == 'at its bound':
            warnings.append(f'{result.path} ends at its bound {result.value:g} {result.unit}')
    return Identification(
        fitted, tuple(results), found.parameters.paths, found.information.correlations(),
        tuple(directions), tuple(missing), whiteness(found),
        _predicted(fitted, kept, found, step), dict(found.levels.readings),
        dict(zip(model.names, found.levels.effort.tolist(), strict=False)), tuple(warnings), found)


def _split(model: Model, recordings: Sequence[Recording], hold: str,
           withhold: float) -> tuple[list[PreparedRun], list[PreparedRun]]:
    """Runs to fit, and what is kept from them."""
    runs, kept = [], []
    for one in recordings:
        for run in prepare(model, one, hold):
            N = len(run.readings)
            last = int(withhold * N)
            if last < LEAST_WITHHELD:
                last = 0
            runs.append(run.part(0, N - last))
            if last:
                kept.append(run.part(N - last, N))
    return runs, kept


def _busiest(run: PreparedRun) -> PreparedRun:
    N, s = run.states.shape
    if N <= COARSE:
        return run.part(0, N)
    speed = np.abs(run.states[:, s // 2:]).sum(axis=1)
    sums = np.cumsum(np.append(0.0, speed))
    begin = int(np.argmax(sums[COARSE:] - sums[:-COARSE]))
    return run.part(begin, begin + COARSE)


def _without_blind(model: Model, runs: list[PreparedRun], chosen: ParameterSet, z: Array,
                   noise: Mapping[str, float],
                   step: float) -> tuple[ParameterSet, Array, list[NullDirection]]:
    """Without parameters that leave no trace in the readings even if efforts were known to 1 %
    and the links moved as they are guessed to."""
    levels = NoiseLevels(runs, noise)
    levels.effort = BEST_EFFORT * levels.effort
    matrix = np.diag(chosen.prior(z)[0])
    for run in runs:
        line = linearize(model, chosen, z, run.inputs, run.states[:, :model.n],
                         run.states[:, model.n:], run.channels, run.offsets, step)
        matrix = matrix + filter_run(line, run.readings, levels.of(run), run.start,
                                     run.states[0]).information
    told = FisherInformation(chosen, z, matrix)
    blind = [one for one in told.null_directions() if len(one.paths) == 1]
    left, z = chosen.without([one.left_out for one in blind], z)
    return left, z, blind


def _first_rounds(model: Model, coarse: list[PreparedRun], recordings: Sequence[Recording],
                  chosen: ParameterSet, z: Array, noise: Mapping[str, float], holds: list[str],
                  withhold: float, step: float, report: Progress) -> tuple[Estimate, str]:
    """The fit to a part of the data, and how efforts run between samples."""
    best = estimate(model, coarse, chosen, noise, z=z, step=step, progress=report)
    taken = holds[0]
    for hold in holds[1:]:
        others = [_busiest(run) for run in _split(model, recordings, hold, withhold)[0]][:4]
        for one, other in zip(best.runs, others, strict=True):
            other.states[:] = one.states
        found = estimate(model, others, chosen, noise, z=best.z, step=step, rounds=8,
                         levels=_levels(others, noise, best))
        if found.cost < best.cost - 10.0:
            best, taken = found, hold
    if len(holds) > 1:
        report(f'efforts between samples: {taken}')
    return best, taken


def _trial(model: Model, found: Estimate, noise: Mapping[str, float],
           step: float) -> list[Missing]:
    """Friction of joints that is not in the fit but makes it much better: by a fit that has it,
    from where the fit without it ended. Friction that is missing colours all residuals, so that no
    score at that end can be trusted."""
    known = model_parameters(model)
    taken = found.parameters.values(found.z)
    paths = [f'{name}.{what}' for name in model.names[:model.n_joints]
             for what in ('friction', 'damping')
             if f'{name}.{what}' in known and f'{name}.{what}' not in taken]
    if not paths:
        return []
    more = ParameterSet.of(model, paths)
    both = ParameterSet([*found.parameters.parameters, *more.parameters])
    try:
        copies = [run.part(0, len(run.readings)) for run in found.runs]
        tried = estimate(model, copies, both, noise,
                         z=np.concatenate((found.z, more.start())), step=step)
    except IdentificationError:
        return []
    if tried.cost > found.cost - BETTER:
        return []
    asked = []
    for k, one in enumerate(more.parameters, len(found.z)):
        value = one.from_z(tried.z[k])
        error = one.slope(tried.z[k]) * tried.information.deviations[k]
        score = abs(value - one.value) / error
        if score > ASKED:
            asked.append(Missing(one.path, float(score), value, one.value, one.unit))
    return sorted(asked, key=lambda one: -one.score)


def _levels(runs: list[PreparedRun], noise: Mapping[str, float],
            found: Estimate) -> NoiseLevels:
    levels = NoiseLevels(runs, noise)
    levels.effort = found.levels.effort.copy()
    for name in levels.readings:
        levels.readings[name] = found.levels.readings.get(name, levels.readings[name])
    return levels


def _results(given: ParameterSet, found: Estimate, deviations: Array,
             directions: list[NullDirection]) -> list[FittedParameter]:
    together = {path for one in directions for path in one.paths if len(one.paths) > 1}
    results = []
    columns = {path: k for k, path in enumerate(found.parameters.paths)}
    for one in given.parameters:
        if one.path not in columns:
            results.append(FittedParameter(one.path, one.value, one.unit, one.value, np.inf,
                                           one.low, one.high, 'not told'))
            continue
        k = columns[one.path]
        value, error = one.from_z(found.z[k]), one.slope(found.z[k]) * deviations[k]
        bound = value <= one.low + 1e-9 * one.scale or value >= one.high * (1.0 - 1e-9)
        status = 'at its bound' if bound else 'fitted'
        if one.path in together or not found.converged:
            status = 'only together' if found.converged else 'not converged'
        results.append(FittedParameter(one.path, value, one.unit, one.value, float(error),
                                       *one.interval(found.z[k], deviations[k]), status))
    return results


def _predicted(model: Model, kept: list[PreparedRun], found: Estimate,
               step: float) -> dict[str, tuple[float, float]]:
    """Of data that was not fitted, by channel: rms of whitened innovations, and the share of the
    signal that predictions one sample ahead explain."""
    if not kept:
        return {}
    sensors = {path for path in found.parameters.paths
               if is_sensor_path(path) or path == COMMON_DELAY}
    values = found.parameters.values(found.z)
    held = ParameterSet([replace(one, value=values[one.path], low=values[one.path],
                                 high=values[one.path]) for one in found.parameters.parameters
                         if one.path in sensors])
    there = estimate(model, kept, held, step=step, levels=found.levels, rounds=12,
                     find_noise=False)
    result = {}
    for channel in found.levels.channels:
        errors, sizes, measured = [], [], []
        for run, one in zip(there.runs, there.filtered, strict=True):
            if channel in run.channels:
                i = run.channels.index(channel)
                errors.append(one.errors[10:, i])
                sizes.append(one.whitened[10:, i])
                measured.append(run.readings[10:, i])
        if errors and np.isfinite(np.concatenate(errors)).any():
            variance = float(np.nanvar(np.concatenate(measured)))
            explained = 1.0 - float(np.nanmean(np.concatenate(errors)**2)) / max(variance, 1e-300)
            result[channel] = float(np.sqrt(np.nanmean(np.concatenate(sizes)**2))), explained
    return result
