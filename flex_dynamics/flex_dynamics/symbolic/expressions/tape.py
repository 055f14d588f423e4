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
"""A tape of scalar operations: what a derivation writes down, each step once.

A derivation calculates with `Scalar`s as it would with numbers. Every operation becomes one line
of the tape; the same operation on the same operands is the same line, numbers are folded, and
nothing is ever expanded. So a model of sixteen coordinates is thousands of lines, not millions of
terms, and its functions, its code and its sympy expressions are readings of one tape.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from flex_dynamics.errors import DynamicsError
from flex_dynamics.symbolic.expressions.stumpff import stumpff

NUMBER = (int, float)
INVERSE = '^-1'      # ends the name of a symbol that is one divided by another


class Scalar:
    """One line of a tape. op: symbol, +, -, *, sin, cos, sqrt, reciprocal, stumpff; operands are
    Scalars or floats."""

    __slots__ = ('tape', 'index', 'op', 'a', 'b')

    def __init__(self, tape: Tape, index: int, op: str, a, b) -> None:
        self.tape, self.index, self.op, self.a, self.b = tape, index, op, a, b

    # An array of numbers or scalars is left to numpy, which comes back element by element.

    def __add__(self, other):
        return self.tape.add(self, other) if isinstance(other, SCALAR) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other):
        return self.tape.subtract(self, other) if isinstance(other, SCALAR) else NotImplemented

    def __rsub__(self, other):
        return self.tape.subtract(other, self) if isinstance(other, SCALAR) else NotImplemented

    def __mul__(self, other):
        return self.tape.multiply(self, other) if isinstance(other, SCALAR) else NotImplemented

    __rmul__ = __mul__

    def __neg__(self):
        return self.tape.multiply(-1.0, self)

    def __repr__(self) -> str:
        return f't{self.index}' if self.op != 'symbol' else str(self.a)


SCALAR = (int, float, Scalar)


class Tape:
    """Lines in the order of their calculation; symbols by name.

    longest: lines after which a derivation is given up.
    """

    def __init__(self, longest: int = 2_000_000) -> None:
        self.lines: list[Scalar] = []
        self.symbols: dict[str, Scalar] = {}
        self.longest = longest
        self._known: dict[tuple, Scalar] = {}
        self._derivatives: dict[int, dict[int, object]] = {}

    def symbol(self, name: str) -> Scalar:
        if name not in self.symbols:
            self.symbols[name] = self._line('symbol', name, None)
        return self.symbols[name]

    def add(self, a, b):
        if isinstance(a, NUMBER):
            a, b = b, a                               # a number stands behind
        if isinstance(b, NUMBER):
            if isinstance(a, NUMBER):
                return a + b
            if b == 0.0:
                return a
            if a.op == '+' and isinstance(a.b, NUMBER):
                return self.add(a.a, a.b + b)
            return self._line('+', a, float(b))
        if a is b:
            return self.multiply(2.0, a)
        if b.op == '*' and b.a == -1.0:
            return self.subtract(a, b.b)
        if a.op == '*' and a.a == -1.0:
            return self.subtract(b, a.b)
        if _multiples(a, b):
            return self.multiply(a.a + b.a, a.b)
        return self._line('+', a, b) if a.index <= b.index else self._line('+', b, a)

    def subtract(self, a, b):
        if isinstance(b, NUMBER):
            return self.add(a, -b)
        if isinstance(a, NUMBER):
            negative = self.multiply(-1.0, b)
            return negative if a == 0.0 else self.add(negative, a)
        if a is b:
            return 0.0
        if b.op == '*' and b.a == -1.0:
            return self.add(a, b.b)
        if _multiples(a, b):
            return self.multiply(a.a - b.a, a.b)
        return self._line('-', a, b)

    def multiply(self, a, b):
        if isinstance(b, NUMBER):
            a, b = b, a                               # a number stands in front
        if isinstance(a, NUMBER):
            if isinstance(b, NUMBER):
                return a * b
            if a == 0.0:
                return 0.0
            if a == 1.0:
                return b
            if b.op == '*' and isinstance(b.a, NUMBER):
                return self.multiply(a * b.a, b.b)
            if a == -1.0 and b.op == '-':
                return self._line('-', b.b, b.a)
            return self._line('*', float(a), b)
        if a.op == '*' and isinstance(a.a, NUMBER):   # numbers move to the front
            return self.multiply(a.a, self.multiply(a.b, b))
        if b.op == '*' and isinstance(b.a, NUMBER):
            return self.multiply(b.a, self.multiply(a, b.b))
        if a.op == b.op == 'symbol' and (a.a == b.a + INVERSE or b.a == a.a + INVERSE):
            return 1.0
        if (a.op == 'reciprocal' and a.a is b) or (b.op == 'reciprocal' and b.a is a):
            return 1.0
        return self._line('*', a, b) if a.index <= b.index else self._line('*', b, a)

    def sin(self, a):
        return self._line('sin', a, None)

    def cos(self, a):
        return self._line('cos', a, None)

    def sqrt(self, a):
        return math.sqrt(a) if isinstance(a, NUMBER) else self._line('sqrt', a, None)

    def reciprocal(self, a):
        """1 / a: what inverse matrices need."""
        if isinstance(a, NUMBER):
            return 1.0 / a
        if a.op == '*' and isinstance(a.a, NUMBER):
            return self.multiply(1.0 / a.a, self.reciprocal(a.b))
        return a.a if a.op == 'reciprocal' else self._line('reciprocal', a, None)

    def stumpff(self, order: int, a):
        """c_k(s) of stumpff.py: rotations by a vector need them of its square."""
        if isinstance(a, NUMBER):
            return stumpff(order, float(a))
        return self._line('stumpff', order, a)

    def _line(self, op: str, a, b) -> Scalar:
        key = (op, a.index if isinstance(a, Scalar) else (a,),
               b.index if isinstance(b, Scalar) else (b,))
        line = self._known.get(key)
        if line is None:
            if len(self.lines) >= self.longest:
                raise TooLong(f'more than {self.longest} operations')
            line = Scalar(self, len(self.lines), op, a, b)
            self.lines.append(line)
            self._known[key] = line
        return line

    def derivative(self, line, symbol: Scalar):
        """d line / d symbol, on the same tape."""
        if isinstance(line, NUMBER):
            return 0.0
        known = self._derivatives.setdefault(symbol.index, {})
        for at in self.needed([line], known):
            known[at.index] = self._derive(at, symbol, known)
        return known[line.index]

    def _derive(self, line: Scalar, symbol: Scalar, known: dict):
        def of(operand):
            return known[operand.index] if isinstance(operand, Scalar) else 0.0

        a, b = line.a, line.b
        if line.op == 'symbol':
            return 1.0 if line is symbol else 0.0
        if line.op == '+':
            return self.add(of(a), of(b))
        if line.op == '-':
            return self.subtract(of(a), of(b))
        if line.op == '*':
            return self.add(self.multiply(of(a), b), self.multiply(a, of(b)))
        inner = of(b if line.op == 'stumpff' else a)
        if isinstance(inner, NUMBER) and inner == 0.0:
            return 0.0
        if line.op == 'sin':
            return self.multiply(inner, self.cos(a))
        if line.op == 'cos':
            return self.multiply(-1.0, self.multiply(inner, self.sin(a)))
        if line.op == 'sqrt':
            return self.multiply(0.5, self.multiply(inner, self.reciprocal(line)))
        if line.op == 'reciprocal':
            return self.multiply(-1.0, self.multiply(inner, self.multiply(line, line)))
        # dc_k/ds = (k c_{k+2} - c_{k+1}) / 2
        slope = self.subtract(self.multiply(0.5 * a, self.stumpff(a + 2, b)),
                              self.multiply(0.5, self.stumpff(a + 1, b)))
        return self.multiply(inner, slope)

    def needed(self, results: Iterable, known: dict | None = None) -> list[Scalar]:
        """The lines that some results need, operands first; those in `known` are not needed."""
        found: set[int] = set()
        stack = [r for r in results if isinstance(r, Scalar)]
        while stack:
            line = stack.pop()
            if line.index in found or (known is not None and line.index in known):
                continue
            found.add(line.index)
            stack += [x for x in (line.a, line.b) if isinstance(x, Scalar)]
        return [self.lines[k] for k in sorted(found)]

    def read(self, results: list, symbol: Callable, number: Callable, operations: dict,
             values: dict[int, object] | None = None) -> list:
        """Results in another arithmetic: values of symbols, of numbers, and its operations.
        values: those of lines that were read before, which grow."""
        values = {} if values is None else values

        def of(operand):
            return values[operand.index] if isinstance(operand, Scalar) else number(operand)

        for line in self.needed(results, values):
            if line.op == 'symbol':
                values[line.index] = symbol(line.a)
            elif line.op == 'stumpff':
                values[line.index] = operations['stumpff'](line.a, of(line.b))
            elif line.b is None:
                values[line.index] = operations[line.op](of(line.a))
            else:
                values[line.index] = operations[line.op](of(line.a), of(line.b))
        return [of(r) for r in results]


def _multiples(a: Scalar, b: Scalar) -> bool:
    """Whether both are numbers times the same line."""
    return (a.op == b.op == '*' and a.b is b.b and isinstance(a.a, float)
            and isinstance(b.a, float))


class TooLong(DynamicsError):
    """A derivation that took more operations than it was given."""
