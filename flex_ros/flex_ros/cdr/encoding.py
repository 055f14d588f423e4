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
"""Parts of CDR, the bytes in which every middleware of ROS 2 sends its messages.

Little-endian, each number at a multiple of its size, counted from behind the first four bytes.
"""
from __future__ import annotations

import struct
from functools import lru_cache

LITTLE_ENDIAN = b'\x00\x01\x00\x00'
PADS = [bytes(count) for count in range(8)]
COUNT, TIME = struct.Struct('<I'), struct.Struct('<iI')


def changing_text(value: str) -> bytes:
    """A string, and the gap behind it: all that follows one begins at a multiple of four."""
    raw = value.encode() + b'\0'
    return COUNT.pack(len(raw)) + raw + PADS[-len(raw) % 4]


# For names, which come again in each message. Texts that change would fill the cache with what
# nobody asks for again.
text = lru_cache(4096)(changing_text)
