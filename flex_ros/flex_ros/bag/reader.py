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
"""Reads recorded bags (rosbag2: MCAP or SQLite) without ROS."""
from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from flex_ros.printable_text import printable


class BagReadError(RuntimeError):
    """A bag that cannot be read; the text says what was expected and what was found."""


class BagReader(AbstractContextManager['BagReader']):
    """Messages of the bag at `path`, a rosbag2 folder or file.

    Damaged and truncated files raise a BagReadError, and no other error. A message that cannot be
    decoded is left out and counted by topic in `undecodable`.

    types: message types (`flex_msgs/msg/FlexState`) that rosbags does not know. A bag without
    message definitions needs those; they are read from the packages installed in
    AMENT_PREFIX_PATH.
    """

    def __init__(self, path: Path, types: Sequence[str] = ()) -> None:
        self.path = path
        self.undecodable: Counter[str] = Counter()
        with self._readable():
            self._reader = AnyReader([path], default_typestore=_typestore(types))

    def __enter__(self) -> BagReader:
        with self._readable():
            self._reader.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        with self._readable():
            self._reader.close()

    @property
    def topics(self) -> list[str]:
        """Names of the recorded topics; a topic with several connections is listed once."""
        with self._readable():       # str: a damaged metadata.yaml may hold any YAML as a name
            return list(dict.fromkeys(str(one.topic) for one in self._reader.connections))

    def messages(self, topics: Sequence[str]) -> Iterator[tuple[str, Any]]:
        """(topic, message) in the order of recording; only messages of these topics."""
        with self._readable():
            wanted = [one for one in self._reader.connections if str(one.topic) in topics]
            for connection, _, data in self._reader.messages(wanted):
                topic = str(connection.topic)
                try:
                    message = self._reader.deserialize(data, connection.msgtype)
                except Exception:        # the type of the error depends on the bytes
                    self.undecodable[topic] += 1
                    continue
                yield topic, message

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Turns every error of the readers into a BagReadError."""
        try:
            yield
        except FileNotFoundError:
            found = 'a folder without metadata.yaml' if self.path.is_dir() else 'nothing there'
            raise BagReadError(f'{self.path}: expected a rosbag2 folder or file, found '
                               f'{found}') from None
        except Exception as error:
            # rosbags, SQLite and the decompressors raise errors of many types for files that
            # were truncated or written by another program.
            found = printable(error, 200) or type(error).__name__
            raise BagReadError(f'{self.path}: expected a rosbag2 folder or file, found: '
                               f'{found}') from None


def _typestore(types: Sequence[str]) -> Any:
    """The message types of Jazzy and, where they are installed, `types`."""
    store = get_typestore(Stores.ROS2_JAZZY)
    prefixes = os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
    for kind in types:
        package, _, name = kind.split('/')
        places = [Path(prefix, 'share', package, 'msg', f'{name}.msg') for prefix in prefixes]
        text = next((place.read_text() for place in places if place.is_file()), '')
        if text and kind not in store.fielddefs:
            store.register(get_types_from_msg(text, kind))
    return store
