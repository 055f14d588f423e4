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
