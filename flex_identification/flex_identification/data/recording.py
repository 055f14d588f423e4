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
"""A recording: what was measured on a robot in one run, on one time axis, in SI units."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from flex_dynamics.arrays import Array
from flex_identification.data.channels import split
from flex_identification.errors import IdentificationError

GAP = 5.0           # periods without a sample; what acted meanwhile is not known
FEWEST = 20         # samples of a segment, and of a recording


@dataclass(frozen=True)
class Recording:
    """One run. Arrays are read-only.

    Parameters
    ----------
    name : str
        For messages: file, and which part of it.
    time : array, shape (N,)
        s, rising, from 0.
    channels : mapping of name to array, shape (N,)
        By name as data/channels.py lists them; NaN where there is no reading.
    offsets : mapping of name to array, shape (N,)
        s by which a reading is later than its sample, of channels with stamps of their own.
    noise : mapping of name to float
        Standard deviations of the readings; of channels left out they are estimated.
    warnings : tuple of str
        What was found and mended while it was read.

    Examples
    --------
    >>> time = 0.002 * np.arange(100)
    >>> run = Recording('run', time, {'position/joint1': np.sin(time), 'effort/joint1': 0 * time})
    >>> round(run.period, 6), list(run.of_kind('position'))
    (0.002, ['joint1'])
    """

    name: str
    time: Array
    channels: Mapping[str, Array]
    offsets: Mapping[str, Array] = field(default_factory=dict)
    noise: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        time = _fixed(self.time, f'{self.name}: time')
        if time.ndim != 1 or len(time) < FEWEST:
            raise IdentificationError(f'{self.name}: expected at least {FEWEST} samples, found '
                                      f'{time.size}')
        if not np.isfinite(time).all() or (np.diff(time) <= 0.0).any():
            raise IdentificationError(f'{self.name}: time: expected finite stamps that rise, '
                                      'found others')
        object.__setattr__(self, 'time', time)
        for what in ('channels', 'offsets'):
            found = {}
            for name, values in getattr(self, what).items():
                split(name)
                found[name] = _fixed(values, f'{self.name}: {name}')
                if found[name].shape != time.shape:
                    raise IdentificationError(
                        f'{self.name}: {name}: expected as many values as stamps, {len(time)}, '
                        f'found shape {found[name].shape}')
            object.__setattr__(self, what, MappingProxyType(found))
        object.__setattr__(self, 'noise', MappingProxyType(dict(self.noise)))

    @property
    def period(self) -> float:
        """Median time between samples, s."""
        return float(np.median(np.diff(self.time)))

    def of_kind(self, kind: str) -> dict[str, Array]:
        """Channels of a kind: what follows the kind in their names, to values (N,)."""
        return {name.partition('/')[2]: values for name, values in self.channels.items()
                if split(name)[0] == kind}

    def segments(self) -> list[slice]:
        """Stretches without gaps, of at least 20 samples each."""
        ends = np.flatnonzero(np.diff(self.time) > GAP * self.period) + 1
        edges = [0, *ends.tolist(), len(self.time)]
        return [slice(a, b) for a, b in zip(edges[:-1], edges[1:], strict=True)
                if b - a >= FEWEST]

    def part(self, begin: float, end: float) -> Recording:
        """What was recorded from begin to end (s), on the same clock."""
        keep = (self.time >= begin) & (self.time < end)
        return Recording(f'{self.name} [{begin:g} s, {end:g} s)', self.time[keep],
                         {name: values[keep] for name, values in self.channels.items()},
                         {name: values[keep] for name, values in self.offsets.items()},
                         self.noise, self.warnings)


def _fixed(values: object, name: str) -> Array:
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise IdentificationError(f'{name}: expected numbers, found others') from None
    array.setflags(write=False)
    return array
