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
"""Tape scalars as text: infix for Python, C and sympy, and LaTeX; what is used often gets a name.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from flex_dynamics.symbolic.expressions.tape import INVERSE, Scalar, Tape

SUM, PRODUCT, ATOM = 1, 2, 3
LONGEST = 1500                            # characters of an expression before its parts get names


@dataclass(frozen=True)
class Text:
    """An expression and how tightly it holds together."""

    text: str
    strength: int

    def within(self, strength: int) -> str:
        return self.text if self.strength >= strength else f'({self.text})'


class Infix:
    """Python, C and sympy: a + b, a*b, sin(a)."""

    def __init__(self, symbol: Callable[[str], str] = str) -> None:
        self._symbol = symbol

    def name(self, index: int) -> str:
        return f't{index}'

    def symbol(self, name: str) -> Text:
        if name.endswith(INVERSE):
            return Text(f'1/{self._symbol(name.removesuffix(INVERSE))}', PRODUCT)
        return Text(self._symbol(name), ATOM)

    def number(self, value: float) -> Text:
        return Text(repr(float(value)), ATOM if value >= 0.0 else SUM)

    def add(self, a: Text, b: Text) -> Text:
        return Text(f'{a.text} - {b.text[1:]}' if b.text.startswith('-') and b.strength == SUM
                    and _lone(b.text) else f'{a.text} + {b.within(PRODUCT)}', SUM)

    def subtract(self, a: Text, b: Text) -> Text:
        return Text(f'{a.text} - {b.within(PRODUCT)}', SUM)

    def multiply(self, a: Text, b: Text) -> Text:
        if a.text == '-1.0':
            return Text(f'-{b.within(PRODUCT)}', SUM)
        if a.text.startswith('-') and a.strength == SUM and _lone(a.text):
            return Text(f'{a.text}*{b.within(PRODUCT)}', SUM)
        return Text(f'{a.within(PRODUCT)}*{b.within(PRODUCT)}', PRODUCT)

    def function(self, name: str, a: Text) -> Text:
        return Text(f'{name}({a.text})', ATOM)

    def reciprocal(self, a: Text) -> Text:
        return Text(f'(1.0/{a.within(ATOM)})', ATOM)

    def stumpff(self, order: int, a: Text) -> Text:
        return Text(f'stumpff({order}, {a.text})', ATOM)


class Latex(Infix):
    """LaTeX; numbers with `digits` digits."""

    def __init__(self, digits: int = 6) -> None:
        super().__init__(latex_symbol)
        self._digits = digits

    def symbol(self, name: str) -> Text:
        text = latex_symbol(name.removesuffix(INVERSE))
        return Text(f'{text}^{{-1}}' if name.endswith(INVERSE) else text, ATOM)

    def name(self, index: int) -> str:
        return f't_{{{index}}}'

    def number(self, value: float) -> Text:
        mantissa, _, power = f'{value:.{self._digits}g}'.partition('e')
        if power:
            return Text(rf'{mantissa} \cdot 10^{{{int(power)}}}', PRODUCT if value > 0 else SUM)
        return Text(mantissa, ATOM if value >= 0.0 else SUM)

    def multiply(self, a: Text, b: Text) -> Text:
        if a.text == '-1':
            return Text(f'-{b.within(PRODUCT)}', SUM)
        if a.text.startswith('-') and a.strength == SUM and _lone(a.text):
            return Text(rf'{a.text} \, {b.within(PRODUCT)}', SUM)
        return Text(rf'{a.within(PRODUCT)} \, {b.within(PRODUCT)}', PRODUCT)

    def function(self, name: str, a: Text) -> Text:
        return Text(rf'\sqrt{{{a.text}}}' if name == 'sqrt' else rf'\{name}({a.text})', ATOM)

    def reciprocal(self, a: Text) -> Text:
        return Text(rf'\frac{{1}}{{{a.text}}}', ATOM)

    def stumpff(self, order: int, a: Text) -> Text:
        return Text(rf'c_{{{order}}}({a.text})', ATOM)


def latex_symbol(name: str) -> str:
    """q1, v1 and m_link2 in LaTeX."""
    letter, mark, owner = name.partition('_')
    if not mark:
        return rf'\dot q_{{{name[1:]}}}' if name[0] == 'v' else f'{name[0]}_{{{name[1:]}}}'
    shown = owner.replace('_', r'\_')
    return rf'{letter}_{{\mathrm{{{shown}}}}}'


def _lone(text: str) -> bool:
    """Whether a negative text is one term, so that its sign may be changed by itself."""
    return ' + ' not in text and ' - ' not in text


@dataclass
class Printed:
    """Definitions in order, (name, text), and the results, in terms of them."""

    definitions: list[tuple[str, str]] = field(default_factory=list)
    results: list[str] = field(default_factory=list)


def printed(tape: Tape, results: list, style: Infix) -> Printed:
    """Results as text. A line that is used more than once is defined once: common
    subexpressions are common by construction."""
    needed = tape.needed(results)
    uses: Counter[int] = Counter()
    for line in needed:
        uses.update(x.index for x in (line.a, line.b) if isinstance(x, Scalar))
    uses.update(r.index for r in results if isinstance(r, Scalar))
    out = Printed()
    known: dict[int, Text] = {}

    def of(operand) -> Text:
        return known[operand.index] if isinstance(operand, Scalar) else style.number(operand)

    for line in needed:
        text = _text(line, of, style)
        # a number times a line is no longer than the line's name
        if line.op != 'symbol' and (uses[line.index] > 1 and not _short(line)
                                    or len(text.text) > LONGEST):
            name = style.name(len(out.definitions) + 1)
            out.definitions.append((name, text.text))
            text = Text(name, ATOM)
        known[line.index] = text
    out.results = [of(r).text for r in results]
    return out


def _short(line: Scalar) -> bool:
    return line.op == '*' and line.a == -1.0


def _text(line: Scalar, of: Callable, style: Infix) -> Text:
    if line.op == 'symbol':
        return style.symbol(str(line.a))
    if line.op == '+':
        return style.add(of(line.a), of(line.b))
    if line.op == '-':
        return style.subtract(of(line.a), of(line.b))
    if line.op == '*':
        return style.multiply(of(line.a), of(line.b))
    if line.op == 'stumpff':
        assert isinstance(line.a, int)
        return style.stumpff(line.a, of(line.b))
    if line.op == 'reciprocal':
        return style.reciprocal(of(line.a))
    return style.function(line.op, of(line.a))
