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
"""The form in which people write such equations: sums of monomials times sine or cosine.

Products of sines and cosines become those of sums of angles, so that sin^2 + cos^2 is 1, and
cos a cos b - sin a sin b is cos(a + b), without a search. Angles are linear in the coordinates.
Other functions stay as they are. The form is canonical: equal elements become equal.
"""
from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import sympy

from flex_dynamics.symbolic.expressions.sympy_expressions import (
    OPERATIONS,
    number,
    stumpff,
    symbol,
)
from flex_dynamics.symbolic.expressions.tape import INVERSE, Tape

Angle = tuple[tuple[str, float], ...]     # (symbol, factor), sorted; () is none
Term = tuple[tuple[str, ...], Angle, bool]   # symbols of the monomial, angle, whether sine
Sum = dict[Term, float]
CONSTANT: Term = ((), (), False)
SMALL = 1e-13                             # of the largest coefficient: rounding


class Harmonics:
    """Reads a tape in this arithmetic; `until`: time.monotonic() at which it gives up."""

    def __init__(self, tape: Tape, until: float, most_terms: int = 4000) -> None:
        self._tape, self._until, self._most = tape, until, most_terms
        self._symbols: dict[str, sympy.Expr] = {}      # and the functions that are none of angles
        self._turns: dict[tuple[Angle, bool], sympy.Expr] = {}
        self._values: dict[int, object] = {}
        self._inverses = any(name.endswith(INVERSE) for name in tape.symbols)

    def expression(self, result) -> sympy.Expr | None:
        """A tape's result in this form, or None if time or terms ran out."""
        terms = self.terms(result)
        return None if terms is None else self.written(terms)

    def terms(self, result) -> Sum | None:
        """The same before it is written, which takes longer than all else."""
        operations: dict[str, Callable] = {
            '+': lambda a, b: _add(a, b, 1.0), '-': lambda a, b: _add(a, b, -1.0),
            '*': self._multiply, 'sin': lambda a: self._turn(a, True),
            'cos': lambda a: self._turn(a, False), 'sqrt': partial(self._function, 'sqrt'),
            'reciprocal': self._reciprocal,
            'stumpff': lambda order, a: self._function('stumpff', a, order)}
        try:
            (found,) = self._tape.read([result], lambda name: {((name,), (), False): 1.0},
                                       lambda value: {CONSTANT: float(value)}, operations,
                                       self._values)
        except _GivenUp:
            return None
        return found

    def _multiply(self, a: Sum, b: Sum) -> Sum:
        if len(a) * len(b) > 50 * self._most:
            raise _GivenUp
        out: Sum = {}
        for (monomial, angle, sine), x in a.items():
            if time.monotonic() > self._until:
                raise _GivenUp
            for (other, turn, sinus), y in b.items():
                product = tuple(sorted(monomial + other))
                if self._inverses:
                    product = _cancelled(product)
                for factor, combined, is_sine in _product(angle, sine, turn, sinus):
                    key = (product, combined, is_sine)
                    out[key] = out.get(key, 0.0) + factor * x * y
        out = _without_rounding(out)
        if len(out) > self._most:
            raise _GivenUp
        return out

    def _turn(self, angle: Sum, sine: bool) -> Sum:
        linear = []
        for (monomial, inner, _), factor in angle.items():
            # an angle may be divided by a length that is a symbol: q4/L is then one quantity
            if not monomial or inner or len(monomial) > 1 and not self._inverses:
                return self._function('sin' if sine else 'cos', angle)
            linear.append((self._quantity(monomial), factor))
        sign, key = _upright(tuple(sorted(linear)))
        return {((), key, sine): sign if sine else 1.0}

    def _quantity(self, monomial: tuple[str, ...]) -> str:
        """The name of a product of symbols as one."""
        name = '*'.join(monomial)
        if name not in self._symbols:
            self._symbols[name] = sympy.Mul(*map(self._symbol, monomial))
        return name

    def _reciprocal(self, s: Sum) -> Sum:
        if list(s) == [CONSTANT]:
            return {CONSTANT: 1.0 / s[CONSTANT]}
        return self._function('reciprocal', s)

    def _function(self, op: str, s: Sum, order: int = 0) -> Sum:
        """A function that is none of an angle, as a symbol of its own."""
        inner = self.written(s)
        expression = stumpff(order, inner) if op == 'stumpff' else OPERATIONS[op](inner)
        name = str(expression)
        self._symbols[name] = expression
        return {((name,), (), False): 1.0}

    def written(self, terms: Sum) -> sympy.Expr:
        return sympy.Add(*(
            sympy.Mul(number(factor), *map(self._symbol, monomial),
                      *((self._turned(angle, sine),) if angle else ()))
            for (monomial, angle, sine), factor in _without_rounding(terms).items()))

    def _symbol(self, name: str) -> sympy.Expr:
        if name not in self._symbols:
            self._symbols[name] = symbol(name)
        return self._symbols[name]

    def _turned(self, angle: Angle, sine: bool) -> sympy.Expr:
        if (angle, sine) not in self._turns:
            turn = sympy.Add(*(number(f) * self._symbol(name) for name, f in angle))
            self._turns[angle, sine] = (sympy.sin if sine else sympy.cos)(turn)
        return self._turns[angle, sine]


def _cancelled(monomial: tuple[str, ...]) -> tuple[str, ...]:
    """A sorted monomial without the products of a symbol and its inverse."""
    left = list(monomial)
    for name in monomial:
        if name.endswith(INVERSE) and name.removesuffix(INVERSE) in left:
            left.remove(name)
            left.remove(name.removesuffix(INVERSE))
    return tuple(left)


def length(terms: Sum) -> int:
    """Operations of a sum as it is written."""
    inside = sum(len(monomial) + (2 * len(angle) if angle else 0) for monomial, angle, _ in terms)
    return inside + len(terms)


class _GivenUp(Exception):
    pass


def _add(a: Sum, b: Sum, sign: float) -> Sum:
    out = dict(a)
    for key, value in b.items():
        out[key] = out.get(key, 0.0) + sign * value
    return _without_rounding(out, max((*map(abs, a.values()), *map(abs, b.values())), default=0.0))


def _without_rounding(terms: Sum, largest: float | None = None) -> Sum:
    if largest is None:
        largest = max(map(abs, terms.values()), default=0.0)
    return {key: value for key, value in terms.items() if abs(value) > SMALL * largest}


def _product(a: Angle, a_sine: bool, b: Angle, b_sine: bool) -> list[tuple[float, Angle, bool]]:
    """f(a) g(b) as a sum over sine or cosine of a + b and a - b."""
    if not a or not b:
        return [(1.0, a or b, a_sine if a else b_sine)]
    plus, minus = _combined(a, b, 1.0), _combined(a, b, -1.0)
    if a_sine and b_sine:                                  # cos(a - b)/2 - cos(a + b)/2
        parts = [(0.5, minus, False), (-0.5, plus, False)]
    elif not a_sine and not b_sine:                        # cos(a - b)/2 + cos(a + b)/2
        parts = [(0.5, minus, False), (0.5, plus, False)]
    else:                                                  # sin(a + b)/2 +- sin(a - b)/2
        parts = [(0.5, plus, True), (0.5 if a_sine else -0.5, minus, True)]
    out = []
    for factor, angle, sine in parts:
        sign, key = _upright(angle)
        if sine and not key:
            continue                                       # sin 0
        out.append((factor * (sign if sine else 1.0), key, sine))
    return out


def _combined(a: Angle, b: Angle, sign: float) -> Angle:
    factors = dict(a)
    for name, value in b:
        factors[name] = factors.get(name, 0.0) + sign * value
    return tuple(sorted((name, value) for name, value in factors.items() if abs(value) > 1e-12))


def _upright(angle: Angle) -> tuple[float, Angle]:
    """The angle or its negative, the one whose first factor is positive, and the sign."""
    if angle and angle[0][1] < 0.0:
        return -1.0, tuple((name, -value) for name, value in angle)
    return 1.0, angle
