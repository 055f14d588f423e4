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
"""What varies between the runs of a study, and the table of its values."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.stats import qmc

from flex_study.errors import StudyError

METHODS = ('grid', 'latin_hypercube', 'sobol', 'random')
DISTRIBUTIONS = {'uniform': ('low', 'high'), 'log_uniform': ('low', 'high'),
                 'normal': ('mean', 'deviation'), 'truncated_normal': ('mean', 'deviation', 'low',
                                                                       'high')}
MOST_RUNS = 10_000_000


@dataclass(frozen=True)
class Varied:
    """One thing that varies: its path, its values or its distribution.

    values: of a grid, numbers or (of `controller`) names. relative: numbers are factors of the
    value that the robot has.
    """

    path: str
    values: tuple[Any, ...] = ()
    distribution: str = ''
    numbers: tuple[float, ...] = ()
    count: int = 0
    relative: bool = False

    @property
    def named(self) -> bool:
        """Whether its values are names, not numbers."""
        return bool(self.values) and isinstance(self.values[0], str)

    def at(self, share: np.ndarray) -> np.ndarray:
        """Values at shares (k,) from 0 to 1 of the distribution."""
        if self.values:
            place = np.minimum((share * len(self.values)).astype(int), len(self.values) - 1)
            return np.array(self.values)[place]
        a, b, *more = self.numbers
        if self.distribution == 'uniform':
            return a + (b - a) * share
        if self.distribution == 'log_uniform':
            return a * (b / a) ** share
        if self.distribution == 'normal':
            return np.asarray(stats.norm.ppf(share, a, b))
        low, high = ((one - a) / b for one in more)
        return np.asarray(stats.truncnorm.ppf(share, low, high, a, b))

    def levels(self) -> np.ndarray:
        """Values of a grid."""
        if self.values:
            return np.array(self.values)
        return self.at(np.linspace(0.0, 1.0, self.count))


def read_varied(path: str, given: Any, method: str) -> Varied:
    """An entry of `vary`; StudyError if it says nothing that can be varied."""
    where = f'vary: {path}'
    if isinstance(given, (list, tuple)):
        given = {'values': list(given)}
    if not isinstance(given, Mapping):
        raise StudyError(f'{where}: expected a list of values, or low and high, mean and '
                         f'deviation, found {given!r}')
    known = {'values', 'distribution', 'low', 'high', 'mean', 'deviation', 'count', 'relative'}
    if unknown := set(given) - known:
        raise StudyError(f'{where}: expected {", ".join(sorted(known))}, found '
                         f'{sorted(map(str, unknown))[0]!r}')
    relative = given.get('relative', False)
    if not isinstance(relative, bool):
        raise StudyError(f'{where}: relative: expected true or false, found {relative!r}')
    if 'values' in given:
        values = given['values']
        if not isinstance(values, (list, tuple)) or not values:
            raise StudyError(f'{where}: values: expected a list, found {values!r}')
        if all(isinstance(one, str) for one in values):
            return Varied(path, tuple(values))
        return Varied(path, tuple(_number(one, where) for one in values), relative=relative)
    name = given.get('distribution', 'normal' if 'mean' in given else 'uniform')
    if name not in DISTRIBUTIONS:
        raise StudyError(f'{where}: distribution: expected one of {", ".join(DISTRIBUTIONS)}, '
                         f'found {name!r}')
    numbers = []
    for key in DISTRIBUTIONS[name]:
        if key not in given:
            raise StudyError(f'{where}: a {name} distribution needs {key}')
        numbers.append(_number(given[key], f'{where}: {key}'))
    _check(where, name, numbers)
    count = given.get('count', 0)
    if method == 'grid':
        if name in ('normal', 'truncated_normal'):
            raise StudyError(f'{where}: a grid has values, or low, high and count')
        if not isinstance(count, int) or isinstance(count, bool) or count < 2:
            raise StudyError(f'{where}: count: expected the number of levels of a grid, 2 or '
                             f'more, found {count!r}')
    return Varied(path, (), name, tuple(numbers), count, relative)


def _check(where: str, name: str, numbers: list[float]) -> None:
    if name in ('uniform', 'log_uniform') and not numbers[0] < numbers[1]:
        raise StudyError(f'{where}: expected low below high, found {numbers[0]:g} and '
                         f'{numbers[1]:g}')
    if name == 'log_uniform' and numbers[0] <= 0.0:
        raise StudyError(f'{where}: low: expected a positive number, found {numbers[0]:g}')
    if name.endswith('normal') and numbers[1] <= 0.0:
        raise StudyError(f'{where}: deviation: expected a positive number, found {numbers[1]:g}')
    if name == 'truncated_normal' and not numbers[2] < numbers[3]:
        raise StudyError(f'{where}: expected low below high')


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not np.isfinite(value):
        raise StudyError(f'{where}: expected a finite number, found {value!r}')
    return float(value)


def table_of(varied: list[Varied], method: str, runs: int, seed: int) -> dict[str, np.ndarray]:
    """Values (runs,) by path. The same seed gives the same table.

    Sampled methods cross what has names (controllers) with the samples of all else, so that each
    of them meets the same robots.
    """
    if method == 'grid':
        total = int(np.prod([len(one.levels()) for one in varied], dtype=float))
        _refuse_many(total)
        mesh = np.meshgrid(*(one.levels() for one in varied), indexing='ij')
        return {one.path: values.ravel() for one, values in zip(varied, mesh)}
    named = [one for one in varied if one.named]
    numeric = [one for one in varied if not one.named]
    crossed = int(np.prod([len(one.values) for one in named], dtype=float))
    _refuse_many(runs * crossed)
    shares = _shares(len(numeric), method, runs, seed)
    table = {one.path: np.tile(one.at(shares[:, k]), crossed) for k, one in enumerate(numeric)}
    if named:
        mesh = np.meshgrid(*(np.array(one.values) for one in named), indexing='ij')
        table.update({one.path: np.repeat(values.ravel(), runs)
                      for one, values in zip(named, mesh)})
    return {one.path: table[one.path] for one in varied}


def _shares(dimensions: int, method: str, runs: int, seed: int) -> np.ndarray:
    """(runs, dimensions) from 0 to 1, without the ends, at which a normal is infinite."""
    if not dimensions:
        return np.zeros((runs, 0))
    if method == 'latin_hypercube':
        shares = qmc.LatinHypercube(dimensions, rng=np.random.default_rng(seed)).random(runs)
    elif method == 'sobol':
        # A power of two keeps the balance of the sequence; the rest of it is not run.
        power = int(np.ceil(np.log2(max(runs, 2))))
        shares = qmc.Sobol(dimensions, rng=np.random.default_rng(seed)).random_base2(power)[:runs]
    else:
        shares = np.random.default_rng(seed).random((runs, dimensions))
    return np.clip(shares, 1e-12, 1.0 - 1e-12)


def _refuse_many(total: int) -> None:
    if total > MOST_RUNS:
        raise StudyError(f'expected at most {MOST_RUNS:g} runs, found {total:g}: take fewer '
                         'levels or samples')
