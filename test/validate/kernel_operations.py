"""The forward dynamics kernel's own source, run by the interpreter on numbers that count.

Every compiled function is made again of its Python code, with Python stand-ins for what the
compiler knows of vectors and addresses. So it is counted what the kernel does and not what a
transcription of it does; that it is the kernel is seen from its accelerations.
"""
from __future__ import annotations

import math
import types
from collections import Counter

import numpy as np
from counting import Counted, plain
from numba.core.dispatcher import Dispatcher

from flex_dynamics import Model
from flex_dynamics.kernels.base import layout, workspace
from flex_dynamics.kernels.tree.kinematics import kinematics
from flex_dynamics.kernels.tree.recursive_forward_dynamics import (
    forward_dynamics,
    own_inertia,
    solve_sweeps,
)

LANES = range(layout.LANES)
STAGES = kinematics, own_inertia, solve_sweeps


class Executed(Counted):
    """A float that counts all that is done with it: a kernel does not know its zeros."""

    def __mul__(self, other):
        return NotImplemented if isinstance(other, Vector) else self._done(
            'multiplications', self.value * _number(other))

    def __add__(self, other):
        return self._done('additions', self.value + _number(other))

    def __sub__(self, other):
        return self._done('additions', self.value - _number(other))

    def __rsub__(self, other):
        return self._done('additions', _number(other) - self.value)

    def __neg__(self):
        return Executed(-self.value, self.counts)

    def _done(self, what: str, value: float):
        self.counts[what] += 1
        return Executed(value, self.counts)

    def __lt__(self, other):
        return self.value < _number(other)

    def __gt__(self, other):
        return self.value > _number(other)

    def __ne__(self, other):
        return self.value != _number(other)

    __rmul__, __radd__, __hash__ = __mul__, __add__, None


def _number(value) -> float:
    return value.value if isinstance(value, Counted) else float(value)


class Vector:
    """Four numbers; one instruction is counted for all, and four operations."""

    def __init__(self, numbers, counts: Counter) -> None:
        self.numbers, self.counts = list(numbers), counts

    def _with(self, other, act) -> Vector:
        self.counts['vector instructions'] += 1
        others = other.numbers if isinstance(other, Vector) else [other for _ in LANES]
        return Vector([act(a, b) for a, b in zip(self.numbers, others)], self.counts)

    def __mul__(self, other) -> Vector:
        return self._with(other, lambda a, b: a * b)

    def __add__(self, other) -> Vector:
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other) -> Vector:
        return self._with(other, lambda a, b: a - b)


class Address:
    """A place in a flat array, and what comes behind it."""

    def __init__(self, flat: np.ndarray, at: int) -> None:
        self.flat, self.at = flat, int(at)

    def __getitem__(self, index):
        return self.flat[self.at + int(index)]

    def __setitem__(self, index, value) -> None:
        self.flat[self.at + int(index)] = value


class Interpreter:
    """Python functions in the place of compiled ones, counting in `counts`."""

    def __init__(self) -> None:
        self.counts: Counter = Counter()
        self.stages: dict[str, int] = {}           # operations by function
        self._made: dict[Dispatcher, types.FunctionType] = {}
        self._known = {'load': self._load, 'store': self._store, 'spread': self._spread,
                       'total': self._total, 'totals': self._totals, 'shifted': self._shifted,
                       'address_of': self._address_of, 'array_at': self._array_at,
                       'at_address': lambda at: Address(self._work, at // 8), 'math': self}

    def number(self, value: float) -> Executed:
        return Executed(value, self.counts)

    def numbers(self, values: np.ndarray) -> np.ndarray:
        out = np.empty(values.shape, dtype=object)
        out.reshape(-1)[:] = [self.number(value) for value in values.flat]
        return out

    def workspace(self, length: int) -> np.ndarray:
        """Zeros; `carve` asks for its address, which is 0 here."""
        self._work = self.numbers(np.zeros(length))
        return types.SimpleNamespace(ctypes=types.SimpleNamespace(data=0))

    def of(self, compiled: Dispatcher) -> types.FunctionType:
        """The same function, interpreted."""
        if compiled not in self._made:
            code = compiled.py_func
            names: dict = {}
            self._made[compiled] = types.FunctionType(code.__code__, names, code.__name__,
                                                      code.__defaults__)
            names.update({name: self._instead(name, value)
                          for name, value in code.__globals__.items()})
        return self._made[compiled]

    def operations(self) -> int:
        return sum(self.counts[what] for what in ('multiplications', 'divisions', 'additions'))

    def _staged(self, function: types.FunctionType):
        def run(*arguments):
            before = self.operations()
            result = function(*arguments)
            self.stages[function.__name__] = self.operations() - before
            return result
        return run

    def _instead(self, name: str, value):
        if isinstance(value, Dispatcher):
            made = self.of(value)
            return self._staged(made) if value in STAGES else made
        if isinstance(value, np.unsignedinteger):
            return int(value)
        return int if value is np.uint64 else self._known.get(name, value)

    # What the compiler knows -----------------------------------------------------------------

    def _load(self, address: Address, index: int) -> Vector:
        return Vector([address[index + k] for k in LANES], self.counts)

    def _store(self, address: Address, index: int, value: Vector) -> None:
        for k in LANES:
            address[index + k] = value.numbers[k]

    def _spread(self, number: float) -> Vector:
        return Vector([self.number(_number(number)) for _ in LANES], self.counts)

    def _total(self, value: Vector) -> Executed:
        a, b, c, d = value.numbers
        return (a + b) + (c + d)

    def _totals(self, *values: Vector) -> Vector:
        self.counts['vector instructions'] += 3
        return Vector([self._total(value) for value in values], self.counts)

    def _shifted(self, address: Address, index: int) -> Address:
        return Address(address.flat, address.at + int(index))

    def _address_of(self, array: np.ndarray) -> Address:
        owner = array if array.base is None else array.base
        behind = array.__array_interface__['data'][0] - owner.__array_interface__['data'][0]
        return Address(owner.reshape(-1), behind // owner.itemsize)

    def _array_at(self, at: int, shape: tuple[int, ...]) -> np.ndarray:
        return self._work[at // 8:at // 8 + math.prod(shape)].reshape(shape)

    def _function(self, function, value) -> Executed:
        self.counts['functions'] += 1
        return self.number(function(_number(value)))

    def sin(self, value) -> Executed:
        return self._function(math.sin, value)

    def cos(self, value) -> Executed:
        return self._function(math.cos, value)

    def sqrt(self, value) -> Executed:
        return self._function(math.sqrt, value)


def counted_forward_dynamics(model: Model, q, v, force) -> tuple[np.ndarray, Interpreter]:
    """Accelerations (n,) under generalised forces (n,), and who has counted what it took."""
    table, body, coef, size = model.assembly.arrays
    run = Interpreter()
    a = run.numbers(np.zeros(model.n))
    work = run.workspace(workspace.workspace_length(size))
    arguments = [run.numbers(np.asarray(values, dtype=float)) for values in (
        body, coef, model.gravity, q, v, force, np.zeros(model.n))]
    body, coef, gravity, q, v, force, zeros = arguments
    status = run.of(forward_dynamics)(table, body, coef, size, work, gravity, q, v, force, zeros,
                                      0.0, 0.0, a)
    assert status == 0
    return plain(a), run
