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
"""Stamps and arrays as messages hold them."""
from __future__ import annotations

import array

import numpy as np
from builtin_interfaces.msg import Time


def stamp(nanoseconds: int) -> Time:
    return Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


def nanoseconds(time: Time) -> int:
    return time.sec * 10**9 + time.nanosec


def floats(values: np.ndarray) -> array.array:
    """Numbers as the messages keep them, in one copy."""
    out = array.array('d')
    out.frombytes(np.ascontiguousarray(values, dtype=np.float64).tobytes())
    return out
