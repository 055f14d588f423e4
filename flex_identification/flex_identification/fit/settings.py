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
"""What a fit may be told in a YAML file.

    parameters: [link1.bending_stiffness_z, link1.damping, payload.mass]
    priors:
      payload.mass: {mean: 0.1, deviation: 0.001}
    bounds:
      link1.damping: [0.001, 0.1]
    ties:
      link1.bending_stiffness_z: [link2.bending_stiffness_z]    # they keep their ratio
    effort: next               # how efforts run between samples: linear, next, previous
    step: 0.001                # s, longest step of the integrator
    withhold: 0.2              # share of each run that is predicted, not fitted
"""
from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from flex_dynamics.checks import did_you_mean
from flex_identification.data.mapping import load_mapping
from flex_identification.errors import IdentificationError
from flex_identification.fit.prepared_run import HOLDS
from flex_identification.prediction.linearized_run import STEP
from flex_identification.prediction.parameters import Prior

KEYS = ('parameters', 'priors', 'bounds', 'ties', 'effort', 'step', 'withhold')


@dataclass(frozen=True)
class FitSettings:
    """What read_settings gives; see above."""

    parameters: tuple[str, ...] = ()
    priors: Mapping[str, Prior] = field(default_factory=dict)
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    ties: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    effort: str = ''
    step: float = STEP
    withhold: float = 0.2


def read_settings(given: str | os.PathLike[str] | Mapping[str, Any]) -> FitSettings:
    """Settings from a YAML file, or from a dictionary of the same content."""
    place = 'settings'
    if isinstance(given, (str, os.PathLike)):
        place, given = str(given), load_mapping(Path(given))
    content = _mapping(given, place)
    for key in content:
        if key not in KEYS:
            raise IdentificationError(f'{place}: expected {", ".join(KEYS)}, found {key!r}'
                                      f'{did_you_mean(str(key), KEYS)}')
    priors = {}
    for path, one in _mapping(content.get('priors', {}), f'{place}: priors').items():
        where = f'{place}: priors: {path}'
        parts = _mapping(one, where)
        if set(parts) != {'mean', 'deviation'}:
            raise IdentificationError(f'{where}: expected mean and deviation, found '
                                      f'{", ".join(map(str, parts)) or "nothing"}')
        deviation = _number(parts['deviation'], where)
        if deviation <= 0.0:
            raise IdentificationError(f'{where}: expected a deviation above 0, found '
                                      f'{deviation:g}')
        priors[str(path)] = Prior(_number(parts['mean'], where), deviation)
    bounds = {}
    for path, one in _mapping(content.get('bounds', {}), f'{place}: bounds').items():
        where = f'{place}: bounds: {path}'
        if not isinstance(one, list) or len(one) != 2:
            raise IdentificationError(f'{where}: expected [least, most], found {one!r:.40}')
        bounds[str(path)] = _number(one[0], where), _number(one[1], where)
        if not bounds[str(path)][0] < bounds[str(path)][1]:
            raise IdentificationError(f'{where}: expected the least first, found {one!r:.40}')
    ties = {str(path): _names(one, f'{place}: ties: {path}') for path, one in _mapping(
        content.get('ties', {}), f'{place}: ties').items()}
    effort = content.get('effort', '')
    if effort not in ('', *HOLDS):
        raise IdentificationError(f'{place}: effort: expected {", ".join(HOLDS)}, found '
                                  f'{effort!r:.40}')
    step = _number(content.get('step', STEP), f'{place}: step')
    if not 1e-6 <= step <= 0.1:
        raise IdentificationError(f'{place}: step: expected 1e-6 to 0.1 s, found {step:g}')
    return FitSettings(_names(content.get('parameters', []), f'{place}: parameters'), priors,
                       bounds, ties, effort, step,
                       _number(content.get('withhold', 0.2), f'{place}: withhold'))


def _mapping(value: Any, place: str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise IdentificationError(f'{place}: expected names with a value each, found '
                                  f'{value!r:.60}')
    return value


def _names(value: Any, place: str) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(one, str) for one in value):
        raise IdentificationError(f'{place}: expected a list of paths, found {value!r:.60}')
    return tuple(value)


def _number(value: Any, place: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise IdentificationError(f'{place}: expected a number, found {value!r:.40}') from None
    if not isfinite(number) or isinstance(value, bool):
        raise IdentificationError(f'{place}: expected a number, found {value!r:.40}')
    return number
