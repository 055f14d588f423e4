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
"""Parameters of a node: declared with description and range, checked, read once or live."""
from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node
from rclpy.parameter import Parameter

from flex_ros.message_guard import shortened
from flex_ros.printable_text import printable

LARGEST = sys.float_info.max


class NodeError(ValueError):
    """Parameters that a node cannot start with."""


def declare(node: Node, name: str, default: Any, description: str, *,
            lower: float | None = None, upper: float | None = None,
            choices: Sequence[str] = (), fixed: bool = False) -> Any:
    """Declare a parameter with its description and range; return its value, checked.

    A default that is a list stands for numbers of any count, returned as an array. fixed: the
    parameter is read when the node starts and cannot be set later.
    """
    descriptor = ParameterDescriptor(description=description)
    if choices:
        descriptor.additional_constraints = f'one of {", ".join(choices)}'
    if lower is not None or upper is not None:
        low = -LARGEST if lower is None else lower
        high = LARGEST if upper is None else upper
        if isinstance(default, int):
            descriptor.integer_range = [IntegerRange(from_value=int(low), to_value=int(high))]
        elif isinstance(default, float):
            descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    if isinstance(default, (float, list)):
        descriptor.dynamic_typing = True         # 10 is as good a number as 10.0
    try:
        value = _declare(node, name, default, descriptor, fixed)
    except InvalidParameterValueException as error:
        raise NodeError(f'parameter {name}: expected {_range(lower, upper)}; {error}') from None
    except InvalidParameterTypeException as error:
        raise NodeError(f'parameter {name}: {error}') from None
    if isinstance(default, (float, list)):
        vector = numbers(name, value, lower, upper)
        if isinstance(default, list):
            return vector
        if vector.size != 1:
            raise NodeError(f'parameter {name}: expected a number, found {value!r}')
        return float(vector[0])
    if choices and value not in choices:
        raise NodeError(f'parameter {name}: expected one of {", ".join(choices)}, found {value!r}')
    return value


def declare_strings(node: Node, name: str, description: str) -> list[str]:
    """Declare a parameter that holds any number of strings; return those that are not blank.

    The parameter is read when the node starts and cannot be set later. One string is taken as a
    list of one.
    """
    descriptor = ParameterDescriptor(description=description, dynamic_typing=True)
    try:
        value = _declare(node, name, [''], descriptor, fixed=True)
    except InvalidParameterTypeException as error:
        raise NodeError(f'parameter {name}: {error}') from None
    given = [value] if isinstance(value, str) else list(value or ())
    if not all(isinstance(one, str) for one in given):
        raise NodeError(f'parameter {name}: expected strings, found {printable(value)}')
    return [one for one in given if one.strip()]


def _declare(node: Node, name: str, default: Any, descriptor: ParameterDescriptor,
             fixed: bool) -> Any:
    """Declare a parameter; return its value.

    An empty list of a parameter file has no type, and arrives as a parameter without a value.
    `ros2 param dump` would write that as null, which the next start would read as a text.
    """
    given = node.declare_parameter(name, default, descriptor)
    if given.type_ == Parameter.Type.NOT_SET and isinstance(default, list):
        node.set_parameters([Parameter(name, value=default)])
    if fixed:
        final = deepcopy(descriptor)           # the node keeps the one that it was given
        final.read_only = True
        node.set_descriptor(name, final)
    return node.get_parameter(name).value


def numbers(name: str, value: Any, lower: float | None = None,
            upper: float | None = None) -> np.ndarray:
    """A number or an array of them as a vector; NodeError if it is none, or out of range."""
    try:
        given = [value] if isinstance(value, (int, float)) else list(value or ())
        plain = [isinstance(one, (int, float)) and not isinstance(one, bool) for one in given]
        if isinstance(value, bytes) or not all(plain):
            raise ValueError       # also a text, whose characters may be digits
        vector = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise NodeError(f'parameter {name}: expected numbers, found '
                        f'{shortened(repr(value))}') from None
    low, high = -np.inf if lower is None else lower, np.inf if upper is None else upper
    for number in vector:
        if not (np.isfinite(number) and low <= number <= high):
            raise NodeError(f'parameter {name}: expected {_range(lower, upper)}, found {number:g}')
    return vector


def _range(lower: float | None, upper: float | None) -> str:
    if lower is None and upper is None:
        return 'finite numbers'
    if upper is None:
        return f'at least {lower:g}'
    return f'{-np.inf if lower is None else lower:g} to {upper:g}'


@dataclass(frozen=True, eq=False)
class _Live:
    """check gets the new value or, for a group, the changed values by name."""

    check: Callable[[Any], Any]
    apply: Callable[[Any], None]
    discard: Callable[[Any], None] = lambda _: None
    group: bool = False


class LiveParameters:
    """Declares parameters of a node and hands their values on, at the start and at each change.

    A set that holds one bad value is rejected with the reason, and nothing of it is applied.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._live: dict[str, _Live] = {}
        self._checked: list[tuple[_Live, Any]] = []
        node.add_on_set_parameters_callback(self._check)
        node.add_post_set_parameters_callback(self._apply)

    def number(self, name: str, description: str, apply: Callable[[float], None],
               upper: float, *, lower: float = 0.0, default: float = 0.0) -> None:
        """A number from `lower` to `upper`."""
        def check(value: Any) -> float:
            vector = numbers(name, value, lower, upper)
            if vector.size != 1:
                raise NodeError(f'parameter {name}: expected a number, found {value!r}')
            return float(vector[0])

        self._add(name, default, f'{description}; {lower:g} to {upper:g}', _Live(check, apply))

    def integer(self, name: str, description: str, apply: Callable[[int], None], lower: int,
                upper: int, default: int) -> None:
        """A whole number from `lower` to `upper`."""
        def check(value: Any) -> int:
            if (not isinstance(value, int) or isinstance(value, bool)
                    or not lower <= value <= upper):
                raise NodeError(f'parameter {name}: expected a whole number from {lower} to '
                                f'{upper}, found {printable(value)}')
            return value

        self._add(name, default, f'{description}; {lower} to {upper}', _Live(check, apply))

    def flag(self, name: str, description: str, apply: Callable[[bool], None],
             default: bool) -> None:
        """True or false."""
        def check(value: Any) -> bool:
            if not isinstance(value, bool):
                raise NodeError(f'parameter {name}: expected true or false, found '
                                f'{printable(value)}')
            return value

        self._add(name, default, description, _Live(check, apply))

    def choice(self, name: str, description: str, apply: Callable[[str], None],
               choices: Sequence[str], default: str) -> None:
        """One of `choices`."""
        def check(value: Any) -> str:
            if value not in choices:
                raise NodeError(f'parameter {name}: expected one of {", ".join(choices)}, found '
                                f'{printable(value)!r}')
            return str(value)

        self._add(name, default, description, _Live(check, apply), choices)

    def vector(self, name: str, description: str, apply: Callable[[np.ndarray], None], size: int,
               each: str, lower: float, upper: float) -> None:
        """`size` numbers, one for all of them, or none for zero."""
        def check(value: Any) -> np.ndarray:
            given = numbers(name, value, lower, upper)
            if given.size not in (0, 1, size):
                raise NodeError(f'parameter {name}: expected none, 1 or {size} numbers (one '
                                f'{each}), found {given.size}')
            return np.full(size, given[0] if given.size else 0.0) if given.size < 2 else given

        self._add(name, [], f'{description}; one {each}, one for all, or empty for zero',
                  _Live(check, apply))

    def text(self, name: str, description: str, check: Callable[[str], Any],
             apply: Callable[[Any], None], discard: Callable[[Any], None]) -> None:
        """A text that `check` may refuse with a NodeError; what it returns is applied or, if
        another value of the set is refused, discarded."""
        self._add(name, '', description, _Live(check, apply, discard))

    def group(self, parameters: Mapping[str, tuple[Any, str]],
              check: Callable[[dict[str, Any]], Any], apply: Callable[[Any], None],
              discard: Callable[[Any], None]) -> dict[str, Any]:
        """Parameters that are checked together: name to default and description.

        Returns their values at the start, by name. `check` gets those that a set changes, by name,
        and may refuse them with a NodeError; what it returns is applied or, if another value of
        the set is refused, discarded.
        """
        values = {name: declare(self._node, name, default, description)
                  for name, (default, description) in parameters.items()}
        self._live.update(dict.fromkeys(parameters, _Live(check, apply, discard, group=True)))
        return values

    def _add(self, name: str, default: Any, description: str, live: _Live,
             choices: Sequence[str] = ()) -> None:
        # No range in the descriptor: rclpy would refuse by it, without saying what it is.
        declare(self._node, name, default, description, choices=choices)
        live.apply(live.check(self._node.get_parameter(name).value))
        self._live[name] = live

    def _check(self, parameters: list[Parameter]) -> SetParametersResult:
        self._discard()          # what others refused after us
        changes: dict[_Live, dict[str, Any]] = {}
        try:
            for name, value in ((one.name, one.value) for one in parameters):
                if name not in self._live:
                    continue
                given = changes.setdefault(self._live[name], {})
                if name in given:
                    raise NodeError(f'parameter {name}: expected one value, found two')
                if value is None:
                    raise NodeError(f'parameter {name}: expected a value; it cannot be deleted')
                given[name] = value
            for live, given in changes.items():
                value = given if live.group else next(iter(given.values()))
                self._checked.append((live, live.check(value)))
        except NodeError as error:
            self._discard()
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _discard(self) -> None:
        checked, self._checked = self._checked, []
        for live, value in checked:
            live.discard(value)

    def _apply(self, parameters: list[Parameter]) -> None:
        checked, self._checked = self._checked, []
        for live, value in checked:
            live.apply(value)
