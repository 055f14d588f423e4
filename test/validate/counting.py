"""Numbers that count the operations done with them."""
from __future__ import annotations

from collections import Counter

import numpy as np


class Counted:
    """A float; products, quotients and sums with it are counted in `counts`.

    With a plain 0 or 1, which a program knows beforehand, nothing is counted.
    """

    __slots__ = ('counts', 'value')

    def __init__(self, value: float, counts: Counter) -> None:
        self.value, self.counts = float(value), counts

    def _done(self, what: str, value: float) -> Counted:
        self.counts[what] += 1
        return Counted(value, self.counts)

    def __mul__(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented
        if _is(other, 0.0):
            return 0.0
        return self if _is(other, 1.0) else self._done('multiplications',
                                                       self.value * _plain(other))

    def __add__(self, other) -> Counted:
        return self if _is(other, 0.0) else self._done('additions', self.value + _plain(other))

    def __sub__(self, other) -> Counted:
        return self if _is(other, 0.0) else self._done('additions', self.value - _plain(other))

    def __rsub__(self, other) -> Counted:
        return -self if _is(other, 0.0) else self._done('additions', _plain(other) - self.value)

    def __truediv__(self, other) -> Counted:
        return self._done('divisions', self.value / _plain(other))

    def __rtruediv__(self, other) -> Counted:
        return self._done('divisions', _plain(other) / self.value)

    __rmul__, __radd__ = __mul__, __add__

    def __neg__(self) -> Counted:
        return Counted(-self.value, self.counts)


def _is(number, value: float) -> bool:
    return not isinstance(number, Counted) and number == value


def _plain(number) -> float:
    return number.value if isinstance(number, Counted) else float(number)


def counted(values, counts: Counter) -> np.ndarray:
    """An array of objects that count, of an array of numbers."""
    values = np.asarray(values, dtype=float)
    out = np.empty(values.shape, dtype=object)
    for index in np.ndindex(values.shape):
        out[index] = Counted(values[index], counts)
    return out


def plain(values) -> np.ndarray:
    """The numbers of an array of objects that count."""
    return np.vectorize(_plain, otypes=[float])(values)
