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
"""The parameters of a fit by path: those of the model, and those of its sensors.

| path | what it is |
|---|---|
| `link1.bending_stiffness_z`, ... | of the model, as flex_dynamics.model_parameters lists them |
| `CHANNEL.gain` | reading = gain * truth + bias, of a channel such as `strain/link1/gauge1` |
| `CHANNEL.bias` | in the unit of the channel |
| `CHANNEL.delay` | s by which the channel's readings are late |
| `readings.delay` | s by which all readings are late against the efforts |

The fit works on numbers z of about one scale: the logarithm of what must be positive, else the
value divided by a scale.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from flex_dynamics import Model, ModelParameter, model_parameters
from flex_dynamics.arrays import Array
from flex_dynamics.checks import did_you_mean
from flex_identification.data.channels import INPUTS, KINDS, split
from flex_identification.errors import IdentificationError

COMMON_DELAY = 'readings.delay'
LONGEST_DELAY = 0.1            # s
SENSOR = ('gain', 'bias', 'delay')
SCALES = {'N m s/rad': 0.1, 'N s/m': 10.0, 'N m': 0.1, 'N': 1.0, '': 0.01, 'm': 0.01, '1/s': 0.1,
          's': 1e-3, 'kg m2': 1e-3, 'm/s2': 0.1, 'rad/s': 0.1, 'm/m': 1e-5, 'rad or m': 1e-3,
          'rad/s or m/s': 1e-2, 'N m or N': 0.1}


@dataclass(frozen=True)
class Prior:
    """What is known before: mean and standard deviation, in the parameter's unit."""

    mean: float
    deviation: float


@dataclass(frozen=True)
class FitParameter:
    """One parameter: where it starts, its unit, its bounds, and what is known before.

    logarithmic: it must be positive, and z is its logarithm; else z is value / scale. tied: paths
    that keep their ratio to this one.
    """

    path: str
    value: float
    unit: str
    low: float = -np.inf
    high: float = np.inf
    logarithmic: bool = False
    scale: float = 1.0
    prior: Prior | None = None
    tied: tuple[str, ...] = ()

    @property
    def of_sensor(self) -> bool:
        """Whether it belongs to a sensor, not to the robot."""
        return self.path == COMMON_DELAY or is_sensor_path(self.path)

    def to_z(self, value: float) -> float:
        """z of a value."""
        return float(np.log(value)) if self.logarithmic else value / self.scale

    def from_z(self, z: float) -> float:
        """The value of z."""
        return float(np.exp(z)) if self.logarithmic else z * self.scale

    def slope(self, z: float) -> float:
        """d value / dz."""
        return self.from_z(z) if self.logarithmic else self.scale

    def interval(self, z: float, deviation: float) -> tuple[float, float]:
        """Bounds of 95 %, in the parameter's unit, of z with this standard error."""
        low, high = (self.from_z(z + side * 1.96 * deviation) for side in (-1.0, 1.0))
        return max(low, self.low), min(high, self.high)


class ParameterSet:
    """The parameters of a fit, in the order of their columns.

    Examples
    --------
    >>> chosen = ParameterSet.of(model, ['link1.bending_stiffness_z', 'link1.damping'])
    >>> len(chosen), chosen.paths[0]
    (2, 'link1.bending_stiffness_z')
    """

    def __init__(self, parameters: Iterable[FitParameter],
                 known: Mapping[str, float] | None = None) -> None:
        self.parameters = tuple(parameters)
        self._starts = dict(known or {})       # of tied paths

    @classmethod
    def of(cls, model: Model, paths: Iterable[str], *,
           priors: Mapping[str, Prior] | None = None,
           bounds: Mapping[str, tuple[float, float]] | None = None,
           ties: Mapping[str, Iterable[str]] | None = None) -> ParameterSet:
        """Parameters by path, with their values in the model as the start.

        priors, bounds: by path. ties: path to others that keep their ratio to it.
        """
        known = model_parameters(model)
        priors, bounds, ties = priors or {}, bounds or {}, ties or {}
        wanted = list(dict.fromkeys(paths))
        for what, given in (('priors', priors), ('bounds', bounds), ('ties', ties)):
            for path in given:
                if path not in wanted:
                    raise IdentificationError(f'{what}: expected paths of the fit '
                                              f'({", ".join(wanted)}), found {path!r}'
                                              f'{did_you_mean(path, wanted)}')
        found, starts = [], {}
        for path in wanted:
            one = _described(path, known)
            others = tuple(ties.get(path, ()))
            for other in others:
                starts[other] = _described(other, known).value
                if other in wanted or one.value == 0.0:
                    raise IdentificationError(f'ties: {path}: expected paths that are not fitted '
                                              'themselves, and a start that is not 0, found '
                                              f'{other!r}')
            low, high = bounds.get(path, (one.low, one.high))
            if not max(low, one.low) <= one.value <= min(high, one.high):
                raise IdentificationError(f'{path}: expected bounds about its start '
                                          f'{one.value:g} {one.unit}, found {low:g} to {high:g}')
            found.append(replace(one, low=max(low, one.low), high=min(high, one.high),
                                 prior=priors.get(path), tied=others))
        return cls(found, starts)

    def __len__(self) -> int:
        return len(self.parameters)

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths (k,) of the columns."""
        return tuple(one.path for one in self.parameters)

    def start(self) -> Array:
        """z (k,) at the start."""
        return np.array([one.to_z(one.value) for one in self.parameters])

    def bounds(self) -> tuple[Array, Array]:
        """Bounds of z, (k,) each."""
        low = np.array([one.to_z(one.low) if one.low > 0.0 or not one.logarithmic else -np.inf
                        for one in self.parameters])
        return low, np.array([one.to_z(one.high) for one in self.parameters])

    def values(self, z: Array) -> dict[str, float]:
        """Values by path, tied ones too."""
        found = {}
        for one, at in zip(self.parameters, z, strict=True):
            found[one.path] = one.from_z(at)
            for other in one.tied:
                found[other] = self._starts[other] * found[one.path] / one.value
        return found

    def slopes(self, z: Array) -> dict[str, tuple[int, float]]:
        """Of each path of `values` the column that moves it, and d value / dz."""
        found = {}
        for k, (one, at) in enumerate(zip(self.parameters, z, strict=True)):
            found[one.path] = k, one.slope(at)
            for other in one.tied:
                found[other] = k, self._starts[other] / one.value * one.slope(at)
        return found

    def prior(self, z: Array) -> tuple[Array, Array]:
        """Information (k,) of the priors on z, and how far (k,) their means are from z."""
        information, away = np.zeros(len(self)), np.zeros(len(self))
        for k, (one, at) in enumerate(zip(self.parameters, z, strict=True)):
            if one.prior is not None:
                slope = one.slope(one.to_z(one.prior.mean))
                information[k] = (slope / one.prior.deviation)**2
                away[k] = one.to_z(one.prior.mean) - at
        return information, away

    def without(self, paths: Iterable[str], z: Array) -> tuple[ParameterSet, Array]:
        """The set without these paths, which stay at their values, and z of the others."""
        left = set(paths)
        keep = [k for k, one in enumerate(self.parameters) if one.path not in left]
        return (ParameterSet([self.parameters[k] for k in keep], self._starts), z[keep])


def is_sensor_path(path: str) -> bool:
    """Whether a path is that of a channel: position/joint1.bias."""
    channel, _, what = path.rpartition('.')
    return what in SENSOR and channel.partition('/')[0] in KINDS and '/' in channel


def _described(path: str, known: Mapping[str, ModelParameter]) -> FitParameter:
    if path == COMMON_DELAY:
        return FitParameter(path, 0.0, 's', -LONGEST_DELAY, LONGEST_DELAY, scale=SCALES['s'])
    if is_sensor_path(path):
        return _of_sensor(path)
    if path not in known:
        names = [*known, COMMON_DELAY]
        raise IdentificationError(f'parameter {path!r}: expected a path such as '
                                  f'{names[0]!r}, or of a channel such as position/joint1.bias'
                                  f'{did_you_mean(path, names)}; model_parameters(model) lists '
                                  'those of the model')
    one = known[path]
    positive = one.allowed == 'a positive number'
    low = 0.0 if one.allowed != 'a number' else -np.inf
    scale = SCALES.get(one.unit, 1.0)
    if not positive and one.value != 0.0:
        scale = abs(one.value)
    return FitParameter(path, one.value, one.unit, low, np.inf, positive, scale)


def _of_sensor(path: str) -> FitParameter:
    channel, _, what = path.rpartition('.')
    kind = split(channel)[0]
    if kind in INPUTS:
        raise IdentificationError(f'parameter {path!r}: expected a channel that is a reading, '
                                  f'found {channel}, which acts on the robot; readings.delay '
                                  'shifts all readings against it')
    if what == 'gain':
        return FitParameter(path, 1.0, '', 0.0, np.inf, True)
    if what == 'delay':
        return FitParameter(path, 0.0, 's', -LONGEST_DELAY, LONGEST_DELAY, scale=SCALES['s'])
    unit = KINDS[kind].unit
    return FitParameter(path, 0.0, unit, scale=SCALES[unit])
