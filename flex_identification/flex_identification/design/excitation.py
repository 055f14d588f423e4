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
"""Motions that tell the wanted parameters best: optimal excitation within the limits.

Random Fourier series are tried, and the best is improved by small changes. What each would tell is
the Fisher information of the simulated run with its controller (prediction/fisher.py). criterion
'D' minimises the volume of the confidence ellipsoid, 'A' the sum of the relative variances.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from flex_control import MotionLimits, make_controller, run_trial
from flex_dynamics import DynamicsError, Model, Sensors
from flex_dynamics.arrays import Array
from flex_identification.design.fourier_motion import FourierMotion
from flex_identification.errors import IdentificationError
from flex_identification.prediction.filtered_run import Noise, Start, filter_run, start_of
from flex_identification.prediction.fisher import FisherInformation
from flex_identification.prediction.linearized_run import Inputs, LinearizedRun, linearize
from flex_identification.prediction.parameters import ParameterSet

SAMPLE = 0.01          # s, of the runs that are compared
STEP = 1e-3            # s, of the integrator
STAGNANT = 0.3         # of the amplitudes, by which the best is changed
TURNED = 1.0           # N m or N: an unknown effort limit counts as this times EFFORT
ERROR = 1e-3           # of a joint's effort limit, white error of its efforts
DEVIATIONS = {'position': 1e-4, 'velocity': 1e-2, 'strain': 2e-6, 'gyro': 5e-3,
              'acceleration': 5e-2, 'tip': 1e-3}


@dataclass(frozen=True)
class PlannedRun:
    """A run that was simulated for its information: what happens, linearised."""

    lines: LinearizedRun
    start: Start
    first: Array
    channels: tuple[str, ...]


@dataclass(frozen=True)
class ExcitationPlan:
    """The motion, what it tells, and what a run without it, the first that was tried, told."""

    motion: FourierMotion
    told: FisherInformation
    first_told: FisherInformation
    tried: int


def all_channels(model: Model) -> tuple[str, ...]:
    """Encoders, gauges and IMUs of the robot."""
    sensors = Sensors(model)
    names = [f'{kind}/{joint}' for kind in ('position', 'velocity') for joint in model.joint_names]
    names += [f'strain/{gauge}' for gauge in sensors.gauge_names]
    names += [f'{kind}/{imu}/{axis}' for imu in sensors.imu_names
              for kind in ('gyro', 'acceleration') for axis in 'xyz']
    return tuple(names)


def usual_noise(model: Model, channels: Sequence[str]) -> Noise:
    """Errors of efforts and readings where nobody says better."""
    limits = model.joint_limits.effort
    largest = np.where(np.isfinite(limits), limits, 1e3 * TURNED)
    return Noise(ERROR * largest,
                 np.array([DEVIATIONS[one.partition('/')[0]] for one in channels]))


def planned_run(model: Model, parameters: ParameterSet, motion: FourierMotion,
                channels: Sequence[str]) -> PlannedRun:
    """Follow a motion by pd; DynamicsError or ControlError if that fails."""
    controller = make_controller('pd', model)
    trial = run_trial(controller, motion.trajectory(), motion.duration, period=SAMPLE, step=STEP,
                      tip=model.robot.links[-1].name)
    inputs = Inputs(trial.time, trial.effort)
    z = parameters.start()
    lines = linearize(model, parameters, z, inputs, trial.q, trial.v, channels, step=5.0 * STEP)
    speed = np.abs(trial.v[:, :model.n_joints]).max(axis=0)
    first = np.concatenate((trial.q[0], trial.v[0]))
    start = Start(first, start_of(model, trial.q[0], speed).covariance)
    return PlannedRun(lines, start, first, tuple(channels))


def information(parameters: ParameterSet, run: PlannedRun, noise: Noise,
                chosen: Sequence[int] | None = None) -> FisherInformation:
    """What the run tells by all its channels, or by those at `chosen`."""
    lines, deviations = run.lines, np.asarray(noise.readings)
    at = list(range(len(deviations))) if chosen is None else list(chosen)
    z = parameters.start()
    # Efforts are those at each sample, the drives' included: the nominal states are the run's own.
    still = LinearizedRun(lines.F, np.zeros_like(lines.d), lines.G, lines.B,
                          lines.predicted[:, at], lines.H[:, at], lines.J[:, at],
                          lines.source[:, at])
    found = filter_run(still, still.predicted, Noise(noise.effort, deviations[at]),
                       run.start, run.first)
    prior, _ = parameters.prior(z)
    return FisherInformation(parameters, z, found.information + np.diag(prior))


def loss(told: FisherInformation, criterion: str = 'D') -> float:
    """What is minimised: half the logarithm of the volume, or the root of the mean variance."""
    matrix = told.matrix + 1e-9 * np.eye(len(told.z))
    if criterion == 'D':
        return float(-0.5 * np.linalg.slogdet(matrix)[1])
    return float(np.log(np.trace(np.linalg.inv(matrix))) / 2.0)


def plan_excitation(model: Model, parameters: ParameterSet, duration: float = 5.0, *,
                    start: Array | None = None, channels: Sequence[str] = (),
                    noise: Noise | None = None, criterion: str = 'D', tries: int = 12,
                    harmonics: int = 5, seed: int = 0,
                    progress: Callable[[int, int, float], None] = lambda *_: None
                    ) -> ExcitationPlan:
    """The motion of `duration` (s) from start (n_joints,) that tells the parameters best.

    tries: motions that are simulated; half of them at random, the others near the best. progress
    is called after each with its number, how many there are, and the best loss.
    """
    if criterion not in ('D', 'A'):
        raise IdentificationError(f"criterion: expected 'D' or 'A', found {criterion!r}")
    if not 0.1 <= duration <= 600.0:
        raise IdentificationError(f'duration: expected 0.1 to 600 s, found {duration:g}')
    if tries < 1 or harmonics < 1:
        raise IdentificationError('tries and harmonics: expected whole numbers from 1 on, found '
                                  f'{tries} and {harmonics}')
    limits = MotionLimits.of(model.robot, model.joint_names)
    begin = np.zeros(model.n_joints) if start is None else np.asarray(start, dtype=float)
    if not ((limits.lower < begin) & (begin < limits.upper)).all():
        raise IdentificationError('start: expected joints within their limits, with room on both '
                                  f'sides, found {np.round(begin, 3).tolist()}')
    channels = tuple(channels) or all_channels(model)
    noise = noise or usual_noise(model, channels)
    random = np.random.default_rng(seed)
    shape = (2, model.n_joints, harmonics)
    best: tuple[float, FourierMotion, FisherInformation] | None = None
    first: FisherInformation | None = None
    problem = ''
    for k in range(tries):
        fresh = random.standard_normal(shape)
        if best is not None and k >= (tries + 1) // 2:
            size = np.abs(best[1].coefficients).max(axis=(0, 2), keepdims=True)
            fresh = best[1].coefficients + STAGNANT * size * fresh
        motion = FourierMotion(begin, fresh, duration).scaled_to(limits)
        try:
            told = information(parameters, planned_run(model, parameters, motion, channels), noise)
        except (DynamicsError, ValueError) as error:
            problem = str(error)
            continue
        first = first or told
        value = loss(told, criterion)
        if best is None or value < best[0]:
            best = value, motion, told
        progress(k + 1, tries, best[0])
    if best is None or first is None:
        raise IdentificationError(f'no motion could be simulated: {problem}')
    return ExcitationPlan(best[1], best[2], first, tries)
