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
"""Bounded reading of files: regular ones only, up to a size, as UTF-8 text where text is expected.

A pipe could make the reader wait for ever, a device could fill the memory.
"""
from __future__ import annotations

import codecs
import os
import stat

from flex_description.errors import RobotError

MEGABYTE = 2**20
# Far above the size of any real description.
LARGEST_XML = 16 * MEGABYTE
LARGEST_YAML = MEGABYTE // 4    # parsed in Python, some seconds
LARGEST_TABLE = 64 * MEGABYTE

NOT_REGULAR = ((stat.S_ISDIR, 'a directory'), (stat.S_ISFIFO, 'a pipe (FIFO)'),
         (stat.S_ISCHR, 'a device'), (stat.S_ISBLK, 'a device'), (stat.S_ISSOCK, 'a socket'))
# Longest first: the mark of UTF-16 is also the beginning of that of UTF-32.
MARKS = ((codecs.BOM_UTF32_LE, 'UTF-32'), (codecs.BOM_UTF32_BE, 'UTF-32'),
         (codecs.BOM_UTF16_LE, 'UTF-16'), (codecs.BOM_UTF16_BE, 'UTF-16'))


class FileError(Exception):
    """A file that cannot be read; the message says what was found instead."""


def read_bytes(path: str | os.PathLike[str], largest: int) -> bytes:
    """All of a regular file of at most `largest` bytes; FileError says what was found instead."""
    try:
        # Non-blocking: the writer of a pipe may never open it.
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise FileError('no such file') from None
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        raise FileError(getattr(error, 'strerror', None) or str(error)) from None
    try:
        mode = os.fstat(number).st_mode
        for is_kind, name in NOT_REGULAR:
            if is_kind(mode):
                raise FileError(name)
        with os.fdopen(number, 'rb', closefd=False) as file:
            data = file.read(largest + 1)
    except OSError as error:
        raise FileError(error.strerror or str(error)) from None
    finally:
        os.close(number)
    if len(data) > largest:
        raise FileError(f'more than {largest / MEGABYTE:g} MB')
    return data


def read_text(path: str | os.PathLike[str], largest: int = LARGEST_XML) -> str:
    """The text of a UTF-8 file of at most `largest` bytes; RobotError if it cannot be read."""
    try:
        return decode(read_bytes(path, largest))
    except FileError as error:
        raise RobotError(f'expected a readable UTF-8 text file of at most {largest / MEGABYTE:g} '
                         f'MB, found {error}', str(path)) from None


def decode(data: bytes) -> str:
    """UTF-8 bytes as text, without a byte-order mark; FileError names another encoding."""
    for mark, name in MARKS:
        if data.startswith(mark):
            raise FileError(f'{name} text; save it as UTF-8')
    if b'\0' in data[:4096]:
        raise FileError('null characters, as in UTF-16, UTF-32 or binary data; save it as UTF-8')
    try:
        return data.decode('utf-8-sig')
    except UnicodeDecodeError as error:
        line = data.count(b'\n', 0, error.start) + 1
        raise FileError(f'something else on line {line}; save it as UTF-8') from None
