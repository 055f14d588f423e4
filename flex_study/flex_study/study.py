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
"""A study: robot, what varies, controller, manoeuvre, outputs; from YAML or a few lines of Python.
"""
from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from flex_control import ControlError, available_controllers, make_controller
from flex_description import RobotError, load_robot
from flex_dynamics import DynamicsError, Model, model_parameters, with_parameters
from flex_study.errors import StudyError
from flex_study.measures import MEASURES, STATIC
from flex_study.sampling import METHODS, Varied, read_varied, table_of

KEYS = ('name', 'description', 'robot', 'overlay', 'payload', 'vary', 'sampling', 'controller',
        'gains', 'manoeuvre', 'outputs', 'batch')
MANOEUVRE = {'from': None, 'to': None, 'time': 1.0, 'duration': 2.0, 'period': 1e-3, 'step': 5e-4,
             'every': 5, 'tip': 'tool'}
PAYLOAD = {'frame': 'tool', 'mass': 1.0, 'centre': (0.0, 0.0, 0.0)}
POSE = 'pose.'              # paths of joint positions
VERSION = 1                 # of what a study means: results of another one are not mixed


@dataclass(frozen=True)
class Study:
    """A study as it was given, checked; `table` has its runs.

    given: the mapping that a YAML file has. text: that mapping as canonical JSON, which is sent to
    workers; `key` its hash.
    """

    given: Mapping[str, Any]
    name: str
    varied: tuple[Varied, ...]
    method: str
    samples: int
    seed: int
    outputs: tuple[str, ...]
    batch: int
    manoeuvre: Mapping[str, Any]
    text: str = field(repr=False, default='')

    @property
    def key(self) -> str:
        return hashlib.sha256(f'{VERSION}{self.text}'.encode()).hexdigest()[:16]

    @property
    def simulates(self) -> bool:
        """Whether an output needs a simulation."""
        return any(name not in STATIC for name in self.outputs)

    def table(self) -> dict[str, np.ndarray]:
        """Values (runs,) of what varies, by path; relative ones as they are given."""
        return table_of(list(self.varied), self.method, self.samples, self.seed)

    def controllers(self) -> list[str]:
        """Names of the controllers that the study runs."""
        one = next((varied for varied in self.varied if varied.path == 'controller'), None)
        return list(one.values) if one else [self.given.get('controller', 'pd')]

    def model(self) -> Model:
        """The robot without what varies, with its payload."""
        return build_model(self.given)


def read_study(source: str | Path | Mapping[str, Any]) -> Study:
    """The study of a YAML file, of a bundled name such as 'vibration', or of a mapping.

    StudyError says what was expected where.
    """
    given = _mapping(source)
    unknown = [str(key) for key in given if key not in KEYS]
    if unknown:
        raise StudyError(f'expected {", ".join(KEYS)}, found {unknown[0]!r}')
    for key in ('robot', 'vary', 'outputs'):
        if not given.get(key):
            raise StudyError(f'{key}: expected, found nothing')
    method, samples, seed = _sampling(given.get('sampling') or {'method': 'grid'})
    if not isinstance(given['vary'], Mapping):
        raise StudyError(f'vary: expected paths with values, found {given["vary"]!r}')
    varied = tuple(read_varied(str(path), entry, method)
                   for path, entry in given['vary'].items())
    outputs = given['outputs']
    if not isinstance(outputs, (list, tuple)) or not all(
            isinstance(one, str) and one in MEASURES for one in outputs):
        raise StudyError(f'outputs: expected names of {", ".join(MEASURES)}, found {outputs!r}')
    batch = given.get('batch', 16)
    if not isinstance(batch, int) or isinstance(batch, bool) or not 1 <= batch <= 100_000:
        raise StudyError(f'batch: expected a number of runs, found {batch!r}')
    try:
        text = json.dumps(given, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StudyError(f'expected numbers, texts, lists and mappings: {error}') from None
    study = Study(given, str(given.get('name') or 'study'), varied, method, samples, seed,
                  tuple(outputs), batch, _filled('manoeuvre', MANOEUVRE, given.get('manoeuvre')),
                  text)
    _check(study)
    return study


def _mapping(source: str | Path | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(source, Mapping):
        return dict(source)
    path = Path(source)
    bundled = files('flex_study') / 'studies' / f'{source}.yaml'
    if not path.exists() and path.suffix == '' and bundled.is_file():
        path = Path(str(bundled))
    try:
        given = yaml.safe_load(path.read_text(encoding='utf-8'))
    except OSError as error:
        raise StudyError(f'{source}: {error.strerror}; included studies: '
                         f'{", ".join(bundled_studies())}') from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise StudyError(f'{path}: {" ".join(str(error).split())}') from None
    if not isinstance(given, dict):
        raise StudyError(f'{path}: expected a mapping with robot, vary and outputs')
    return given


def bundled_studies() -> list[str]:
    """Names of the studies that come with the package."""
    return sorted(path.name.removesuffix('.yaml') for path in (files('flex_study') / 'studies')
                  .iterdir() if path.name.endswith('.yaml'))


def _sampling(given: Any) -> tuple[str, int, int]:
    values = _filled('sampling', {'method': 'grid', 'runs': 0, 'seed': 0}, given)
    method, runs, seed = values['method'], values['runs'], values['seed']
    if method not in METHODS:
        raise StudyError(f'sampling: method: expected one of {", ".join(METHODS)}, found '
                         f'{method!r}')
    whole = all(isinstance(one, int) and not isinstance(one, bool) for one in (runs, seed))
    if not whole or seed < 0 or (method != 'grid' and runs < 1):
        raise StudyError(f'sampling: expected whole numbers of runs and seed, found {runs!r} and '
                         f'{seed!r}')
    return method, runs, seed


def _filled(name: str, defaults: Mapping[str, Any], given: Any) -> dict[str, Any]:
    given = {} if given is None else given
    if not isinstance(given, Mapping) or set(given) - set(defaults):
        raise StudyError(f'{name}: expected {", ".join(defaults)}, found {given!r}')
    return {**defaults, **given}


def build_model(given: Mapping[str, Any]) -> Model:
    """The robot of a study with its payload."""
    try:
        model = Model(load_robot(given['robot'], given.get('overlay')))
        if given.get('payload') is not None:
            payload = _filled('payload', PAYLOAD, given['payload'])
            model = model.with_payload('payload', payload['frame'], payload['mass'],
                                       payload['centre'])
    except (RobotError, DynamicsError) as error:
        raise StudyError(f'robot: {error}') from None
    return model


def _check(study: Study) -> None:
    """Everything that can be wrong is found before the first run."""
    model = study.model()
    known = model_parameters(model)
    for one in study.varied:
        if one.path == 'controller':
            if not one.named:
                raise StudyError('vary: controller: expected names of controllers')
        elif one.named:
            raise StudyError(f'vary: {one.path}: expected numbers, found {one.values[0]!r}')
        elif one.path.startswith(POSE):
            if one.path.removeprefix(POSE) not in model.joint_names:
                raise StudyError(f'vary: {one.path}: expected a joint of '
                                 f'{", ".join(model.joint_names)}')
        elif one.path not in known:
            try:
                with_parameters(model, {one.path: 1.0})
            except DynamicsError as error:
                raise StudyError(f'vary: {error}') from None
    for path, values in study.table().items():
        if path in known:
            factor = known[path].value if _relative(study, path) else 1.0
            try:
                for value in (values.min(), values.max()):
                    known[path].check(factor * float(value))
            except DynamicsError as error:
                raise StudyError(f'vary: {error}') from None
    if study.simulates:
        _check_manoeuvre(study, model)
    elif any(one.path == 'controller' for one in study.varied):
        raise StudyError(f'vary: controller: the outputs {", ".join(study.outputs)} have none')


def _relative(study: Study, path: str) -> bool:
    return next(one.relative for one in study.varied if one.path == path)


def _check_manoeuvre(study: Study, model: Model) -> None:
    move = study.manoeuvre
    for key in ('from', 'to'):
        value = move[key]
        if not isinstance(value, (list, tuple)) or len(value) != model.n_joints or not all(
                isinstance(one, (int, float)) and np.isfinite(one) for one in value):
            raise StudyError(f'manoeuvre: {key}: expected {model.n_joints} joint positions, found '
                             f'{value!r}')
    for key in ('time', 'duration', 'period', 'step'):
        value = move[key]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not (
                0.0 < value < np.inf):
            raise StudyError(f'manoeuvre: {key}: expected a positive time in s, found {value!r}')
    samples = move['duration'] / move['period']
    if abs(samples - round(samples)) > 1e-6 or not isinstance(move['every'], int) or (
            move['every'] < 1 or round(samples) % move['every']):
        raise StudyError('manoeuvre: expected a duration that is a multiple of every times period')
    if not move['time'] < move['duration']:
        raise StudyError('manoeuvre: expected a duration beyond the time of the motion')
    for name in study.controllers():
        if name not in available_controllers():
            raise StudyError(f'controller: expected one of {", ".join(available_controllers())}, '
                             f'found {name!r}')
        try:
            make_controller(name, model, study.given.get('gains'))
        except (ControlError, DynamicsError) as error:
            raise StudyError(f'controller: {error}') from None
    try:
        model.assembly.locate(move['tip'], None)
    except DynamicsError as error:
        raise StudyError(f'manoeuvre: tip: {error}') from None
