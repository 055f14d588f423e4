"""Parameters of nodes, and how their values become YAML."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml
from launch.core import LaunchContext, Substitution, perform, refuser

__getattr__ = refuser(__name__)


class ParameterValue:
    """A value that keeps its type: text made by substitutions is else read as YAML."""

    def __init__(self, value: Any, *, value_type: type | None = None) -> None:
        if value_type not in (None, str, int, float, bool):
            raise TypeError(f'ParameterValue: value_type {value_type} is not in the stand-in for '
                            'ROS 2 launch (bare/launch_standin)')
        self.value, self.value_type = value, value_type

    def evaluate(self, context: LaunchContext) -> Any:
        if isinstance(self.value, (bool, int, float)):
            return self.value
        text = perform(context, self.value)
        if self.value_type is str:
            return text
        value = yaml.safe_load(text)
        if self.value_type is float and type(value) is int:
            return float(value)
        if self.value_type is not None and type(value) is not self.value_type:
            raise TypeError(f'expected {self.value_type.__name__}, found {text!r}')
        return value


def evaluate(context: LaunchContext, name: str, value: Any) -> Any:
    """What stands in the parameter file for `value`, by the rules of launch_ros."""
    if isinstance(value, ParameterValue):
        return value.evaluate(context)
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Substitution) or any(isinstance(part, Substitution) for part in value):
        text = perform(context, value)
        result = yaml.safe_load(text) if text else ''
        if not isinstance(result, (bool, int, float, str, list)):
            raise TypeError(f'parameter {name}: expected a scalar or a list, found {text!r}; if '
                            'text is meant, wrap it in ParameterValue(..., value_type=str)')
        return result
    items = [evaluate(context, name, part) for part in value]
    if {type(item) for item in items} == {int, float}:
        items = [float(item) for item in items]
    if len({type(item) for item in items}) != 1:
        raise TypeError(f'parameter {name}: expected items of one type, found {items}')
    return items


def evaluate_all(context: LaunchContext, parameters: Mapping[Any, Any],
                 prefix: str = '') -> dict[str, Any]:
    """A flat dictionary; names of nested ones are joined by dots."""
    flat: dict[str, Any] = {}
    for key, value in parameters.items():
        name = prefix + perform(context, key)
        if isinstance(value, Mapping):
            flat.update(evaluate_all(context, value, name + '.'))
        else:
            flat[name] = evaluate(context, name, value)
    return flat
