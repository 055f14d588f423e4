"""Messages as text: YAML and comma-separated values."""
from __future__ import annotations

import array
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import yaml
from rosidl_parser.definition import (
    AbstractString,
    AbstractWString,
    Array,
    BasicType,
    BoundedSequence,
    NamespacedType,
)

SEQUENCES = (list, tuple, array.array, np.ndarray)


@dataclass(frozen=True)
class Style:
    """What is left out: elements from `longest` on, arrays, strings."""

    longest: int | None = None
    no_arrays: bool = False
    no_strings: bool = False


FULL = Style()


def to_yaml(message: Any, style: Style = FULL, flow: bool = False) -> str:
    """The message as a YAML mapping, fields in the order of the definition."""
    return yaml.safe_dump(_mapping(message, style), allow_unicode=True, width=sys.maxsize,
                          default_flow_style=flow, sort_keys=False)


def to_csv(message: Any, style: Style = FULL) -> str:
    """All values in one line, in the order of the definition."""
    return ','.join(_csv(getattr(message, name), slot, style) for name, slot in fields(message))


def fields(message: Any) -> list[tuple[str, Any]]:
    """Names and slot types of the fields."""
    return list(zip(message.get_fields_and_field_types(), message.SLOT_TYPES))


def _mapping(message: Any, style: Style) -> dict[str, Any]:
    return {name: _plain(getattr(message, name), slot, style) for name, slot in fields(message)}


def _plain(value: Any, slot: Any, style: Style) -> Any:
    """`value` in the types that YAML has. slot: its type; None inside a sequence."""
    if isinstance(value, bytes):
        text = ''.join(map(chr, value[:style.longest]))
        return text + '...' if _is_long(value, style) else text
    if isinstance(value, str):
        if style.no_strings:
            return f'<string length: <{len(value)}>>'
        return value[:style.longest] + '...' if _is_long(value, style) else value
    if isinstance(value, SEQUENCES):
        if style.no_arrays and slot is not None:
            return _array_summary(value, slot)
        shown = [_plain(one, None, style) for one in value[:style.longest]]
        return [*shown, '...'] if _is_long(value, style) else shown
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (bool, int, float)):
        return value
    return _mapping(value, style)


def _csv(value: Any, slot: Any, style: Style) -> str:
    if isinstance(value, SEQUENCES):
        if style.no_arrays and slot is not None:
            return _array_summary(value, slot)
        shown = [_csv(one, None, style) for one in value[:style.longest]]
        return ','.join([*shown, '...'] if _is_long(value, style) else shown)
    if isinstance(value, str) and style.no_strings:
        return f'<string length: <{len(value)}>>'
    if isinstance(value, (bytes, str)):
        more: Any = b'...' if isinstance(value, bytes) else '...'
        return str(value[:style.longest] + more if _is_long(value, style) else value)
    if isinstance(value, (bool, int, float, np.generic)):
        return str(value)
    return to_csv(value, style)


def _is_long(value: Any, style: Style) -> bool:
    return style.longest is not None and len(value) > style.longest


def _array_summary(value: Any, slot: Any) -> str:
    name = type_name(slot.value_type)
    if isinstance(slot, Array):
        return f'<array type: {name}[{slot.size}]>'
    bound = f'[{slot.maximum_size}]' if isinstance(slot, BoundedSequence) else ''
    return f'<sequence type: {name}{bound}, length: {len(value)}>'


def type_name(slot: Any) -> str:
    """The type of a slot as people write it."""
    if isinstance(slot, BasicType):
        return str(slot.typename)
    if isinstance(slot, AbstractString):
        return 'string'
    if isinstance(slot, AbstractWString):
        return 'wstring'
    if isinstance(slot, NamespacedType):
        return '/'.join(slot.namespaced_name())
    return f'sequence of {type_name(slot.value_type)}'
