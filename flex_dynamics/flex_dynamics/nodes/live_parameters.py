"""Parameters that may be set while a node runs: checked first, all of a set, then applied."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from flex_dynamics.nodes.common import NodeError, declare, numbers


@dataclass(frozen=True)
class _Live:
    check: Callable[[Any], Any]
    apply: Callable[[Any], None]
    discard: Callable[[Any], None] = lambda _: None


class LiveParameters:
    """Declares parameters of a node and hands their values on, at the start and at each change.

    A set that holds one bad value is rejected with the reason, and nothing of it is applied.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._live: dict[str, _Live] = {}
        self._checked: dict[str, Any] = {}
        node.add_on_set_parameters_callback(self._check)
        node.add_post_set_parameters_callback(self._apply)

    def number(self, name: str, description: str, apply: Callable[[float], None],
               upper: float) -> None:
        """A number from 0 to `upper`, 0 unless given."""
        def check(value: Any) -> float:
            vector = numbers(name, value, 0.0, upper)
            if vector.size != 1:
                raise NodeError(f'parameter {name}: expected a number, found {value!r}')
            return float(vector[0])

        self._add(name, 0.0, f'{description}; 0 to {upper:g}', _Live(check, apply))

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

    def _add(self, name: str, default: Any, description: str, live: _Live) -> None:
        # No range in the descriptor: rclpy would refuse by it, without saying what it is.
        declare(self._node, name, default, description)
        live.apply(live.check(self._node.get_parameter(name).value))
        self._live[name] = live

    def _check(self, parameters: list[Parameter]) -> SetParametersResult:
        self._discard()          # what others refused after us
        try:
            for parameter in parameters:
                if parameter.name in self._checked:
                    raise NodeError(f'parameter {parameter.name}: expected one value, found two')
                if parameter.name in self._live:
                    if parameter.value is None:
                        raise NodeError(f'parameter {parameter.name}: expected a value; it cannot '
                                        'be deleted')
                    self._checked[parameter.name] = self._live[parameter.name].check(
                        parameter.value)
        except NodeError as error:
            self._discard()
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _discard(self) -> None:
        for name, value in self._checked.items():
            self._live[name].discard(value)
        self._checked.clear()

    def _apply(self, parameters: list[Parameter]) -> None:
        for parameter in parameters:
            if parameter.name in self._live:
                self._live[parameter.name].apply(self._checked.pop(parameter.name))
