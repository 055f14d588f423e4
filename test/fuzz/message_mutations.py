"""Messages that are almost right: mutations of fields and of serialised bytes."""
from __future__ import annotations

import copy
import struct
from typing import Any

import numpy as np
from message_cdr import ARRAY, serialize

NUMBERS = (float('nan'), float('inf'), -float('inf'), 1e308, -1e308, 1e300, 1e154, -1e154, 1e18,
           1e9, 1.0000001e9, -1e9, 1e6, 1e3, 1.0, -1.0, 0.0, -0.0, 1e-300, 5e-324, -5e-324)
TEXTS = ('', 'x', 'unknown', '/', '//', 'a/b/c', 'link1/tip', 'joint1', 'tool', '~nosuchuser/x',
         'ü' * 3, '\U0001f916', 'a' * 300, '{}', '%s%n', '<script>', "'", '\n', 'nan', '1e308')
LENGTHS = (0, 1, 2, 3, 5, 7, 8, 255, 2**16, 2**20, 2**28, 2**31 - 1, 2**31, 2**32 - 1)
INTEGERS = {f'{sign}int{bits}': (0 if sign else -2**(bits - 1),
                                 2**bits - 1 if sign else 2**(bits - 1) - 1)
            for sign in ('', 'u') for bits in (8, 16, 32, 64)}
HEADERS = (b'\x00\x00\x00\x00', b'\x00\x01\x00\x00', b'\x00\x02\x00\x00', b'\x00\x03\x00\x00',
           b'\x00\x06\x00\x00', b'\x00\x0a\x00\x00', b'\x00\x0b\x00\x00', b'\xff\xff\xff\xff',
           b'\x00\x01\x00\x03')


def lengthened(items: list[Any]) -> list[Any]:
    """The items again and again."""
    return items * min(50, 2000 // len(items) + 1)


def longest(valid: Any) -> bytes:
    """The bytes of the longest of the messages like `valid` with one array lengthened twice.

    Three mutations in a row may make a longer one, but next to never do.
    """
    found = serialize(valid)
    for path in _arrays(valid):
        message = copy.deepcopy(valid)
        owner = message
        for name in path[:-1]:
            owner = getattr(owner, name)
        items = list(getattr(owner, path[-1]))
        try:
            setattr(owner, path[-1], lengthened(lengthened(items)))
        except (AssertionError, ValueError):        # rclpy refuses to hold it
            continue
        found = max(found, serialize(message), key=len)
    return found


def _arrays(message: Any) -> list[tuple[str, ...]]:
    """Paths to the arrays with elements and without a fixed size, but those within others."""
    paths = []
    for name, kind in message.get_fields_and_field_types().items():
        value = getattr(message, name)
        if array := ARRAY.match(kind):
            if array.group(4) is None and len(value):
                paths.append((name,))
        elif hasattr(value, 'get_fields_and_field_types'):
            paths += [(name, *path) for path in _arrays(value)]
    return paths


class Mutator:
    """Draws mutations; the same seed, the same messages."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def message(self, valid: Any) -> bytes:
        """The bytes of a message like `valid`, which stays as it is: one in eight unchanged, the
        others with a few mutated fields, mutated bytes, or both."""
        kind = self.rng.integers(8)
        message = valid
        if 1 <= kind <= 5:
            message = copy.deepcopy(valid)
            for _ in range(self.rng.integers(1, 4)):
                self.field(message)
        data = serialize(message)
        if kind >= 4:
            for _ in range(self.rng.integers(1, 4)):
                data = self.bytes(data)
        return data

    def pick(self, some: Any) -> Any:
        return some[int(self.rng.integers(len(some)))]

    def number(self) -> float:
        if self.rng.random() < 0.7:
            return self.pick(NUMBERS)
        bits = self.rng.integers(0, 2**64, dtype=np.uint64)      # any sign, exponent and mantissa
        return float(np.uint64(bits).view(np.float64))

    def field(self, message: Any) -> None:
        """Mutate one field of a message in place, at any depth."""
        fields = message.get_fields_and_field_types()
        if not fields:
            return
        name = self.pick(list(fields))
        try:
            setattr(message, name, self.value(getattr(message, name), fields[name]))
        except (AssertionError, OverflowError, ValueError):      # rclpy refuses to hold it
            return

    def value(self, value: Any, kind: str) -> Any:
        """Another value of a field of this type."""
        if array := ARRAY.match(kind):
            inner = array.group(1) or array.group(3)
            size = int(array.group(4)) if array.group(4) else None
            return self.array(list(value), inner, size)
        if kind in ('double', 'float'):
            number = self.number()
            return float(np.float32(number)) if kind == 'float' else number
        if kind in ('boolean', 'bool'):
            return not value
        if kind in ('octet', 'byte'):
            return bytes([int(self.rng.integers(256))])
        if kind in INTEGERS:
            low, high = INTEGERS[kind]
            return int(self.pick((low, high, 0, 1, min(10**9, high), max(-1, low),
                                  self.rng.integers(low, high, endpoint=True,
                                                    dtype=np.uint64 if low == 0 else np.int64))))
        if kind.startswith(('string', 'wstring')):
            return self.pick(TEXTS)
        self.field(value)
        return value

    def array(self, items: list[Any], kind: str, size: int | None) -> list[Any]:
        """Mutate an element; of arrays without a fixed size also their length and order."""
        ways = ('element',) if size is not None else (
            'element', 'element', 'empty', 'drop', 'double', 'repeat', 'shuffle', 'long')
        way = self.pick(ways)
        if way == 'empty' or not items:
            return []
        at = int(self.rng.integers(len(items)))
        if way == 'drop':
            del items[at]
        elif way == 'double':
            items.append(items[at])
        elif way == 'repeat':
            items = items * 2
        elif way == 'shuffle':
            self.rng.shuffle(items)
        elif way == 'long':
            items = lengthened(items)
        else:
            items[at] = self.value(copy.deepcopy(items[at]), kind)
        return items

    def bytes(self, data: bytes) -> bytes:
        """Mutate the bytes of a message."""
        rng, size = self.rng, len(data)
        way = self.pick(('flip', 'flip', 'word', 'word', 'number', 'truncate', 'pad', 'header',
                         'noise', 'empty', 'cut', 'utf8'))
        if way == 'empty' or size < 8:
            return self.pick((b'', data[:2], data[:4], b'\x00\x01\x00\x00' + b'\xff' * 4))
        out = bytearray(data)
        if way == 'flip':
            for _ in range(rng.integers(1, 9)):
                out[rng.integers(size)] ^= 1 << int(rng.integers(8))
        elif way == 'word':       # a length, as likely as not
            struct.pack_into('<I', out, int(rng.integers((size - 4) // 4 + 1)) * 4,
                             self.pick(LENGTHS))
        elif way == 'number':
            if size >= 12:
                struct.pack_into('<d', out, 4 + int(rng.integers((size - 4) // 8)) * 8,
                                 self.number())
        elif way == 'truncate':
            del out[int(rng.integers(size)):]
        elif way == 'pad':
            out += rng.bytes(int(rng.integers(1, 64)))
        elif way == 'header':
            out[:4] = self.pick(HEADERS)
        elif way == 'noise':
            out[4:] = rng.bytes(size - 4)
        elif way == 'cut':
            begin = int(rng.integers(4, size))
            del out[begin:begin + int(rng.integers(1, 17))]
        else:                     # no UTF-8, no terminating zero
            begin = int(rng.integers(4, size))
            out[begin:begin + 3] = b'\xff\xfe\xc3'
        return bytes(out)
