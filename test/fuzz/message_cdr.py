"""Serialises messages as rclpy does, but with zeros in the gaps for alignment.

rclpy leaves there what the memory held before: the same seed would give other bytes.
"""
from __future__ import annotations

import re
import struct
from typing import Any

KINDS = {'boolean': '?', 'octet': 'B', 'byte': 'B', 'char': 'B', 'int8': 'b', 'uint8': 'B',
         'int16': 'h', 'uint16': 'H', 'int32': 'i', 'uint32': 'I', 'int64': 'q', 'uint64': 'Q',
         'float': 'f', 'double': 'd'}
ARRAY = re.compile(r'sequence<(.+?)(?:, (\d+))?>$|(.+)\[(\d+)\]$')
HEADER = b'\x00\x01\x00\x00'      # little-endian CDR


def serialize(message: Any) -> bytes:
    """The bytes of a message."""
    out = bytearray()
    _message(out, message)
    return HEADER + bytes(out)


def _message(out: bytearray, message: Any) -> None:
    fields = message.get_fields_and_field_types()
    if not fields:
        out.append(0)                # what a message without fields is made of
    for name, kind in fields.items():
        _value(out, getattr(message, name), kind)


def _value(out: bytearray, value: Any, kind: str) -> None:
    if array := ARRAY.match(kind):
        inner = array.group(1) or array.group(3)
        if array.group(1):
            _pack(out, 'I', len(value))
        if inner in KINDS and len(value):
            _align(out, struct.calcsize(KINDS[inner]))
            items = [one[0] if isinstance(one, bytes) else one for one in value]
            out += struct.pack(f'<{len(items)}{KINDS[inner]}', *items)
        elif inner not in KINDS:
            for one in value:
                _value(out, one, inner)
    elif kind in KINDS:
        _pack(out, KINDS[kind], value[0] if isinstance(value, bytes) else value)
    elif kind.startswith('string'):
        raw = value.encode('utf-8', 'replace').split(b'\0')[0] + b'\0'
        _pack(out, 'I', len(raw))
        out += raw
    else:
        _message(out, value)


def _pack(out: bytearray, code: str, value: Any) -> None:
    _align(out, struct.calcsize(code))
    out += struct.pack(f'<{code}', value)


def _align(out: bytearray, size: int) -> None:
    out += bytes(-len(out) % size)
