"""Values of parameters: from YAML to messages, and their types by name."""
from __future__ import annotations

from typing import Any

import yaml
from rcl_interfaces.msg import ParameterType, ParameterValue

TYPE_NAMES = {
    ParameterType.PARAMETER_NOT_SET: 'not set',
    ParameterType.PARAMETER_BOOL: 'boolean',
    ParameterType.PARAMETER_INTEGER: 'integer',
    ParameterType.PARAMETER_DOUBLE: 'double',
    ParameterType.PARAMETER_STRING: 'string',
    ParameterType.PARAMETER_BYTE_ARRAY: 'byte array',
    ParameterType.PARAMETER_BOOL_ARRAY: 'boolean array',
    ParameterType.PARAMETER_INTEGER_ARRAY: 'integer array',
    ParameterType.PARAMETER_DOUBLE_ARRAY: 'double array',
    ParameterType.PARAMETER_STRING_ARRAY: 'string array',
}
LABELS = {
    ParameterType.PARAMETER_BOOL: 'Boolean value is:',
    ParameterType.PARAMETER_INTEGER: 'Integer value is:',
    ParameterType.PARAMETER_DOUBLE: 'Double value is:',
    ParameterType.PARAMETER_STRING: 'String value is:',
    ParameterType.PARAMETER_BYTE_ARRAY: 'Byte values are:',
    ParameterType.PARAMETER_BOOL_ARRAY: 'Boolean values are:',
    ParameterType.PARAMETER_INTEGER_ARRAY: 'Integer values are:',
    ParameterType.PARAMETER_DOUBLE_ARRAY: 'Double values are:',
    ParameterType.PARAMETER_STRING_ARRAY: 'String values are:',
}
# The field of the message that holds a value of each type.
FIELDS = {kind: TYPE_NAMES[kind].replace('boolean', 'bool').replace(' ', '_') + '_value'
          for kind in LABELS}
SCALARS = ((bool, ParameterType.PARAMETER_BOOL), (int, ParameterType.PARAMETER_INTEGER),
           (float, ParameterType.PARAMETER_DOUBLE), (str, ParameterType.PARAMETER_STRING))
ARRAYS = ((bool, ParameterType.PARAMETER_BOOL_ARRAY), (int, ParameterType.PARAMETER_INTEGER_ARRAY),
          (float, ParameterType.PARAMETER_DOUBLE_ARRAY),
          (str, ParameterType.PARAMETER_STRING_ARRAY))
SMALLEST, LARGEST = -2**63, 2**63 - 1


def parse_value(text: str) -> Any:
    """A word of the command line as YAML; what is not YAML is text."""
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        return text
    return text if value is None else value


def parameter_value(value: Any, declared: int, text: str | None = None) -> ParameterValue:
    """The message that sets a parameter to `value`, of the type that YAML gives it.

    declared: the type that the node has for this parameter (NOT_SET: unknown). YAML reads 1e-6
    as text; it is sent as a number unless the parameter is a text. Integers are not turned into
    doubles, since nodes refuse them from the real ros2, too; but in a list of numbers they are.
    text: how the value was written, for what has no type of its own.
    """
    if value is None:
        raise ValueError('expected a value, found nothing')
    value = _numbers(value, declared)
    if isinstance(value, list):
        if not value and declared in FIELDS:
            return _message(declared, value)
        for python, kind in ARRAYS:
            if all(isinstance(one, python) for one in value):
                return _message(kind, value)
    for python, kind in SCALARS:
        if isinstance(value, python):
            return _message(kind, value)
    return _message(ParameterType.PARAMETER_STRING, str(value) if text is None else text)


def _numbers(value: Any, declared: int) -> Any:
    """`value` with text that is a number read as one, where the parameter may be a number."""
    unknown = declared == ParameterType.PARAMETER_NOT_SET
    if isinstance(value, str) and (unknown or declared == ParameterType.PARAMETER_DOUBLE):
        number = _exponential(value)
        return value if number is None else number
    if isinstance(value, list) and (unknown or declared == ParameterType.PARAMETER_DOUBLE_ARRAY):
        numbers: list[Any] = [one if _is_number(one) else _exponential(one) for one in value]
        if None not in numbers and not all(isinstance(one, int) for one in numbers):
            return [float(one) for one in numbers]
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _exponential(value: Any) -> float | None:
    """Text such as 1e-6; other text is none, `nan` and `inf` among it."""
    if not isinstance(value, str) or 'e' not in value.lower():
        return None
    try:
        return float(value)
    except ValueError:
        return None


def _message(kind: int, value: Any) -> ParameterValue:
    numbers = value if isinstance(value, list) else [value]
    for one in numbers:
        if isinstance(one, int) and not SMALLEST <= one <= LARGEST:
            raise ValueError(f'{one} is not an integer of 64 bits')
    message = ParameterValue(type=kind)
    setattr(message, FIELDS[kind], value)
    return message


def flatten(mapping: dict[Any, Any], prefix: str = '') -> dict[str, Any]:
    """Nested groups of a parameter file as dotted names."""
    flat: dict[str, Any] = {}
    for name, value in mapping.items():
        if isinstance(value, dict):
            flat.update(flatten(value, f'{prefix}{name}.'))
        else:
            flat[f'{prefix}{name}'] = value
    return flat


def nest(flat: dict[str, Any]) -> dict[str, Any]:
    """Dotted names as nested groups; where `a` and `a.b` both are parameters, the name stays."""
    tree: dict[str, Any] = {}
    for name, value in flat.items():
        parts = name.split('.')
        group = tree
        while len(parts) > 1 and isinstance(group.get(parts[0], {}), dict):
            group = group.setdefault(parts.pop(0), {})
        group['.'.join(parts)] = value
    return tree


def python_value(message: ParameterValue) -> Any:
    """The value in a parameter message; None if it has none."""
    if message.type not in FIELDS:
        return None
    value = getattr(message, FIELDS[message.type])
    return value if isinstance(value, (bool, int, float, str)) else list(value)
