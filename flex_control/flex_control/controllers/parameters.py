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
"""Declared parameters of controllers: description, unit and range, checked at every set."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flex_control.errors import ControlError


@dataclass(frozen=True)
class Parameter:
    """One parameter of a controller: its default, description, unit and range.

    per_joint: a vector with one number a joint; one number is used for all joints, and with none
    (an empty list) the controller chooses. The type of the default is the type of the parameter:
    bool, str, or number.
    """

    name: str
    default: float | bool | str | tuple[float, ...]
    description: str
    unit: str = ''
    lower: float = -math.inf
    upper: float = math.inf
    per_joint: bool = False

    def check(self, value: Any, joints: int) -> Any:
        """The value as bool, str, float, or array (joints,) (empty if the controller chooses);
        ControlError if it is none of these or out of range."""
        if isinstance(self.default, bool):
            if not isinstance(value, (bool, np.bool_)):
                raise ControlError(f'{self.name}: expected true or false, found {value!r}')
            return bool(value)
        if isinstance(self.default, str):
            if not isinstance(value, str):
                raise ControlError(f'{self.name}: expected a text, found {value!r}')
            return value
        if not self.per_joint:
            return float(self._numbers([value])[0])
        given = value if isinstance(value, (Sequence, np.ndarray)) else [value]
        if isinstance(given, str):
            raise ControlError(f'{self.name}: expected numbers, found {value!r}')
        numbers = self._numbers(given)
        if len(numbers) == 1:
            return np.full(joints, numbers[0])
        if len(numbers) not in (0, joints):
            raise ControlError(f'{self.name}: expected 1 or {joints} numbers (one a joint), '
                               f'found {len(numbers)}')
        return numbers

    def _numbers(self, values: Any) -> np.ndarray:
        try:
            numbers = np.array([float(value) for value in values])
        except (TypeError, ValueError):
            raise ControlError(f'{self.name}: expected numbers, found {values!r}') from None
        for number in numbers:
            if not (math.isfinite(number) and self.lower <= number <= self.upper):
                raise ControlError(f'{self.name}: expected {self.lower:g} to {self.upper:g}'
                                   f'{" " + self.unit if self.unit else ""}, found {number:g}')
        return numbers


def check_all(declared: Sequence[Parameter], given: Mapping[str, Any],
              joints: int) -> dict[str, Any]:
    """Every declared parameter with its given or default value, checked; no others."""
    unknown = set(given) - {parameter.name for parameter in declared}
    if unknown:
        known = ', '.join(parameter.name for parameter in declared) or 'none'
        raise ControlError(f'unknown parameter {sorted(unknown)[0]!r}; parameters: {known}')
    return {parameter.name: parameter.check(given.get(parameter.name, parameter.default), joints)
            for parameter in declared}
