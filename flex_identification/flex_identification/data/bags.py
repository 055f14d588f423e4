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
"""Streams of a rosbag2: joint states, commands, strain gauges, IMUs and tracked positions."""
from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from flex_identification.data.channels import AXES
from flex_identification.data.streams import Stream
from flex_identification.errors import IdentificationError
from flex_ros.bag.reader import BagReader, BagReadError

LARGEST = 5_000_000_000     # bytes of a bag
GAUGES = 'flex_msgs/msg/StrainGauges'
NAMES = {'joint_states': 'state', 'joint_commands': 'command', 'strain_gauges': 'strain',
         'strain': 'strain'}
FIELDS = (('position', 'position'), ('velocity', 'velocity'), ('effort', 'effort'))


def read_bag(path: Path, topics: Mapping[str, str], warnings: list[str]) -> list[Stream]:
    """Streams of a bag.

    topics: what a topic has (`state`, `command`, `strain`, `imu/NAME` or `tip/FRAME`), to its
    name; topics called joint_states, joint_commands and strain_gauges in any namespace need none.
    """
    files = [path] if path.is_file() else list(path.iterdir())
    size = sum(one.stat().st_size for one in files if one.is_file())
    if size > LARGEST:
        raise IdentificationError(f'{path}: expected at most {LARGEST / 1e9:.0f} GB, found '
                                  f'{size / 1e9:.1f} GB; filter the topics of the bag')
    try:
        with BagReader(path, [GAUGES]) as reader:
            wanted = _wanted(path, reader.topics, topics)
            rows: dict[str, list[tuple[float, dict[str, float]]]] = {one: [] for one in wanted}
            for topic, message in reader.messages(list(wanted)):
                found = _values(message, wanted[topic])
                if found:
                    stamp = message.header.stamp
                    rows[topic].append((stamp.sec + 1e-9 * stamp.nanosec, found))
            for topic, count in reader.undecodable.items():
                warnings.append(f'{path}: {count} messages of {topic} cannot be decoded, left '
                                'out')
    except BagReadError as error:
        raise IdentificationError(str(error)) from None
    streams = [_stream(f'{path}: {topic}', some) for topic, some in rows.items() if some]
    if not streams:
        raise IdentificationError(f'{path}: expected messages with a header on '
                                  f'{", ".join(wanted)}, found none')
    return streams


def _wanted(path: Path, there: list[str], topics: Mapping[str, str]) -> dict[str, str]:
    """What each topic has, by its name."""
    for what, topic in topics.items():
        if what not in ('state', 'command', 'strain') and not what.startswith(('imu/', 'tip/')):
            raise IdentificationError('mapping: topics: expected state, command, strain, '
                                      f'imu/NAME or tip/FRAME, found {what!r}')
        if topic not in there:
            raise IdentificationError(f'{path}: expected the topic {topic}, found '
                                      f'{", ".join(sorted(there)) or "none"}')
    wanted = {topic: what for what, topic in topics.items()}
    for topic in there:
        known = NAMES.get(topic.rpartition('/')[2])
        if known and known not in topics:
            wanted[topic] = known
    if not wanted:
        raise IdentificationError(f'{path}: expected a topic joint_states, found '
                                  f'{", ".join(sorted(there)) or "none"}; name it in the mapping '
                                  '(topics: {state: /NAME})')
    return wanted


def _values(message: Any, what: str) -> dict[str, float]:
    """Channels of a message; empty if it is of a type that does not have them."""
    if not hasattr(message, 'header'):
        return {}
    kind, _, name = what.partition('/')
    if kind in ('state', 'command') and hasattr(message, 'effort'):
        fields = FIELDS if kind == 'state' else (('command', 'effort'),)
        return {f'{channel}/{joint}': float(value) for channel, attribute in fields
                for joint, value in zip(message.name, getattr(message, attribute), strict=False)}
    if kind == 'strain' and hasattr(message, 'strain'):
        return {f'strain/{gauge}': float(value)
                for gauge, value in zip(message.name, message.strain, strict=False)}
    if kind == 'imu' and hasattr(message, 'angular_velocity'):
        return {f'{channel}/{name}/{axis}': float(getattr(vector, axis))
                for channel, vector in (('gyro', message.angular_velocity),
                                        ('acceleration', message.linear_acceleration))
                for axis in AXES}
    if kind == 'tip':
        place = getattr(message, 'pose', message)
        place = getattr(place, 'position', getattr(place, 'point', None))
        if place is not None:
            return {f'tip/{name}/{axis}': float(getattr(place, axis)) for axis in AXES}
    return {}


def _stream(name: str, rows: list[tuple[float, dict[str, float]]]) -> Stream:
    channels = list(dict.fromkeys(channel for _, found in rows for channel in found))
    values = np.array([[found.get(channel, np.nan) for channel in channels] for _, found in rows])
    return Stream(name, np.array([stamp for stamp, _ in rows]),
                  dict(zip(channels, values.T, strict=True)))
