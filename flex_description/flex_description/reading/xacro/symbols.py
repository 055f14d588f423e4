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
"""The names that expressions of a xacro may use: those that xacro has, each within limits."""
from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from flex_description.reading.limits import (
    CONTAINERS,
    LONGEST_LIST,
    LimitError,
    bounded,
    check_product,
    check_width,
)
from flex_description.reading.xacro.expressions import ExpressionError, Function

# Methods that neither change their object nor make more than the product of their arguments.
STRING = ('capitalize', 'casefold', 'count', 'endswith', 'find', 'index', 'isalnum', 'isalpha',
          'isdecimal', 'isdigit', 'islower', 'isnumeric', 'isspace', 'isupper', 'lower', 'lstrip',
          'partition', 'removeprefix', 'removesuffix', 'rfind', 'rindex', 'rpartition', 'rsplit',
          'rstrip', 'split', 'splitlines', 'startswith', 'strip', 'swapcase', 'title', 'upper')
LIST = ('count', 'index', 'copy')
SET = ('difference', 'intersection', 'isdisjoint', 'issubset', 'issuperset',
       'symmetric_difference', 'union')
NUMBERS = (int, float, complex)
TYPES: dict[str, type] = {'list': list, 'dict': dict, 'str': str, 'float': float, 'int': int,
                          'bool': bool, 'complex': complex, 'frozenset': frozenset, 'set': set,
                          'tuple': tuple, 'slice': slice}
# What xacro offers under its bare name, besides those of math.
BARE = ('list', 'dict', 'map', 'len', 'str', 'float', 'int', 'bool', 'True', 'False', 'min', 'max',
        'round', 'sorted', 'range')


def _items(value: Iterable[Any], *_: object) -> list[Any]:
    """The items as a list, so that no lazy iterator can hide how many there are."""
    result = []
    for item in value:
        result.append(item)
        if len(result) > LONGEST_LIST:
            raise LimitError(f'expected at most {LONGEST_LIST} items, found more')
    return result


def _range(*arguments: int) -> range:
    result = range(*arguments)
    # len() of a range beyond the machine's word raises OverflowError.
    if bool(result) and abs((result[-1] - result[0]) // result.step) >= LONGEST_LIST:
        raise LimitError(f'expected a range of at most {LONGEST_LIST} numbers, found more')
    return result


def _map(function: Callable[..., Any], *lists: Iterable[Any]) -> list[Any]:
    return [function(*items) for items in zip(*map(_items, lists))]


def _filter(function: Callable[..., Any] | None, items: Iterable[Any]) -> list[Any]:
    return [item for item in _items(items) if (function(item) if function else item)]


def _round(number: Any, digits: int | None = None) -> Any:
    if digits is not None and abs(digits) > 400:
        raise LimitError('expected to round to at most 400 digits, found more')
    return round(number) if digits is None else round(number, digits)


def _sum(items: Iterable[Any], start: Any = 0) -> Any:
    total = start
    for item in _items(items):
        if not isinstance(item, NUMBERS) or not isinstance(total, NUMBERS):
            raise ExpressionError('sum: expected numbers')  # a sum of lists copies them each time
        total = bounded(total + item)
    return total


def _common_multiple(*numbers: int) -> int:
    total = 1
    for number in numbers:
        total = bounded(math.lcm(total, number))
    return total


def _product(items: Iterable[Any], *, start: Any = 1) -> Any:
    total = start
    for item in _items(items):
        check_product(total, item)
        total = bounded(total * item)
    return total


def _slow(name: str) -> Callable[..., Any]:
    """A function of whole numbers whose result grows faster than any power."""
    def call(*numbers: int) -> int:
        if any(abs(number) > 300 for number in numbers):
            raise LimitError(f'{name}: expected numbers of at most 300, found a larger one')
        result: int = getattr(math, name)(*numbers)
        return result
    return call


def _type_of(value: object) -> Function:
    """Result of type(), for comparison only."""
    kind = type(value)
    return _TYPE_FUNCTIONS.get(kind, Function(kind.__name__, _no_type))


def _no_type(*_: object, **__: object) -> None:
    raise ExpressionError('type: expected to be compared, not called')


def _is_instance(value: object, kinds: Any) -> bool:
    given = kinds if isinstance(kinds, tuple) else (kinds,)
    return isinstance(value, tuple(kind.type for kind in given
                                   if isinstance(kind, Function) and kind.type is not None))


def _make(kind: type) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        if kind in CONTAINERS:
            arguments = tuple(argument if isinstance(argument, Mapping) else _items(argument)
                              for argument in arguments)
        return bounded(kind(*arguments, **named))
    return call


PYTHON: dict[str, Any] = {
    'True': True, 'False': False, 'len': len, 'abs': abs, 'divmod': divmod, 'hash': hash,
    'ord': ord, 'repr': repr, 'min': min, 'max': max, 'all': lambda items: all(_items(items)),
    'any': lambda items: any(_items(items)), 'round': _round, 'sum': _sum, 'range': _range,
    'sorted': lambda items, **named: sorted(_items(items), **named), 'map': _map,
    'filter': _filter, 'zip': lambda *lists: list(zip(*map(_items, lists))),
    'enumerate': lambda items, start=0: list(enumerate(_items(items), start)),
    'reversed': lambda items: _items(items)[::-1], 'isinstance': _is_instance, 'type': _type_of,
    **{name: _make(kind) for name, kind in TYPES.items()}}
MATH: dict[str, Any] = {
    **{name: value for name, value in vars(math).items() if not name.startswith('_')},
    **{name: _slow(name) for name in ('factorial', 'comb', 'perm')}, 'prod': _product,
    'lcm': _common_multiple}


_TYPE_FUNCTIONS = {kind: Function(name, PYTHON[name], kind) for name, kind in TYPES.items()}


def symbols(namespace: Callable[[], Any], own: Mapping[str, Callable[..., Any]]) -> dict[str, Any]:
    """All names. namespace: makes one, a mapping; own: xacro's own functions."""
    python = {name: _function(name, value) for name, value in PYTHON.items()}
    mathematics = {name: _function(name, value) for name, value in MATH.items()}
    xacro = {name: _function(name, value) for name, value in own.items()}
    result: dict[str, Any] = {**mathematics, **{name: python[name] for name in BARE},
                              **{name: xacro[name] for name in ('load_yaml', 'abs_filename',
                                                                'dotify')}}
    for name, content in (('python', python), ('math', mathematics), ('xacro', xacro)):
        result[name] = namespace()
        result[name].update(content)
    return result


def _function(name: str, value: Any) -> Any:
    if name in TYPES:
        return _TYPE_FUNCTIONS[TYPES[name]]
    return Function(name, value, TYPES.get(name)) if callable(value) else value


def method(value: object, name: str) -> Function | None:
    """The method of a text, list or mapping that an expression may call, or None."""
    if isinstance(value, str):
        if name in _STRING_MAKERS:
            return Function(name, lambda *a, **k: _STRING_MAKERS[name](value, *a, **k))
        known: tuple[str, ...] = STRING
    elif isinstance(value, dict):
        return _of_mapping(value, name)
    elif isinstance(value, (list, tuple)):
        known = LIST
    else:
        known = SET if isinstance(value, (set, frozenset)) else ()
    return Function(name, getattr(value, name)) if name in known and hasattr(value, name) else None


def _of_mapping(value: dict[Any, Any], name: str) -> Function | None:
    """Of xacro's wrapped mappings too, whose items must come out wrapped."""
    if hasattr(type(value), 'top'):  # a namespace, whose names the file defines
        return None
    methods: dict[str, Callable[..., Any]] = {
        'keys': lambda: list(value), 'values': lambda: [value[key] for key in value],
        'items': lambda: [(key, value[key]) for key in value], 'copy': lambda: value,
        'get': lambda key, default=None: next((value[key] for _ in range(key in value)), default)}
    return Function(name, methods[name]) if name in methods else None


def _join(text: str, items: Iterable[str]) -> str:
    parts = _items(items)
    check_product(text, len(parts))
    bounded(parts)
    return text.join(parts)


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    check_product(new, text.count(old))
    return text.replace(old, new, count)


def _padded(name: str) -> Callable[..., Any]:
    def call(text: str, width: int, *fill: str) -> str:
        check_product(' ', width)
        result: str = getattr(text, name)(width, *fill)
        return result
    return call


def _formatted(text: str, *arguments: Any, **named: Any) -> str:
    """str.format without attributes, items or nested fields, which reach beyond the values."""
    for field in re.findall(r'\{([^{}]*)\}', text.replace('{{', '').replace('}}', '')):
        name = re.split('[:!]', field, maxsplit=1)[0]
        if not (name.isidentifier() or name.isdigit() or not name):
            raise ExpressionError('expected plain names in the fields of a format')
        check_width(field.removeprefix(name))
    # What is left once plain fields are taken away has no field in a field.
    if re.search(r'[{}]', re.sub(r'\{[^{}]*\}', '', text.replace('{{', '').replace('}}', ''))):
        raise ExpressionError('expected no fields inside the fields of a format')
    check_product(' ', len(text) + sum(len(str(bounded(value))) * text.count('{')
                                       for value in (*arguments, *named.values())))
    return text.format(*arguments, **named)


def _expanded(text: str, size: int = 8) -> str:
    check_product(' ', abs(size) * (text.count('\t') + 1))
    return text.expandtabs(size)


_STRING_MAKERS: dict[str, Callable[..., Any]] = {
    'join': _join, 'replace': _replace, 'format': _formatted, 'expandtabs': _expanded,
    **{name: _padded(name) for name in ('center', 'ljust', 'rjust', 'zfill')}}
