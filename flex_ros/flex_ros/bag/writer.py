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
"""A rosbag2 folder that is being written, MCAP or SQLite, as `ros2 bag` reads it."""
from __future__ import annotations

import contextlib
import re
import shutil
import sqlite3
from pathlib import Path
from typing import Any, Literal

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from rclpy.qos import QoSProfile
from rosbags.interfaces import (
    Qos,
    QosDurability,
    QosHistory,
    QosLiveliness,
    QosReliability,
    QosTime,
)
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2.errors import WriterError
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from flex_ros.bag.storage import KeptWriter

STORAGES = {'mcap': StoragePlugin.MCAP, 'sqlite3': StoragePlugin.SQLITE3}
VERSION: Literal[9] = 9            # of metadata.yaml, that of Jazzy
FAILURES = (OSError, WriterError, sqlite3.Error)
FOREVER = QosTime(2147483647, 4294967295)


class BagError(RuntimeError):
    """A bag that cannot be written; the text says why."""


class Bag:
    """Writes messages as bytes; the definitions of their types go into the bag too."""

    def __init__(self, path: str, storage: str) -> None:
        try:
            self.path = Path(path).expanduser().absolute()
        except RuntimeError as error:        # ~name of nobody
            raise BagError(f'cannot record to {path}: {error}') from None
        self.count = 0
        self._types = get_typestore(Stores.ROS2_JAZZY)
        self._connections: dict[str, Any] = {}
        try:
            self._writer = KeptWriter(self.path, version=VERSION,
                                      storage_plugin=STORAGES[storage])
            self._writer.open()
        except (*FAILURES, ValueError) as error:       # ValueError: a zero byte in the path
            raise BagError(f'cannot record to {self.path}: {error}') from None

    def add_topic(self, topic: str, kind: str, quality: QoSProfile) -> None:
        """Make room for a topic; kind as ROS writes it, `sensor_msgs/msg/Imu`."""
        if topic in self._connections:
            return
        try:
            self._learn(kind)
            self._connections[topic] = self._writer.add_connection(
                topic, kind, typestore=self._types, offered_qos_profiles=[_quality(quality)])
        except FAILURES as error:
            raise BagError(f'cannot record {topic}: {error}') from None

    def write(self, topic: str, data: bytes, when: int) -> None:
        """Keep a message that came at `when`, ns of the wall clock, as in `ros2 bag record`."""
        try:
            self._writer.write(self._connections[topic], when, data)
        except FAILURES as error:
            raise self._ended(error) from None
        self.count += 1

    def keep(self) -> None:
        """Whatever happens from now on: what was written can be read, by `ros2 bag reindex` and
        then as any bag."""
        try:
            self._writer.keep()
        except FAILURES as error:
            raise self._ended(error) from None

    def _ended(self, error: Exception) -> BagError:
        return BagError(f'recording to {self.path} ended after {self.count} messages: {error}; '
                        f'what the disk has of it is read after: ros2 bag reindex {self.path}')

    def close(self) -> None:
        """Write the index and metadata.yaml, which `ros2 bag` asks for."""
        try:
            self._writer.close()
        except FAILURES as error:
            self.abort()
            raise BagError(f'cannot finish the recording {self.path}: {error}') from None

    def abort(self) -> None:
        """Let go of the file as it is."""
        with contextlib.suppress(*FAILURES, ValueError):
            self._writer.abort()

    def remove(self) -> None:
        """Undo the opening of the bag."""
        self.abort()
        shutil.rmtree(self.path, ignore_errors=True)

    def _learn(self, kind: str) -> None:
        """Have a type, and those that it is made of, in the typestore."""
        if kind in self._types.fielddefs:
            return
        package, _, name = kind.split('/')
        try:
            folder = Path(get_package_share_directory(package))
            text = (folder / 'msg' / f'{name}.msg').read_text()
        except (PackageNotFoundError, OSError):
            raise BagError(f'{kind}: its definition is not installed') from None
        for inner in _types_in(text, package):
            self._learn(inner)
        self._types.register(get_types_from_msg(text, kind))


def _types_in(text: str, package: str) -> list[str]:
    """The message types that the fields of a definition name."""
    found = []
    for line in text.splitlines():
        words = line.split('#')[0].split()
        kind = re.sub(r'\[.*|<.*', '', words[0]) if words else ''
        if '/' in kind:
            found.append(kind.replace('/', '/msg/') if kind.count('/') == 1 else kind)
        elif kind[:1].isupper():
            found.append('std_msgs/msg/Header' if kind == 'Header' else f'{package}/msg/{kind}')
    return found


def _quality(quality: QoSProfile) -> Qos:
    """The offered quality, by the names that both sides share."""
    return Qos(QosHistory.KEEP_LAST, max(quality.depth, 1),
               QosReliability[quality.reliability.name], QosDurability[quality.durability.name],
               FOREVER, FOREVER, QosLiveliness.AUTOMATIC, FOREVER, False)
