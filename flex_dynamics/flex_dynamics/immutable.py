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
"""Objects that refuse to be changed, and say how to get a changed one instead."""
from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np

from flex_dynamics.errors import FrozenError

Kind = TypeVar('Kind')
ADVICE = {
    'gravity': 'model.with_gravity(gravity) gives a new model',
    'robot': 'Model(robot) gives a new model',
    'order': 'Model(model.robot, order) gives a new model',
}
OTHERWISE = 'with_gravity, with_payload and Model(robot, order) give new models'


class Frozen:
    """Attributes can be set until `_lock` is called, and never after."""

    def _lock(self) -> None:
        self.__dict__['_locked'] = True

    def __setattr__(self, name: str, value: Any) -> None:
        self._refuse_change(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        self._refuse_change(name)
        object.__delattr__(self, name)

    def _refuse_change(self, name: str) -> None:
        if '_locked' in self.__dict__:
            raise FrozenError(f'{type(self).__name__}.{name}: a model cannot be changed, because '
                              'its terms, its copies and other threads would not agree; '
                              f'{ADVICE.get(name, OTHERWISE)}')


class ReadOnly(Generic[Kind]):
    """The attribute `_name` under its public name; advice: how it is changed."""

    def __init__(self, advice: str) -> None:
        self._advice = advice

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Kind:
        if instance is None:
            return self  # type: ignore[return-value]
        value: Kind = getattr(instance, f'_{self._name}')
        return value

    def __set__(self, instance: Any, value: Any) -> None:
        if value is getattr(instance, f'_{self._name}'):      # run.v += 1.0 changes it in place
            return
        raise FrozenError(f'{type(instance).__name__}.{self._name}: expected not to be replaced, '
                          f'because kernels hold it; {self._advice}')


class Gravity(np.ndarray):
    """Gravity (3,) m/s2 as a model hands it out: a copy to read. What is calculated from it is a
    plain array."""

    @classmethod
    def of(cls, gravity: np.ndarray) -> Gravity:
        vector = np.array(gravity).view(cls)
        vector.setflags(write=False)
        return vector

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self.flags.writeable:
            self._refuse()
        super().__setitem__(key, value)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **named: Any) -> Any:
        if 'out' in named:
            for out in named['out']:
                if isinstance(out, Gravity) and not out.flags.writeable:
                    self._refuse()
            named['out'] = tuple(_plain(out) for out in named['out'])
        plain = (_plain(x) for x in inputs)
        return getattr(ufunc, method)(*plain, **named)

    @staticmethod
    def _refuse() -> None:
        raise FrozenError(f'gravity: a model cannot be changed; {ADVICE["gravity"]}')


def _plain(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, Gravity) else value
