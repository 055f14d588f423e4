"""Fills messages from the YAML of a command line."""
from __future__ import annotations

import array
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import yaml
from rosidl_parser.definition import (
    AbstractGenericString,
    AbstractNestedType,
    Array,
    BasicType,
    BoundedSequence,
    NamespacedType,
)

from ros2cli_standin.errors import CommandError, suggestion
from ros2cli_standin.interfaces import import_slot
from ros2cli_standin.message_text import fields, type_name

StampSetter = Callable[[Any], None]
WIDTHS = {f'{sign}int{bits}': (bits, not sign) for sign in ('', 'u') for bits in (8, 16, 32, 64)}
LARGEST_FLOAT = float(np.finfo(np.float32).max)


def read_yaml(text: str | bytes, what: str) -> dict[str, Any]:
    """The mapping that `text` says; what: its name in an error."""
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        reason = ' '.join(str(error).split())
        raise CommandError(f'The passed {what} is not valid YAML: {reason}') from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise CommandError(f'The passed {what} needs to be a dictionary in YAML format, found '
                           f"{type(values).__name__} '{values}'; write e.g. '{{data: 1}}'")
    return values


def read_values(arguments: Any, attribute: str, what: str) -> dict[str, Any]:
    """The mapping on the command line, or from stdin with `--stdin`."""
    text = sys.stdin.buffer.read() if arguments.stdin else getattr(arguments, attribute)
    return read_yaml(text, what)


def set_fields(message: Any, values: dict[str, Any], expand_time: bool = False) -> list[
        StampSetter]:
    """Set the named fields of `message`.

    expand_time: `auto` for a header and `now` for a time are to be filled with the time of
    publishing; returns the functions that do so.
    """
    stamps: list[StampSetter] = []
    _fill(message, values, '', stamps if expand_time else None)
    return stamps


def _fill(message: Any, values: Any, path: str, stamps: list[StampSetter] | None) -> None:
    if not isinstance(values, dict):
        raise _wrong(path, 'a mapping of fields', values)
    slots = dict(fields(message))
    for name, value in values.items():
        if name not in slots:
            raise CommandError(f"Failed to populate field: '{path}{name}' is not a field of "
                               f'{type(message).__name__}'
                               + suggestion(str(name), slots, 'fields'))
        slot = slots[name]
        if stamps is not None and value == 'auto' and _is(slot, 'std_msgs/msg/Header'):
            stamps.append(partial(setattr, getattr(message, name), 'stamp'))
        elif stamps is not None and value == 'now' and _is(slot, 'builtin_interfaces/msg/Time'):
            stamps.append(partial(setattr, message, name))
        else:
            setattr(message, name, _converted(value, slot, f'{path}{name}', stamps,
                                              getattr(message, name)))


def _is(slot: Any, name: str) -> bool:
    return isinstance(slot, NamespacedType) and type_name(slot) == name


def _converted(value: Any, slot: Any, path: str, stamps: list[StampSetter] | None,
               default: Any = None) -> Any:
    """`value` in the Python type of the slot. default: what a new message has there."""
    if isinstance(slot, AbstractNestedType):
        return _sequence(value, slot, path, stamps, default)
    if isinstance(slot, NamespacedType):
        message = import_slot(slot)()
        _fill(message, value, f'{path}.', stamps)
        return message
    if isinstance(slot, AbstractGenericString):
        if isinstance(value, (dict, list)) or value is None:
            raise _wrong(path, 'text', value)
        text = str(value)
        longest = getattr(slot, 'maximum_size', None)
        if longest is not None and len(text) > longest:
            raise _wrong(path, f'text of at most {longest} characters', value)
        return text
    assert isinstance(slot, BasicType)
    return _basic(value, slot.typename, path)


def _sequence(value: Any, slot: Any, path: str, stamps: list[StampSetter] | None,
              default: Any) -> Any:
    if not isinstance(value, list):
        raise _wrong(path, f'a list of {type_name(slot.value_type)}', value)
    if isinstance(slot, Array) and len(value) != slot.size:
        raise _wrong(path, f'a list of {slot.size} elements', value)
    if isinstance(slot, BoundedSequence) and len(value) > slot.maximum_size:
        raise _wrong(path, f'a list of at most {slot.maximum_size} elements', value)
    converted = [_converted(one, slot.value_type, f'{path}[{index}]', stamps)
                 for index, one in enumerate(value)]
    if isinstance(default, array.array):
        return array.array(default.typecode, converted)
    if isinstance(default, np.ndarray):
        return np.array(converted, dtype=default.dtype)
    return converted


def _basic(value: Any, kind: str, path: str) -> Any:
    if kind == 'boolean':
        if value in (0, 1):
            return bool(value)
    elif kind == 'octet':
        if isinstance(value, int) and 0 <= value < 256:
            return bytes([value])
    elif kind in WIDTHS:
        bits, signed = WIDTHS[kind]
        number = _number(value)
        least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        if isinstance(value, int) and not isinstance(value, bool):
            number = value              # exact: 64 bits do not fit a float
        if number is not None and least <= number <= most and number == int(number):
            return int(number)
        raise _wrong(path, f'a whole number from {least} to {most} ({kind})', value)
    else:
        number = _number(value)
        if number is not None and not (kind == 'float' and LARGEST_FLOAT < abs(number) < np.inf):
            return number
    raise _wrong(path, kind, value)


def _number(value: Any) -> float | None:
    """YAML reads 1e-6 as text: text that is a number is one."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _wrong(path: str, expected: str, found: Any) -> CommandError:
    where = path.rstrip('.') or 'the value'
    return CommandError(f"Failed to populate field: '{where}': expected {expected}, found "
                        f'{type(found).__name__} {found!r}')
