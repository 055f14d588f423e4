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
"""Which column of a file is which channel, and in which unit.

    time: {column: stamp, unit: ms}          # a name alone: in s; default: time or t
    channels:
      position/joint1: q1                    # a name alone: in SI units
      strain/link1/gauge1: {column: g1, unit: microstrain, noise: 2e-6}
      velocity/joint1: {column: w, factor: -0.01, offset: 0.2}    # factor * column + offset
    topics:                                  # of bags; joint states and gauges are found
      command: /arm/joint_commands
      tip/tool0: /tracker/pose
    effort: linear                           # between samples; next or previous: it is held

Without a mapping, columns have the names of channels.
"""
from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import yaml

from flex_dynamics.checks import did_you_mean
from flex_identification.data.channels import KINDS, TIMES, split
from flex_identification.errors import IdentificationError

HOLDS = ('linear', 'next', 'previous')
LARGEST = 1 << 20           # bytes of a mapping
KEYS = ('time', 'channels', 'topics', 'effort')
PARTS = ('column', 'unit', 'factor', 'offset', 'noise')


@dataclass(frozen=True)
class Column:
    """Where a channel comes from: channel = factor * column + offset; noise (standard deviation)
    in the channel's unit, 0 if not given."""

    column: str
    factor: float = 1.0
    offset: float = 0.0
    noise: float = 0.0


@dataclass(frozen=True)
class ColumnMapping:
    """What read_mapping gives. Empty: columns and topics are found by their names and types."""

    time: Column | None = None
    channels: Mapping[str, Column] = field(default_factory=dict)
    topics: Mapping[str, str] = field(default_factory=dict)
    effort: str = 'linear'


def read_mapping(given: str | os.PathLike[str] | Mapping[str, Any] | None) -> ColumnMapping:
    """A mapping from a YAML file, or from a dictionary of the same content."""
    place = 'mapping'
    if given is None:
        return ColumnMapping()
    if isinstance(given, (str, os.PathLike)):
        place, given = str(given), load_mapping(Path(given))
    content = _dictionary(given, place, KEYS)
    channels = {}
    for name, one in _dictionary(content.get('channels', {}), f'{place}: channels').items():
        kind = split(str(name))[0]
        channels[str(name)] = _column(one, f'{place}: {name}', dict(KINDS[kind].units))
    time = content.get('time')
    topics = _dictionary(content.get('topics', {}), f'{place}: topics')
    effort = content.get('effort', 'linear')
    if effort not in HOLDS:
        raise IdentificationError(f'{place}: effort: expected {", ".join(HOLDS)}, found '
                                  f'{effort!r}')
    return ColumnMapping(None if time is None else _column(time, f'{place}: time', TIMES),
                         channels, {str(a): str(b) for a, b in topics.items()}, effort)


def load_mapping(path: Path) -> Any:
    try:
        if path.stat().st_size > LARGEST:
            raise IdentificationError(f'{path}: expected a mapping of at most 1 MB, found '
                                      f'{path.stat().st_size / 1e6:.0f} MB')
        return yaml.safe_load(path.read_text(encoding='utf-8'))
    except OSError as error:
        raise IdentificationError(f'{path}: expected a YAML file, found: '
                                  f'{error.strerror}') from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        text = ' '.join(str(error).split())[:200]
        raise IdentificationError(f'{path}: expected YAML, found: {text}') from None


def _dictionary(value: Any, place: str, known: tuple[str, ...] = ()) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise IdentificationError(f'{place}: expected names with a value each, found '
                                  f'{value!r:.60}')
    for key in value:
        if known and key not in known:
            raise IdentificationError(f'{place}: expected {", ".join(known)}, found {key!r}'
                                      f'{did_you_mean(str(key), known)}')
    return value


def _column(given: Any, place: str, units: Mapping[str, float]) -> Column:
    if isinstance(given, (str, int)) and not isinstance(given, bool):
        return Column(str(given))
    parts = _dictionary(given, place, PARTS)
    if 'column' not in parts:
        raise IdentificationError(f'{place}: expected the name of a column, found none')
    if 'unit' in parts and 'factor' in parts:
        raise IdentificationError(f'{place}: expected a unit or a factor, found both')
    factor = _number(parts.get('factor', 1.0), f'{place}: factor')
    if 'unit' in parts:
        if parts['unit'] not in units:
            raise IdentificationError(f'{place}: expected a unit of {", ".join(units)}, found '
                                      f'{parts["unit"]!r}')
        factor = units[parts['unit']]
    if factor == 0.0:
        raise IdentificationError(f'{place}: factor: expected a number that is not 0, found 0')
    noise = _number(parts.get('noise', 0.0), f'{place}: noise')
    if noise < 0.0:
        raise IdentificationError(f'{place}: noise: expected a standard deviation, found '
                                  f'{noise:g}')
    return Column(str(parts['column']), factor,
                  _number(parts.get('offset', 0.0), f'{place}: offset'), noise)


def _number(value: Any, place: str) -> float:
    # YAML 1.1 reads 2e-6 as text.
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise IdentificationError(f'{place}: expected a number, found {value!r:.40}') from None
    if not isfinite(number) or isinstance(value, bool):
        raise IdentificationError(f'{place}: expected a number, found {value!r:.40}')
    return number
