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
"""Tape scalars as sympy expressions."""
from __future__ import annotations

import time
from collections.abc import Callable

import sympy

from flex_dynamics.symbolic.expressions import stumpff as numeric
from flex_dynamics.symbolic.expressions.tape import INVERSE, Tape


class stumpff(sympy.Function):
    """c_k(s) = 1/k! - s/(k + 2)! + ...; c_1(a^2) = sin(a) / a, c_2(a^2) = (1 - cos a) / a^2."""

    nargs = (2,)

    def fdiff(self, argindex: int = 1):
        order, s = self.args
        if argindex != 2:
            raise sympy.core.function.ArgumentIndexError(self, argindex)
        return (order * stumpff(order + 2, s) - stumpff(order + 1, s)) / 2

    def _eval_evalf(self, prec):
        order, s = self.args
        if s.is_number:
            return sympy.Float(numeric.stumpff(int(order), float(s)))
        return None

    def _latex(self, printer, exp=None):
        text = f'c_{{{self.args[0]}}}\\left({printer._print(self.args[1])}\\right)'
        return text if exp is None else f'{text}^{{{exp}}}'


def number(value: float):
    """Whole numbers stay whole, so that no 1.0 is in front of anything."""
    return sympy.Integer(int(value)) if value == int(value) else sympy.Float(value)


def symbol(name: str) -> sympy.Expr:
    """A symbol of a tape."""
    whole = sympy.Symbol(name.removesuffix(INVERSE), real=True)
    return 1 / whole if name.endswith(INVERSE) else whole


OPERATIONS: dict[str, Callable] = {
    '+': lambda a, b: a + b, '-': lambda a, b: a - b, '*': lambda a, b: a * b,
    'sin': sympy.sin, 'cos': sympy.cos, 'sqrt': sympy.sqrt, 'reciprocal': lambda a: 1 / a,
    'stumpff': stumpff}


def expressions(tape: Tape, results: list, values: dict | None = None,
                until: float = float('inf')) -> list[sympy.Expr]:
    """Results in the symbols q1 ..., v1 ..., nothing named in between.

    values: lines that were written before, which grow. until: time.monotonic() after which sums
    and products are put down as they stand on the tape, a hundred times as quick as sympy's own
    collecting and sorting (`doit` makes up for it).
    """
    def plain(op: str) -> Callable:
        return lambda a, b: (OPERATIONS if time.monotonic() < until else AS_IT_STANDS)[op](a, b)

    return tape.read(results, symbol, number,
                     {**OPERATIONS, **{op: plain(op) for op in AS_IT_STANDS}}, values)


def _sum(a: sympy.Expr, b: sympy.Expr) -> sympy.Expr:
    terms = (x.args if x.is_Add else (x,) for x in (a, b))
    return sympy.Add._from_args((*next(terms), *next(terms)))


def _product(a: sympy.Expr, b: sympy.Expr) -> sympy.Expr:
    return sympy.Mul._from_args((a, b))


AS_IT_STANDS: dict[str, Callable] = {
    '+': _sum, '-': lambda a, b: _sum(a, _product(sympy.S.NegativeOne, b)), '*': _product}
