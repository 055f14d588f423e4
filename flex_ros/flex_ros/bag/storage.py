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
"""Files of a rosbag2 that outlive the process that writes them.

Package rosbags gives them other names than `ros2 bag record` does, which `ros2 bag reindex` does
not find, and writes SQLite in one transaction: who is killed, or fills the disk, has nothing. Here
they have the names of rosbag2, and what is there at a call of `keep` stays.
"""
from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.rosbag2.storage_mcap import McapWriter
from rosbags.rosbag2.storage_sqlite3 import Sqlite3Writer


def renamed(path: Path) -> Path:
    """`run/run.mcap` is from now on `run/run_0.mcap`."""
    return path.rename(path.with_name(f'{path.stem}_0{path.suffix}'))


class KeptMcap(McapWriter):
    """MCAP; chunks end at 1 MB, and when they are to be kept."""

    def __init__(self, path: Path, compression: Any) -> None:
        super().__init__(path, compression)
        self.path = renamed(self.path)

    def keep(self) -> None:
        if self.chunk.bio.tell():
            self.close_chunk()
        self.bio.flush()


class KeptSqlite3(Sqlite3Writer):
    """SQLite with a log of its own beside it while it is written (WAL): to keep what is there
    takes a millisecond, and no wait for the disk."""

    def __init__(self, path: Path, compression: Any) -> None:
        super().__init__(path, compression)
        self.conn.close()
        self.path = renamed(self.path)
        self.conn = sqlite3.connect(self.path)
        self.conn.execute('PRAGMA journal_mode=WAL')
        self.conn.execute('PRAGMA synchronous=OFF')      # as rosbag2 has it
        self.cursor = self.conn.cursor()

    def keep(self) -> None:
        self.conn.commit()

    def close(self, version: int, metadata: str) -> None:
        self.conn.commit()
        self.conn.execute('PRAGMA journal_mode=DELETE')  # readable where nobody may write
        super().close(version, metadata)


class KeptWriter(Writer):
    """rosbags' Writer, to these files."""

    STORAGE_PLUGINS: Mapping[StoragePlugin, Any] = {
        StoragePlugin.MCAP: KeptMcap, StoragePlugin.SQLITE3: KeptSqlite3}

    def keep(self) -> None:
        """Whatever happens to this process: what was written until now can be read, after `ros2
        bag reindex` if it has no end."""
        storage: Any = self.storage
        storage.keep()
