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
"""The inputs of many runs, checked before the first one starts."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flex_dynamics import checks
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.checks import LARGEST, LARGEST_POSITION
from flex_dynamics.errors import DynamicsError
from flex_dynamics.model.loads import Loads, Wrench, point_wrenches
from flex_dynamics.model.model import MODEL_ADVICE, Model
from flex_dynamics.model.parameters import checked_path, model_parameters
from flex_dynamics.simulation.batch.control_schedule import ControlSchedule
from flex_dynamics.simulation.batch.observer import (
    ReadingNoise,
    reading_count,
    refuse_other_backend,
)

SHARE_OF_MEMORY = 0.8      # of what is free, that results may take
RunLoads = Callable[[int], Loads | None]


@dataclass(frozen=True)
class ServoTargets:
    """Joint springs and dampers towards targets: k (position - q) + d (velocity - v).

    stiffness, damping (n_joints,). position and velocity: (n_joints,) for all runs, (runs,
    n_joints), or (runs or 1, outputs, n_joints) held over each output step.
    """

    stiffness: ArrayLike
    damping: ArrayLike
    position: ArrayLike
    velocity: ArrayLike | None = None


class RunCount:
    """How many runs there are: every input that varies says so, and all must say the same."""

    def __init__(self, given: int | None) -> None:
        self.runs = None if given is None else checks.whole(given, 'runs', 'a number of runs', 1)
        self._by = 'runs'

    def say(self, name: str, count: int) -> None:
        if count < 1:
            raise DynamicsError(f'{name}: expected one run at least, found none')
        if self.runs is None:
            self.runs, self._by = count, name
        elif self.runs != count:
            raise DynamicsError(f'{name}: expected {self.runs} runs, as {self._by} has, found '
                                f'{count}')

    @property
    def total(self) -> int:
        return 1 if self.runs is None else self.runs


def models_of(model: Model | Sequence[Model], count: RunCount) -> list[Model]:
    """One model, or one a run, of the same coordinates."""
    if isinstance(model, Model):
        models = [model]
    else:
        if not isinstance(model, (list, tuple)):
            checks.instance(model, 'model', Model, MODEL_ADVICE)
        models = list(model)
        count.say('model', len(models))
    for number, one in enumerate(models):
        checks.instance(one, f'model {number}', Model, MODEL_ADVICE)
        if one.order == 'linear':
            raise DynamicsError("order 'linear' has no recursion to step in: use simulate() with "
                                "method 'adaptive', or order 'second'")
        if one.names != models[0].names:
            other = next((b for a, b in zip(models[0].names, one.names) if a != b), 'none')
            raise DynamicsError(f'model {number}: expected the coordinates of model 0, '
                                f'{", ".join(models[0].names)}, found {other!r}; simulate robots '
                                'with other coordinates in calls of their own')
    return models


def rows_of(value: ArrayLike | None, name: str, length: int, count: RunCount,
            most: float = LARGEST, labels: Sequence[str] = ()) -> Array | None:
    """(1 or runs, length) of what is given as (length,) or (runs, length)."""
    if value is None:
        return None
    array = checks.real_array(value, name, f'numbers of shape ({length},) or (runs, {length})')
    if array.ndim == 1:
        array = array[None]
    elif array.ndim == 2:
        count.say(name, len(array))
    if array.ndim != 2 or array.shape[1] != length:
        raise DynamicsError(f'{name}: expected shape ({length},) or (runs, {length}), found '
                            f'{np.shape(value)}')
    _refuse_size(array, name, labels, most)
    return array


def history_of(value: ArrayLike | None, name: str, joints: int, outputs: int, count: RunCount,
               most: float = LARGEST, labels: Sequence[str] = ()) -> Array | None:
    """(1 or runs, 1 or outputs, joints) of (joints,), (runs, joints) or (runs or 1, outputs,
    joints)."""
    if value is None:
        return None
    array = checks.real_array(value, name, f'numbers of {joints} joints')
    if array.ndim < 3:
        rows = rows_of(array, name, joints, count, most, labels)
        assert rows is not None
        return rows[:, None]
    if array.ndim != 3 or array.shape[1:] != (outputs, joints):
        raise DynamicsError(f'{name}: expected shape ({joints},), (runs, {joints}) or (runs, '
                            f'{outputs}, {joints}), one row an output step, found {array.shape}')
    if len(array) != 1:
        count.say(name, len(array))
    _refuse_size(array, name, labels, most)
    return array


def _refuse_size(array: Array, name: str, labels: Sequence[str], most: float) -> None:
    """DynamicsError that names the run and the place of a number that is not finite, or large."""
    bad = np.argwhere(~(np.abs(array) <= most))
    if len(bad):
        run, *_, place = bad[0]
        checks.refuse_size(array[tuple(bad[0][:-1])], f'{name} of run {run}', labels, most)


def parameters_of(parameters: Mapping[str, ArrayLike] | None, models: list[Model],
                  count: RunCount) -> dict[str, Array]:
    """Values (1 or runs,) by path; every path and every value is one that the models take."""
    if parameters is None:
        return {}
    if not isinstance(parameters, Mapping):
        raise DynamicsError("parameters: expected values by path, such as {'payload.mass': "
                            f'[1.0, 2.0]}}, found {checks.shown(parameters)}')
    values: dict[str, Array] = {}
    known = model_parameters(models[0])
    for path, given in parameters.items():
        one = checked_path(path, known)
        array = checks.real_array(given, path, f'{one.allowed}, one or one a run')
        if array.ndim == 1:
            count.say(path, len(array))
        elif array.ndim:
            raise DynamicsError(f'{path}: expected one number, or one a run, found shape '
                                f'{array.shape}')
        values[path] = np.atleast_1d(array)
        for value in values[path]:
            one.check(value)
    for model in models[1:]:
        if values:
            there = model_parameters(model)
            for path in values:
                checked_path(path, there)
    return values


def schedules_of(control: ControlSchedule | Sequence[ControlSchedule] | None, model: Model,
                 count: RunCount) -> list[ControlSchedule]:
    """None, one or one a run, for the coordinates of the model, all of one period."""
    if control is None:
        return []
    if isinstance(control, (list, tuple)):
        given = list(control)
        count.say('control', len(given))
    else:
        given = [control]
    for number, one in enumerate(given):
        checks.instance(one, f'control {number}', ControlSchedule,
                        'flex_control.control_schedule(controller, trajectory, ...) gives one')
        if one.q.shape[1] != model.n or one.effort.shape[1] != model.n_joints:
            raise DynamicsError(f'control {number}: expected {model.n} coordinates and '
                                f'{model.n_joints} joints, found {one.q.shape[1]} and '
                                f'{one.effort.shape[1]}')
        if one.period != given[0].period:
            raise DynamicsError(f'control {number}: expected the period {given[0].period:g} s of '
                                f'control 0, found {one.period:g} s')
    return given


def check_readings(schedules: list[ControlSchedule], models: list[Model],
                   noise: ReadingNoise | None) -> None:
    """DynamicsError where a robot has not the sensors that a filter reads."""
    filters = [one.observer for one in schedules if one.observer is not None]
    if noise is not None:
        checks.instance(noise, 'noise', ReadingNoise, 'ReadingNoise(deviations, seed) gives one')
        if not filters:
            raise DynamicsError('noise: expected a control law with a filter, found none that '
                                'reads sensors')
    if 0 < len(filters) < len(schedules):
        raise DynamicsError('control: expected a filter in all control laws or in none, found '
                            f'{len(filters)} in {len(schedules)}')
    for one in filters:
        wanted = reading_count(one.model)
        if noise is not None and len(noise.deviations) != wanted:
            raise DynamicsError(f'noise: expected {wanted} deviations, one a reading, found '
                                f'{len(noise.deviations)}')
        for number, model in enumerate(models):
            refuse_other_backend(model, f'model {number}')
            if reading_count(model) != wanted:
                raise DynamicsError(f'model {number}: expected the {wanted} readings of the '
                                    f'filter, found {reading_count(model)}: other gauges or IMUs')


def frames_of(frames: Sequence[str], model: Model) -> tuple[str, ...]:
    """Names of links and frames that a model has."""
    if isinstance(frames, str) or not isinstance(frames, Sequence):
        raise DynamicsError("frames: expected names of links or frames, such as ('tool',), found "
                            f'{checks.shown(frames)}')
    for frame in frames:
        model.assembly.locate(frame, None)
    return tuple(frames)


def loads_of(wrenches: Loads | RunLoads | None, models: list[Model],
             runs: int) -> Callable[[int], list[Wrench] | None]:
    """Loads by run; loads of all runs are checked now."""
    def checked(given: Loads | None, run: int) -> list[Wrench] | None:
        return None if given is None else point_wrenches(models[run % len(models)], given)

    if callable(wrenches):
        each = [checked(wrenches(run), run) for run in range(runs)]
        return lambda run: each[run]
    one = checked(wrenches, 0)
    return lambda run: one


def refuse_memory(runs: int, numbers: int) -> None:
    """DynamicsError if results of so many numbers a run do not fit into the memory that is free.
    """
    wanted, free = 8 * runs * numbers, free_memory()
    if wanted > SHARE_OF_MEMORY * free:
        raise DynamicsError(
            f'runs: expected results of at most {SHARE_OF_MEMORY * free / 1e9:.3g} GB, '
            f'{SHARE_OF_MEMORY:.0%} of the free memory, found {wanted / 1e9:.3g} GB of {runs} '
            'runs; take a longer output_step, or simulate in several calls')


def free_memory() -> float:
    """Bytes that a process may still take: of the machine and of its control group."""
    free = float(os.sysconf('SC_AVPHYS_PAGES') * os.sysconf('SC_PAGE_SIZE'))
    try:
        with open('/proc/meminfo', encoding='ascii') as file:
            lines = dict(line.split(':', 1) for line in file)
        free = 1024.0 * float(lines['MemAvailable'].split()[0])
    except (OSError, KeyError, ValueError):
        pass
    try:
        with open('/sys/fs/cgroup/memory.max', encoding='ascii') as most, open(
                '/sys/fs/cgroup/memory.current', encoding='ascii') as current:
            free = min(free, float(most.read()) - float(current.read()))
    except (OSError, ValueError):          # no control group, or one without a limit ('max')
        pass
    return free


def at_run(values: Any, run: int) -> Any:
    """Row of a run in an array whose first axis has one row for all, or one a run."""
    return values[run if len(values) > 1 else 0]


POSITIONS = LARGEST_POSITION
