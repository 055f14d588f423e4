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
"""Shapes from users' formulas of x and L: a small grammar, its parse tree, exact derivatives.

    sum      = product (('+' | '-') product)*
    product  = unary (('*' | '/') unary)*
    unary    = ('+' | '-') unary | power
    power    = atom ('^' unary)?                 right to left, tighter than a sign before it
    atom     = number | 'x' | 'L' | 'pi' | function '(' sum ')' | '(' sum ')'
    function = 'sin' | 'cos' | 'sinh' | 'cosh' | 'exp' | 'sqrt'

Nothing is ever evaluated as code. A tree is evaluated on jets: value, first and second derivative.
"""
from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from flex_description.math import Array
from flex_description.shapes import intervals
from flex_description.shapes.base import ModeShapes, ShapeError
from flex_description.shapes.intervals import Bounds, undefined_near

MAX_CHARACTERS = 500
MAX_DEPTH = 60
_TOKEN = re.compile(r'\s*((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[A-Za-z_]\w*|.)')

MAX_FORMULAS = 20

Jet = tuple[Array, Array, Array]


@dataclass(frozen=True)
class Formula:
    """A formula, or a part of one. jet: value and derivatives at stations x; bounds: of its value
    on intervals from low to high; both of a beam of the length given."""

    jet: Callable[[Array, float], Jet]
    bounds: Callable[[Array, Array, float], Bounds]

    def __call__(self, x: Array, length: float) -> Jet:
        return self.jet(x, length)


def _constant(value: Callable[[float], float]) -> Formula:
    def jet(x: Array, length: float) -> Jet:
        zero = np.zeros_like(x)
        return zero + value(length), zero, zero
    return Formula(jet, lambda low, high, length: (np.full_like(low, value(length)),) * 2)


_station = Formula(lambda x, length: (x, np.ones_like(x), np.zeros_like(x)),
                lambda low, high, length: (low, high))


def _chain(outer: Callable[[Array], Jet], bounds: Callable[[Bounds], Bounds],
           inner: Formula) -> Formula:
    """Faa di Bruno to second order."""
    def jet(x: Array, length: float) -> Jet:
        u, du, ddu = inner(x, length)
        f, df, ddf = outer(u)
        return f, df * du, ddf * du**2 + df * ddu
    return Formula(jet, lambda low, high, length: bounds(inner.bounds(low, high, length)))


def _both(left: Formula, right: Formula, bounds: Callable[[Bounds, Bounds], Bounds],
          ) -> Callable[[Array, Array, float], Bounds]:
    return lambda low, high, length: bounds(left.bounds(low, high, length),
                                            right.bounds(low, high, length))


def _add(left: Formula, right: Formula, sign: float) -> Formula:
    def jet(x: Array, length: float) -> Jet:
        a, b = left(x, length), right(x, length)
        return a[0] + sign * b[0], a[1] + sign * b[1], a[2] + sign * b[2]
    return Formula(jet, _both(left, right, lambda a, b: intervals.add(a, b, sign)))


def _multiply(left: Formula, right: Formula) -> Formula:
    def jet(x: Array, length: float) -> Jet:
        a, b = left(x, length), right(x, length)
        return (a[0] * b[0], a[1] * b[0] + a[0] * b[1],
                a[2] * b[0] + 2.0 * a[1] * b[1] + a[0] * b[2])
    return Formula(jet, _both(left, right, intervals.multiply))


def _power(base: Formula, exponent: Formula) -> Formula:
    def jet(x: Array, length: float) -> Jet:
        a, b = base(x, length), exponent(x, length)
        if not np.any(b[1]) and not np.any(b[2]):
            n = b[0]
            # n (n - 1) first: 0 * 0^-1 must be 0 in x^1
            first = np.where(n == 0.0, 0.0, n * a[0]**np.where(n == 0.0, 0.0, n - 1.0))
            factor = n * (n - 1.0)
            second = np.where(factor == 0.0, 0.0,
                              factor * a[0]**np.where(factor == 0.0, 0.0, n - 2.0))
            return a[0]**n, first * a[1], second * a[1]**2 + first * a[2]
        log, dlog = np.log(a[0]), a[1] / a[0]
        rate = b[1] * log + b[0] * dlog
        bend = b[2] * log + 2.0 * b[1] * dlog + b[0] * (a[2] / a[0] - dlog**2)
        value = a[0]**b[0]
        return value, value * rate, value * (rate**2 + bend)
    return Formula(jet, _both(base, exponent, intervals.power))


def _sqrt(u: Array) -> Jet:
    root = np.sqrt(u)
    return root, 0.5 / root, -0.25 / root**3


def _inverse(u: Array) -> Jet:
    return 1.0 / u, -1.0 / u**2, 2.0 / u**3


FUNCTIONS: dict[str, Callable[[Array], Jet]] = {
    'sin': lambda u: (np.sin(u), np.cos(u), -np.sin(u)),
    'cos': lambda u: (np.cos(u), -np.sin(u), -np.cos(u)),
    'sinh': lambda u: (np.sinh(u), np.cosh(u), np.sinh(u)),
    'cosh': lambda u: (np.cosh(u), np.sinh(u), np.cosh(u)),
    'exp': lambda u: (np.exp(u), np.exp(u), np.exp(u)),
    'sqrt': _sqrt,
}


@dataclass(frozen=True)
class _Token:
    text: str
    column: int


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > MAX_CHARACTERS:
            raise ShapeError(f'expression: expected at most {MAX_CHARACTERS} characters, '
                             f'found {len(text)}')
        self.tokens = [_Token(match.group(1), match.start(1) + 1)
                       for match in _TOKEN.finditer(text.rstrip())]
        self.tokens.append(_Token('', len(text) + 1))
        self.depth = 0

    def parse(self) -> Formula:
        tree = self._sum()
        if self.tokens[0].text:
            raise self._error('an operator or the end')
        return tree

    def _error(self, expected: str) -> ShapeError:
        token = self.tokens[0]
        found = f"'{token.text}'" if token.text else 'the end'
        return ShapeError(f"expression '{self.text}': expected {expected} at column "
                          f'{token.column}, found {found}')

    def _take(self, *texts: str) -> str:
        """The next token if it is one of these, else ''."""
        return self.tokens.pop(0).text if self.tokens[0].text in texts else ''

    def _sum(self) -> Formula:
        tree = self._product()
        while sign := self._take('+', '-'):
            tree = _add(tree, self._product(), 1.0 if sign == '+' else -1.0)
        return tree

    def _product(self) -> Formula:
        tree = self._unary()
        while operator := self._take('*', '/'):
            right = self._unary()
            tree = _multiply(tree, right if operator == '*' else _chain(
                _inverse, intervals.inverse, right))
        return tree

    def _unary(self) -> Formula:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ShapeError(f'expression: nested deeper than {MAX_DEPTH} levels')
        sign = self._take('+', '-')
        if sign:
            tree = self._unary()
            if sign == '-':
                tree = _multiply(_constant(lambda length: -1.0), tree)
        else:
            tree = self._atom()
            if self._take('^'):
                tree = _power(tree, self._unary())
        self.depth -= 1
        return tree

    def _atom(self) -> Formula:
        token = self.tokens[0].text
        if self._take('('):
            return self._closed()
        if self._take('x'):
            return _station
        if self._take('L'):
            return _constant(lambda length: length)
        if self._take('pi'):
            return _constant(lambda length: np.pi)
        if token in FUNCTIONS:
            self.tokens.pop(0)
            if not self._take('('):
                raise self._error(f"'(' after {token}")
            return _chain(FUNCTIONS[token], intervals.FUNCTIONS[token], self._closed())
        if token and token[0] in '0123456789.' and token != '.':
            number = float(self.tokens.pop(0).text)
            return _constant(lambda length: number)
        raise self._error(f"a number, x, L, pi, {', '.join(FUNCTIONS)} or '('")

    def _closed(self) -> Formula:
        tree = self._sum()
        if not self._take(')'):
            raise self._error("')'")
        return tree


def _bounds(tree: Formula, length: float, low: Array, high: Array) -> Bounds:
    return tree.bounds(low, high, length)


def parse(text: str) -> Formula:
    """The tree of a formula; ShapeError says at which column it is wrong."""
    return _Parser(text).parse()


class Expressions(ModeShapes):
    """Formulas separated by ';'. power 2: bending, value and slope vanish at x = 0; 1: twist,
    value vanishes there."""

    def __init__(self, length: float, text: str, power: int) -> None:
        self.length, self._formulas = length, (text, power)
        texts = [part.strip() for part in text.split(';') if part.strip()]
        if len(texts) > MAX_FORMULAS:
            raise ShapeError(f"expression: expected at most {MAX_FORMULAS} formulas separated by "
                             f"';', found {len(texts)}")
        self.trees = [parse(part) for part in texts]
        self.count = len(self.trees)
        stations = np.linspace(0.0, length, 101)
        for part, tree in zip(texts, self.trees, strict=True):
            with np.errstate(all='ignore'):
                jet = np.array(tree(stations, length))
            if not np.all(np.isfinite(jet)):
                x = stations[np.argmin(np.isfinite(jet).all(axis=0))]
                raise ShapeError(f"expression '{part}': value or derivative is not finite at "
                                 f'x = {x:.6g} m')
            pole = undefined_near(partial(_bounds, tree, length), length)
            if pole is not None:
                raise ShapeError(f"expression '{part}': expected a formula that is finite all "
                                 f'along the beam, found a pole near x = {pole:.6g} m')
            names = ('value', 'slope')[:power]
            for name, values in zip(names, jet, strict=False):
                if abs(values[0]) > 1e-6 * np.max(np.abs(values)):
                    raise ShapeError(f"expression '{part}': expected {name} 0 at x = 0, where the "
                                     f'link is clamped, found {values[0]:.6g}')

    def __reduce__(self) -> tuple[type[Expressions], tuple[float, str, int]]:
        """Pickled as text, because parsed formulas are functions."""
        return type(self), (self.length, *self._formulas)

    def __call__(self, x: Array, derivative: int = 0) -> Array:
        x = np.atleast_1d(np.asarray(x, float))
        values = np.empty((self.count, x.size))
        for row, tree in zip(values, self.trees, strict=True):
            row[:] = tree(x, self.length)[derivative]
        return values
