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
"""Checks of what users hand in: real, finite numbers of the right shape, else a DynamicsError.

A text that looks like a number, a complex number, a masked element, None and True are refused:
numpy would silently turn each of them into a float.
"""
from __future__ import annotations

import numbers
import operator
import reprlib
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from flex_description import Robot
from flex_description.suggestion import nearest
from flex_dynamics.arrays import Array
from flex_dynamics.errors import DynamicsError
from flex_dynamics.kernels.base.finite import LARGEST as LARGEST
from flex_dynamics.kernels.base.finite import LARGEST_POSITION as LARGEST_POSITION

Kind = TypeVar('Kind')
FLOAT = np.dtype(np.float64)

_NO_NUMBERS = {'b': 'true and false', 'c': 'complex numbers', 'U': 'text', 'S': 'bytes',
               'M': 'dates', 'm': 'time spans', 'V': 'records'}


def shown(value: Any) -> str:
    """What was found, short enough for one line."""
    if isinstance(value, np.ndarray):
        return f'an array of shape {value.shape} of {value.dtype}'
    try:
        return ' '.join(reprlib.repr(value).split())
    except Exception:      # a class of the user whose repr fails
        return f'a {type(value).__name__}'


def real_array(value: Any, name: str, expected: str) -> Array:
    """value as a contiguous array of float64 of any shape; nothing is lost on the way."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        masked = int(np.sum(np.ma.getmask(value)))
        raise DynamicsError(f'{name}: expected {expected}, found a masked array with '
                            f'{masked} of {value.size} numbers masked: fill '
                            'them in, for example with filled(0.0)')
    try:
        array = np.asarray(value)
    except Exception:      # ragged lists, and whatever __array__ of another library raises
        raise DynamicsError(f'{name}: expected {expected}, found {shown(value)}') from None
    kind = array.dtype.kind
    if kind in _NO_NUMBERS:
        raise DynamicsError(f'{name}: expected {expected}, found {_NO_NUMBERS[kind]}: '
                            f'{shown(value)}')
    if kind == 'O':
        for item in array.flat:
            if not isinstance(item, (numbers.Real, Decimal)) or isinstance(item, bool):
                raise DynamicsError(f'{name}: expected {expected}, found {shown(item)}')
    try:
        return np.array(array, dtype=FLOAT, order='C')
    except (TypeError, ValueError, OverflowError):
        raise DynamicsError(f'{name}: expected {expected}, found {shown(value)}') from None


def shaped(value: Any, name: str, shape: tuple[int, ...]) -> Array:
    """value as a float64 array of this shape that kernels take; its size is not looked at."""
    if (value.__class__ is not np.ndarray or value.dtype is not FLOAT
            or not value.flags.carray):
        value = real_array(value, name, f'numbers of shape {shape}')
    if value.shape != shape:
        raise DynamicsError(f'{name}: expected shape {shape}, found {value.shape}')
    checked: Array = value
    return checked


def vector(value: Any, name: str, length: int, labels: Sequence[str] = (),
           most: float = LARGEST) -> Array:
    """value (length,) as float64, every number finite and at most `most`; it is not copied if it
    is such an array already. labels: what the numbers belong to, for the error."""
    array = shaped(value, name, (length,))
    # NaN and infinity too. vdot, because dot warns of overflow.
    if not np.vdot(array, array) <= most * most:
        refuse_size(array, name, labels, most)
    return array


def finite(value: Any, name: str, shape: tuple[int, ...]) -> Array:
    """value as a float64 array of this shape, every number finite and at most LARGEST."""
    array = shaped(value, name, shape)
    refuse_size(array.ravel(), name, (), LARGEST)
    return array


def refuse_size(array: np.ndarray, name: str, labels: Sequence[str], most: float) -> None:
    """DynamicsError if a number of an array (k,) is not finite or larger than `most`."""
    bad = np.flatnonzero(~(np.abs(array) <= most))
    if not bad.size:
        return
    first = int(bad[0])
    whose = f' for {labels[first]}' if first < len(labels) else f' at place {first}'
    if not np.isfinite(array[first]):
        raise DynamicsError(f'{name}: expected finite numbers, found {array[first]}{whose}')
    what = 'positions in rad or m' if most == LARGEST_POSITION else 'numbers'
    raise DynamicsError(f'{name}: expected {what} of at most {most:g}, found '
                        f'{array[first]:.3g}{whose}')


def number(value: Any, name: str, expected: str = 'a number') -> float:
    """value as a finite float; numpy's scalars and arrays of shape () are numbers too."""
    if value.__class__ is not float:
        array = real_array(value, name, expected)
        if array.shape != ():
            raise DynamicsError(f'{name}: expected {expected}, found {shown(value)}')
        value = float(array)
    if not abs(value) <= LARGEST:
        limit = f' of at most {LARGEST:g}' if np.isfinite(value) else ''
        raise DynamicsError(f'{name}: expected {expected}{limit}, found {value}')
    checked: float = value
    return checked


def positive(value: Any, name: str, expected: str = 'a positive number') -> float:
    """value as a finite float above zero."""
    result = number(value, name, expected)
    if not result > 0.0:
        raise DynamicsError(f'{name}: expected {expected}, found {value}')
    return result


def whole(value: Any, name: str, expected: str, least: int = 0, most: int = 10**9) -> int:
    """value as an int in a range; 3.0 is refused, because 3.1 would have to be cut."""
    try:
        result = operator.index(value)
    except Exception:      # floats and text, and arrays of more than one number
        raise DynamicsError(f'{name}: expected {expected}, found {shown(value)}') from None
    if isinstance(value, (bool, np.bool_)) or not least <= result <= most:
        raise DynamicsError(f'{name}: expected {expected} from {least} to {most:g}, found '
                            f'{shown(value)}')
    return result


def flag(value: Any, name: str) -> bool:
    """value as a bool."""
    if not isinstance(value, (bool, np.bool_)):
        raise DynamicsError(f'{name}: expected True or False, found {shown(value)}')
    return bool(value)


def choice(value: Any, name: str, options: Iterable[str]) -> str:
    """value if it is one of the options."""
    if not isinstance(value, str) or value not in options:
        raise DynamicsError(f'{name}: expected one of {", ".join(options)}, found {shown(value)}')
    return value


def text(value: Any, name: str, expected: str) -> str:
    """value if it is a string that is not empty."""
    if not isinstance(value, str) or not value:
        raise DynamicsError(f'{name}: expected {expected}, found {shown(value)}')
    return value


def instance(value: Any, name: str, kind: type, advice: str) -> None:
    """DynamicsError unless value is a `kind`; advice: how one comes by one."""
    if not isinstance(value, kind):
        raise DynamicsError(f'{name}: expected a {kind.__name__}, found {shown(value)}; {advice}')


class Checked(Generic[Kind]):
    """An attribute that is checked whenever it is set."""

    def __init__(self, check: Callable[[Any], Kind]) -> None:
        self._check = check

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f'_{name}'

    def __get__(self, instance: Any, owner: type | None = None) -> Kind:
        if instance is None:
            return self  # type: ignore[return-value]
        value: Kind = getattr(instance, self._name)
        return value

    def __set__(self, instance: Any, value: Any) -> None:
        setattr(instance, self._name, self._check(value))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """'; did you mean ...?' if a known name is close, else nothing."""
    near = nearest(name, known)
    return '' if near is None else f'; did you mean {near!r}?'


def station(x: Any, frame: str, length: float) -> float:
    """x as a place along a beam, m."""
    expected = f'0 to {length:g} m along the beam'
    place = number(x, f'x on {frame!r}', expected)
    if not 0.0 <= place <= length:
        raise DynamicsError(f'x on {frame!r}: expected {expected}, found {x}')
    return place


def places(given: Any, name: str) -> list[tuple[str, float | None]]:
    """A sequence of (frame, x) as a list; what frames and x are is checked where they are used."""
    expected = "(frame, x) each, such as [('link1', 0.5), ('tool', None)]"
    if isinstance(given, (str, bytes)):
        raise DynamicsError(f'{name}: expected {expected}, found {shown(given)}')
    try:
        return [(frame, x) for frame, x in given]
    except (TypeError, ValueError):
        raise DynamicsError(f'{name}: expected {expected}, found {shown(given)}') from None


class HasCoordinates(Protocol):
    """A model, as far as its states are checked."""

    @property
    def n(self) -> int: ...

    @property
    def names(self) -> tuple[str, ...]: ...


def position(model: HasCoordinates, q: Any) -> Array:
    """q as positions (n,) of a model; it is not copied if it is such an array already."""
    return vector(q, 'q', model.n, model.names, LARGEST_POSITION)


def state(model: HasCoordinates, q: Any, v: Any) -> tuple[Array, Array]:
    """q and v as positions and speeds (n,) of a model."""
    return (vector(q, 'q', model.n, model.names, LARGEST_POSITION),
            vector(v, 'v', model.n, model.names))


def names(value: Any, name: str, known: Sequence[str], what: str) -> list[str]:
    """One text or several, each one of the known names, such as 'coordinates'."""
    expected = f'{name}: expected names of {what}'
    if isinstance(value, str):
        value = [value]
    try:
        found = list(value)
    except TypeError:
        raise DynamicsError(f'{expected}, found {shown(value)}') from None
    for one in found:
        if not isinstance(one, str) or one not in known:
            raise DynamicsError(f'{expected}, found {shown(one)}'
                                f'{did_you_mean(str(one), known)}')
    return found


def refuse_constraints(robot: Robot, what: str) -> None:
    """DynamicsError if a robot has loops, wheels or supports, which `what` cannot do yet."""
    if robot.constraints:
        one = robot.constraints[0]
        raise DynamicsError(f'robot {robot.name}: expected a tree of links, found '
                            f'{type(one).__name__.lower()} {one.name!r}: {what} without loops, '
                            'wheels and supports only')
