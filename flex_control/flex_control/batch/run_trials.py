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
"""Many trials of a controller: compiled loops in threads, other controllers in processes."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flex_control.batch.control_schedule import (
    control_schedule,
    has_affine_law,
    why_not_compiled,
)
from flex_control.controllers import controller_class, make_controller
from flex_control.controllers.base import Controller
from flex_control.errors import ControlError
from flex_control.trajectories import Trajectory
from flex_control.trial import Noise, TrialResult, run_trial
from flex_dynamics import DynamicsError, Loads, Model, simulate_many, with_parameters
from flex_dynamics.simulation.batch.batch_inputs import (
    SHARE_OF_MEMORY,
    RunCount,
    free_memory,
    loads_of,
    parameters_of,
    refuse_memory,
)
from flex_dynamics.simulation.batch.observer import reading_count

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class TrialBatch:
    """Results of many trials: time (k,), q and v (runs, k, n), effort and wanted (runs, k,
    n_joints), tip (runs, k, 3) m; reasons (runs): why a run failed, '' if it did not; its numbers
    from then on are NaN."""

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    effort: np.ndarray
    wanted: np.ndarray
    tip: np.ndarray
    reasons: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.reasons)

    def trial(self, run: int) -> TrialResult:
        """One of them, as `run_trial` returns it."""
        return TrialResult(self.time, self.q[run], self.v[run], self.effort[run],
                           self.wanted[run], self.tip[run])


def run_trials(controller: str, model: Model, trajectory: Trajectory | Sequence[Trajectory],
               duration: float, *, gains: Mapping[str, Any] | None = None,
               plant: Model | None = None, parameters: Mapping[str, ArrayLike] | None = None,
               start: ArrayLike | None = None,
               wrenches: Loads | Callable[[int], Loads | None] | None = None,
               noise: Noise | None = None, runs: int | None = None, period: float = 1e-3,
               step: float = 5e-4, every: int = 1, tip: str = 'tool', workers: int | None = None,
               progress: bool | Progress | None = None) -> TrialBatch:
    """`run_trial` for many robots or motions at once.

    Parameters
    ----------
    controller : str
        Name of an installed controller. The loops of pd, lqr and lqg are compiled and run in
        threads; others run in worker processes, at the speed of Python, and so does lqg on robots
        with loops or followers and along planned motions of the tip.
    model : Model
        What the controller is told of the robot.
    trajectory : Trajectory, or one a run
        The motion.
    duration : float
        s, a multiple of the period.
    gains : mapping, optional
        Parameters of the controller.
    plant : Model, optional
        The robot as it is; default: `model`.
    parameters : mapping, optional
        What varies in the plant, by path, one number or one a run: see `with_parameters`.
    start : array-like, shape (n_joints,), optional
        Joint positions at the start, in static equilibrium; default: where the motion begins.
    wrenches : loads, or function of the number of the run to loads, optional
        Constant loads from outside.
    noise : Noise, optional
        Of the sensors, for controllers that read them; run k has the seed noise.seed + k.
    period, step : float
        s between samples, and of the integrator.
    every : int
        Samples between states of the result.
    tip : str
        Frame whose positions are in the result.
    workers : int, optional
        Threads or processes; default: one for each processor.

    Returns
    -------
    TrialBatch
        Bit-identical for any number of workers.
    """
    count = RunCount(runs)
    trajectories = [trajectory] if isinstance(trajectory, Trajectory) else list(trajectory)
    if not isinstance(trajectory, Trajectory):
        count.say('trajectory', len(trajectories))
    for number, one in enumerate(trajectories):
        if not isinstance(one, Trajectory):
            raise ControlError(f'trajectory {number}: expected a Trajectory, found {one!r}')
    robot = model if plant is None else plant
    if robot.names != model.names:
        raise ControlError('plant: expected the coordinates of the model')
    values = parameters_of(parameters, [robot], count)
    law = make_controller(controller, model, gains)
    loads = loads_of(wrenches, [robot], count.total)
    rows, odd = divmod(round(duration / period), every)
    if odd or not rows:
        raise ControlError(f'every: expected a number that divides the {round(duration / period)} '
                           f'samples of {duration:g} s, found {every}')
    refuse_memory(count.total, rows * (2 * robot.n + 2 * robot.n_joints + 3))
    if has_affine_law(law) and not any(why_not_compiled(law, one) for one in trajectories):
        return _in_threads(law, trajectories, duration, robot, parameters, start, wrenches, noise,
                           count.total, period, step, every, tip, workers, progress)
    jobs = [_Job(controller, dict(gains or {}), model, robot,
                 {path: float(array[run if len(array) > 1 else 0])
                  for path, array in values.items()},
                 trajectories[run if len(trajectories) > 1 else 0], duration, start, loads(run),
                 None if noise is None else replace(noise, seed=noise.seed + run), period, step,
                 every, tip)
            for run in range(count.total)]
    return _in_processes(jobs, workers, progress if callable(progress) else None)


def _in_threads(law: Controller, trajectories: list[Trajectory], duration: float, robot: Model,
                parameters: Mapping[str, ArrayLike] | None, start: ArrayLike | None,
                wrenches: Any, noise: Noise | None, runs: int, period: float, step: float,
                every: int, tip: str, workers: int | None,
                progress: bool | Progress | None) -> TrialBatch:
    if law.needs_measurements:
        _refuse_tables(law.model, len(trajectories), round(duration / period))
    drawn = None if noise is None or not law.needs_measurements else noise.of_readings(law.model)
    schedules = [control_schedule(law, one, duration, period=period, start=start)
                 for one in trajectories]
    begin = np.array([np.asarray(one.sample(0.0).position if start is None else start, dtype=float)
                      for one in trajectories])
    result = simulate_many(
        robot, duration, control=schedules[0] if len(schedules) == 1 else schedules,
        rest=begin[0] if len(begin) == 1 else begin, parameters=parameters, wrenches=wrenches,
        noise=drawn, runs=runs, step=step, output_step=every * period, frames=(tip,),
        threads=workers, progress=progress)
    wanted = np.array([one.position[::every] for one in schedules])
    wanted = np.broadcast_to(wanted, (runs, *wanted.shape[1:])).copy()
    wanted[np.isnan(result.q[:, :-1, 0])] = np.nan
    return TrialBatch(result.time[:-1], result.q[:, :-1], result.v[:, :-1], result.tau[:, :-1],
                      wanted, result.positions[tip][:, :-1], result.reasons)


def _refuse_tables(model: Model, motions: int, samples: int) -> None:
    """ControlError if the gains of so many filters do not fit into the memory that is free."""
    wanted = 8.0 * motions * samples * (2 * model.n + 3) * reading_count(model)
    free = SHARE_OF_MEMORY * free_memory()
    if wanted > free:
        raise ControlError(f'trajectory: expected tables of at most {free / 1e9:.3g} GB for the '
                           f'gains of the filter, found {wanted / 1e9:.3g} GB of {motions} '
                           f'motions of {samples} samples; simulate in several calls')


@dataclass(frozen=True)
class _Job:
    """All that a worker process needs for one trial."""

    controller: str
    gains: dict[str, Any]
    model: Model
    plant: Model
    parameters: dict[str, float]
    trajectory: Trajectory
    duration: float
    start: ArrayLike | None
    loads: Loads | None
    noise: Noise | None
    period: float
    step: float
    every: int
    tip: str

    def run(self) -> tuple[TrialResult | None, str]:
        try:
            plant = with_parameters(self.plant, self.parameters)
            law = make_controller(self.controller, self.model, self.gains)
            loads = self.loads
            trial = run_trial(law, self.trajectory, self.duration, plant=plant, start=self.start,
                              period=self.period, step=self.step,
                              loads=None if loads is None else lambda time: loads,
                              noise=self.noise, tip=self.tip)
        except (ControlError, DynamicsError) as error:
            return None, str(error)
        keep = slice(None, None, self.every)
        return TrialResult(*(getattr(trial, name)[keep] for name in (
            'time', 'q', 'v', 'effort', 'wanted', 'tip'))), ''


def _work(job: _Job) -> tuple[TrialResult | None, str]:
    return job.run()


def _in_processes(jobs: list[_Job], workers: int | None, progress: Progress | None) -> TrialBatch:
    controller_class(jobs[0].controller)
    most = min(len(jobs), workers or len(os.sched_getaffinity(0)))
    done: list[tuple[TrialResult | None, str]] = []
    if most == 1:
        for number, job in enumerate(jobs):
            done.append(job.run())
            if progress is not None:
                progress(number + 1, len(jobs))
    else:
        try:
            with ProcessPoolExecutor(most, mp_context=get_context('spawn')) as pool:
                for number, one in enumerate(pool.map(_work, jobs)):
                    done.append(one)
                    if progress is not None:
                        progress(number + 1, len(jobs))
        except BrokenProcessPool as error:
            raise ControlError(f'a worker process ended after {len(done)} of {len(jobs)} trials: '
                               f'{error}') from None
    return _stacked(jobs[0], done)


def _stacked(job: _Job, done: list[tuple[TrialResult | None, str]]) -> TrialBatch:
    rows = round(job.duration / job.period) // job.every
    shapes = {'q': job.plant.n, 'v': job.plant.n, 'effort': job.plant.n_joints,
              'wanted': job.plant.n_joints, 'tip': 3}
    arrays = {name: np.full((len(done), rows, width), np.nan) for name, width in shapes.items()}
    for run, (trial, _) in enumerate(done):
        if trial is not None:
            for name, array in arrays.items():
                array[run] = getattr(trial, name)
    time = job.period * job.every * np.arange(rows)
    return TrialBatch(time, **arrays, reasons=tuple(reason for _, reason in done))
