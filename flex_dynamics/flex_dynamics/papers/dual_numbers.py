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
"""Dual numbers, vectors and matrices: x + eps x', eps^2 = 0 (Cibicik and Egeland, II-A).

Arithmetic on them drops what is of second order after every multiplication, which is how a model
stays linear in the elastic coordinates at each step of its derivation. One class holds numbers,
vectors and matrices: both parts are arrays of one shape.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_dynamics.errors import DynamicsError


@dataclass(frozen=True, eq=False)
class Dual:
    """real + eps dual; arrays of one shape (a dual part left out is zero). Elements are numbers,
    or objects that calculate like numbers."""

    real: np.ndarray
    dual: np.ndarray

    __array_ufunc__ = None          # numpy's arrays leave mixed operations to this class

    def __init__(self, real, dual=None) -> None:
        real = _array(real)
        dual = np.zeros(real.shape) if dual is None else _array(dual)
        if real.shape != dual.shape:
            raise DynamicsError(f'dual: expected parts of one shape, found {real.shape} and '
                                f'{dual.shape}')
        object.__setattr__(self, 'real', real)
        object.__setattr__(self, 'dual', dual)

    def __add__(self, other) -> Dual:
        other = as_dual(other)
        return Dual(self.real + other.real, self.dual + other.dual)

    def __sub__(self, other) -> Dual:
        return self + (-as_dual(other))

    def __neg__(self) -> Dual:
        return Dual(-self.real, -self.dual)

    def __mul__(self, other) -> Dual:
        other = as_dual(other)
        return Dual(self.real * other.real, self.real * other.dual + self.dual * other.real)

    def __truediv__(self, other) -> Dual:
        return self * reciprocal(as_dual(other))

    def __matmul__(self, other) -> Dual:
        other = as_dual(other)
        return Dual(self.real @ other.real, self.real @ other.dual + self.dual @ other.real)

    def __radd__(self, other) -> Dual:
        return self + other

    def __rmul__(self, other) -> Dual:
        return as_dual(other) * self

    def __rsub__(self, other) -> Dual:
        return as_dual(other) - self

    def __rtruediv__(self, other) -> Dual:
        return as_dual(other) / self

    def __rmatmul__(self, other) -> Dual:
        return as_dual(other) @ self

    @property
    def T(self) -> Dual:
        return Dual(self.real.T, self.dual.T)

    def stacked(self) -> np.ndarray:
        """A dual vector (3,) as [real; dual] (6,): (37)."""
        return np.concatenate((self.real, self.dual))

    def matrix(self) -> np.ndarray:
        """A dual matrix (n, n) as the real one (2n, 2n) with the same products: (8), (38)."""
        return np.block([[self.real, np.zeros(self.real.shape)], [self.dual, self.real]])


def _array(value) -> np.ndarray:
    array = np.asarray(value)
    return array if array.dtype == object else array.astype(float)


def as_dual(value) -> Dual:
    return value if isinstance(value, Dual) else Dual(value)


def unstacked(vector: np.ndarray) -> Dual:
    """The dual vector (3,) of [real; dual] (6,)."""
    return Dual(vector[:3], vector[3:])


def function(f, derivative, x) -> Dual:
    """f(x + eps x') = f(x) + eps f'(x) x', for numbers and element by element."""
    x = as_dual(x)
    return Dual(f(x.real), derivative(x.real) * x.dual)


def reciprocal(x) -> Dual:
    x = as_dual(x)
    if np.any(x.real == 0.0):
        raise DynamicsError('dual number: expected a real part other than zero to divide by, '
                            f'found {x.real} + eps {x.dual}')
    return function(lambda r: 1.0 / r, lambda r: -1.0 / r**2, x)


def sqrt(x) -> Dual:
    x = as_dual(x)
    if np.any(x.real <= 0.0):
        raise DynamicsError('dual number: expected a positive real part to take the root of, '
                            f'found {x.real} + eps {x.dual}')
    return function(np.sqrt, lambda r: 0.5 / np.sqrt(r), x)


def sin(x) -> Dual:
    return function(np.sin, np.cos, x)


def cos(x) -> Dual:
    return function(np.cos, lambda r: -np.sin(r), x)


def tan(x) -> Dual:
    return function(np.tan, lambda r: 1.0 / np.cos(r)**2, x)


def arctan(x) -> Dual:
    return function(np.arctan, lambda r: 1.0 / (1.0 + r**2), x)


def exp(x) -> Dual:
    return function(np.exp, np.exp, x)


def dot(a, b) -> Dual:
    """a . b of dual vectors: of two unit lines, the cosine of their dual angle."""
    a, b = as_dual(a), as_dual(b)
    return Dual(a.real @ b.real, a.real @ b.dual + a.dual @ b.real)


def cross(a, b) -> Dual:
    """a x b of dual vectors: (13)."""
    a, b = as_dual(a), as_dual(b)
    return Dual(np.cross(a.real, b.real), np.cross(a.real, b.dual) + np.cross(a.dual, b.real))


def norm(a) -> Dual:
    """Length of a dual vector whose real part is not zero."""
    return sqrt(dot(a, a))
