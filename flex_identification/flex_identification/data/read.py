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
"""Read a recording: rosbag2, CSV, NPZ or MAT, with a mapping of columns."""
from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flex_dynamics.checks import did_you_mean
from flex_identification.data.bags import read_bag
from flex_identification.data.channels import KINDS, split
from flex_identification.data.mapping import ColumnMapping, read_mapping
from flex_identification.data.recording import Recording
from flex_identification.data.streams import Stream, cleaned, merged
from flex_identification.data.tables import read_table
from flex_identification.errors import IdentificationError

TABLES = ('.csv', '.npz', '.mat')
BAGS = ('.mcap', '.db3')


def read_recording(path: str | os.PathLike[str],
                   mapping: str | os.PathLike[str] | Mapping[str, Any] | None = None) -> Recording:
    """A run from a file.

    Parameters
    ----------
    path : path
        Folder or file of a rosbag2 (mcap, sqlite3), or a CSV, NPZ or MAT file.
    mapping : path or mapping, optional
        Which column is which channel: YAML or a dictionary, see data/mapping.py.

    Returns
    -------
    Recording
        Its `warnings` say what was mended; what cannot be is an IdentificationError.

    Examples
    --------
    >>> run = read_recording('run.csv', {'time': 't', 'channels': {
    ...     'position/joint1': {'column': 'q', 'unit': 'deg'}, 'effort/joint1': 'tau'}})
    """
    wanted, place = read_mapping(mapping), Path(path)
    warnings: list[str] = []
    if not place.exists():
        raise IdentificationError(f'{place}: expected a recording, found nothing there')
    kind = place.suffix.lower()
    if place.is_dir() or kind in BAGS:
        streams = read_bag(place, wanted.topics, warnings)
        if wanted.channels:
            streams = [_scaled(one, wanted) for one in streams]
    elif kind in TABLES:
        streams = [_mapped(place, wanted)]
    else:
        raise IdentificationError(f'{place}: expected a rosbag2 folder or a file '
                                  f'{", ".join((*BAGS, *TABLES))}, found '
                                  f'{kind or "no suffix"}')
    streams = [cleaned(one, warnings) for one in streams]
    noise = {name: one.noise for name, one in wanted.channels.items() if one.noise > 0.0}
    return merged(str(place), streams, noise, warnings)


def _mapped(path: Path, wanted: ColumnMapping) -> Stream:
    """The columns of a table as channels."""
    columns = read_table(path)
    if wanted.time is not None:
        name, factor, offset = wanted.time.column, wanted.time.factor, wanted.time.offset
    else:
        name, factor, offset = next((one for one in ('time', 't') if one in columns), ''), 1.0, 0.0
    if name not in columns:
        raise IdentificationError(f'{path}: expected a column of stamps, {name or "time"}, found '
                                  f'{_listed(columns)}; name it in the mapping (time: COLUMN)')
    channels = {}
    for channel, one in wanted.channels.items():
        if one.column not in columns:
            raise IdentificationError(f'{path}: {channel}: expected a column {one.column!r}, '
                                      f'found {_listed(columns)}'
                                      f'{did_you_mean(one.column, columns)}')
        channels[channel] = one.factor * columns[one.column] + one.offset
    if not wanted.channels:
        channels = {column: values for column, values in columns.items()
                    if column.partition('/')[0] in KINDS}
        for channel in channels:
            split(channel)
    if not channels:
        raise IdentificationError(f'{path}: expected columns named as channels, such as '
                                  f'position/joint1, found {_listed(columns)}; give a mapping')
    return Stream(str(path), factor * columns[name] + offset, channels)


def _scaled(stream: Stream, wanted: ColumnMapping) -> Stream:
    """A bag's stream with the factors, offsets and names of the mapping."""
    channels = dict(stream.channels)
    for channel, one in wanted.channels.items():
        if one.column in stream.channels:
            channels.pop(one.column, None)
            channels[channel] = one.factor * stream.channels[one.column] + one.offset
    return Stream(stream.name, stream.time, channels)


def _listed(columns: Mapping[str, Any]) -> str:
    names = ', '.join(list(columns)[:12])
    return names + (f' and {len(columns) - 12} more' if len(columns) > 12 else '')
