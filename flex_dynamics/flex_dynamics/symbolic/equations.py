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
"""The equations of motion of a robot, symbolic: to read, to simplify, to export.

    M(q) a + C(q, v) v + D v + K q + g(q) = B tau

Lin and Lewis call C, K, g: D, U, G.
"""
from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from flex_dynamics.errors import DynamicsError
from flex_dynamics.model.model import Model
from flex_dynamics.symbolic.export import code
from flex_dynamics.symbolic.export.printing import Infix, Latex, latex_symbol, printed
from flex_dynamics.symbolic.expressions.simplify import simplified
from flex_dynamics.symbolic.expressions.sympy_expressions import expressions, number
from flex_dynamics.symbolic.expressions.tape import Tape

FORMATS = ('text', 'python', 'c', 'latex', 'json')
SIMPLIFIED_FORMATS = ('text', 'latex', 'json')
FUNCTIONS = ('numpy', 'c')


@dataclass(frozen=True)
class Simplified:
    """M, C, g after a simplification, and how far it came: elements done, of so many."""

    M: sympy.Matrix
    C: sympy.Matrix
    g: sympy.Matrix
    done: int
    total: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Equations:
    """What `derive` gives. Coordinates q1 ... qn and speeds v1 ... vn are those of `names`.

    model: the numeric model of the same robot, order and payload. tape: all operations. on_tape:
    M and C (n, n), g (n,), as scalars of the tape. K, D (n, n), B (n, n_joints): numbers.
    parameters: values, SI, of the symbols other than q and v (`derive(..., symbols=True)`), with
    which K is `K_symbols`; D and B are numbers.
    """

    method: str
    model: Model
    tape: Tape
    on_tape: tuple[np.ndarray, np.ndarray, np.ndarray]
    K_numbers: np.ndarray
    D_numbers: np.ndarray
    B_numbers: np.ndarray
    seconds: float
    parameters: dict[str, float] = field(default_factory=dict)
    K_symbols: sympy.Matrix | None = None

    @property
    def n(self) -> int:
        return self.model.n

    @property
    def names(self) -> tuple[str, ...]:
        return self.model.names

    @property
    def title(self) -> str:
        return (f'Equations of motion of {code.harmless(self.model.robot.name)}, method '
                f"'{self.method}', order "
                f"'{self.model.order}': M(q) a + C(q, v) v + D v + K q + g(q) = B tau")

    @cached_property
    def operations(self) -> int:
        """Additions, multiplications and functions of M, C and g together."""
        return sum(line.op != 'symbol' for line in self.tape.needed(self.results()))

    def results(self) -> list[Any]:
        """Elements of M, C and g, by rows, one after another."""
        return [x for array in self.on_tape for x in array.ravel()]

    # As sympy expressions -------------------------------------------------------------------

    @property
    def q(self) -> list[sympy.Symbol]:
        return [sympy.Symbol(f'q{k + 1}', real=True) for k in range(self.n)]

    @property
    def v(self) -> list[sympy.Symbol]:
        return [sympy.Symbol(f'v{k + 1}', real=True) for k in range(self.n)]

    @cached_property
    def M(self) -> sympy.Matrix:
        """Mass matrix (n, n)."""
        return self._matrix(0)

    @cached_property
    def C(self) -> sympy.Matrix:
        """Matrix (n, n) of Coriolis and centrifugal forces; dM/dt - 2 C is skew-symmetric."""
        return self._matrix(1)

    @cached_property
    def g(self) -> sympy.Matrix:
        """Gravity force (n, 1)."""
        return self._matrix(2)

    @property
    def K(self) -> sympy.Matrix:
        """Stiffness matrix (n, n): beams and springs."""
        return _numbers(self.K_numbers) if self.K_symbols is None else self.K_symbols

    @property
    def D(self) -> sympy.Matrix:
        """Damping matrix (n, n)."""
        return _numbers(self.D_numbers)

    @property
    def B(self) -> sympy.Matrix:
        """Input matrix (n, n_joints)."""
        return _numbers(self.B_numbers)

    def _matrix(self, which: int) -> sympy.Matrix:
        array = self.on_tape[which]
        columns = array.shape[1] if array.ndim == 2 else 1
        return sympy.Matrix(array.shape[0], columns,
                            expressions(self.tape, list(array.ravel()), self._written))

    @cached_property
    def _written(self) -> dict[Any, Any]:
        """Lines of the tape that M, C and g have written down already."""
        return {}

    def simplify(self, budget: float = 10.0) -> Simplified:
        """M, C and g simplified element by element for `budget` seconds of wall time; what the
        time did not reach is as it was derived, written as it stands on the tape (`doit` lets
        sympy sort it). Beyond the budget it takes at most a second, and the writing of what is
        left: 0.3 s for the 16 coordinates of the 4-joint arm, 1.2 s for 50 000 operations."""
        if not 0.0 <= budget < float('inf'):
            raise DynamicsError(f'budget: expected a time in s, found {budget}')
        start = time.monotonic()
        elements = self.results()
        shorter, done = simplified(self.tape, elements, start + budget)
        n = self.n
        return Simplified(sympy.Matrix(n, n, shorter[:n * n]),
                          sympy.Matrix(n, n, shorter[n * n:2 * n * n]),
                          sympy.Matrix(n, 1, shorter[2 * n * n:]), done, len(elements),
                          time.monotonic() - start)

    def simplified_text(self, found: Simplified, format: str = 'text', digits: int = 6) -> str:
        """Simplified elements as 'text', 'latex' or 'json', with K, D and B.

        found: what `simplify` returned. digits: of the numbers in LaTeX.
        """
        if format not in SIMPLIFIED_FORMATS:
            raise DynamicsError(
                f"simplified equations: expected format {' or '.join(SIMPLIFIED_FORMATS)}, found "
                f'{format!r}: exported code calculates what is repeated once, and needs no '
                'simplification')
        if format == 'json':
            return self._as_json([], found.M.tolist(), found.C.tolist(), list(found.g))
        n = self.n
        latex = format == 'latex'
        to_text = self._latex_printer(digits) if latex else _short_text
        texts = [to_text(matrix[i, j]) if matrix[i, j] != 0 else '0'
                 for matrix in (found.M, found.C) for i in range(n) for j in range(n)]
        texts += [to_text(element) if element != 0 else '0' for element in found.g]
        note = (f'{found.done} of {found.total} elements simplified to the end in '
                f'{found.seconds:.1f} s')
        if latex:
            return self._as_latex(f'{self.title}; {note}', [], texts, digits)
        return '\n'.join([
            self.title, *(f'  q{k + 1}: {name}' for k, name in enumerate(self.names)), note, '',
            *self._parameter_lines(),
            *(f'{place} = {text}' for place, text in self._places(texts)),
            *(f'{place} = {_constant(value)}' for place, value in self._constants())])

    def _parameter_lines(self) -> list[str]:
        return [f'{name} = {value:.9g}' for name, value in self.parameters.items()]

    def _latex_printer(self, digits: int) -> Callable[[sympy.Expr], str]:
        """sympy expressions as LaTeX: speeds as derivatives, numbers with so many digits."""
        names = {v: rf'\dot q_{{{k + 1}}}' for k, v in enumerate(self.v)}
        names |= {sympy.Symbol(name, real=True): latex_symbol(name) for name in self.parameters}

        def latex(expression: sympy.Expr) -> str:
            short = {x: sympy.Float(x, digits) for x in expression.atoms(sympy.Float)}
            return str(sympy.latex(expression.xreplace(short), symbol_names=names))

        return latex

    # As text --------------------------------------------------------------------------------

    def text(self, format: str = 'text') -> str:
        """The equations as 'text', 'python', 'c', 'latex' or 'json'."""
        if format not in FORMATS:
            raise DynamicsError(f'format: expected one of {", ".join(FORMATS)}, found {format!r}')
        if format == 'python':
            return code.python_code(self)
        if format == 'c':
            return code.c_code(self)
        return {'text': self._plain, 'latex': self.latex, 'json': self.json}[format]()

    def __str__(self) -> str:
        return self._plain()

    def _plain(self) -> str:
        lines = printed(self.tape, self.results(), Infix())
        out = [self.title, *(f'  q{k + 1}: {name}' for k, name in enumerate(self.names)), '']
        out += self._parameter_lines()
        out += [f'{name} = {text}' for name, text in lines.definitions]
        out += ['', *(f'{place} = {text}' for place, text in self._places(lines.results))]
        return '\n'.join([*out, *(f'{place} = {_constant(value)}'
                                  for place, value in self._constants())])

    def latex(self, digits: int = 6) -> str:
        """A LaTeX document's body: definitions, then the elements that are not zero."""
        lines = printed(self.tape, self.results(), Latex(digits))
        return self._as_latex(self.title, lines.definitions, lines.results, digits)

    def _as_latex(self, title: str, definitions: list[tuple[str, str]], results: list[str],
                  digits: int) -> str:
        names = ', '.join(rf'q_{{{k + 1}}}\ \mathrm{{{name}}}' for k, name in enumerate(
            code.harmless(name).replace('_', r'\_') for name in self.names))
        out = [f'% {title}', r'\begin{gather*}', rf'{names} \\']
        number = Latex(digits).number
        out += [rf'{latex_symbol(name)} = {number(value).text} \\'
                for name, value in self.parameters.items()]
        out += [rf'{name} = {text} \\' for name, text in definitions]
        for place, text in self._places(results):
            out.append(rf'{_subscripted(place)} = {text} \\')
        for place, value in self._constants():
            text = (number(value).text if isinstance(value, float)
                    else self._latex_printer(digits)(value))
            out.append(rf'{_subscripted(place)} = {text} \\')
        return '\n'.join([*out, r'\end{gather*}', ''])

    def json(self) -> str:
        """One object: names, definitions [name, expression], matrices; expressions are sympy's."""
        lines = printed(self.tape, self.results(), Infix())
        n, texts = self.n, lines.results
        return self._as_json(lines.definitions, [texts[n * k:n * (k + 1)] for k in range(n)],
                             [texts[n * (n + k):n * (n + k + 1)] for k in range(n)],
                             texts[2 * n * n:])

    def _as_json(self, definitions: list[tuple[str, str]], M: list[list[Any]], C: list[list[Any]],
                 g: list[Any]) -> str:
        return json.dumps({
            'robot': self.model.robot.name, 'method': self.method, 'order': self.model.order,
            'equation': 'M a + C v + D v + K q + g = B tau',
            'coordinates': [{'name': name, 'position': f'q{k + 1}', 'speed': f'v{k + 1}'}
                            for k, name in enumerate(self.names)],
            'inputs': list(self.model.joint_names),
            'functions': {'stumpff(k, s)': '1/k! - s/(k + 2)! + s**2/(k + 4)! - ...'},
            'definitions': definitions, 'M': [[str(x) for x in row] for row in M],
            'C': [[str(x) for x in row] for row in C], 'g': [str(x) for x in g],
            'K': (self.K_numbers.tolist() if self.K_symbols is None else
                  [[str(x) for x in row] for row in self.K_symbols.tolist()]),
            'D': self.D_numbers.tolist(), 'B': self.B_numbers.tolist(),
            'parameters': self.parameters}, indent=1)

    def _places(self, texts: list[str]) -> list[tuple[str, str]]:
        """Elements that are not zero; M's lower half is its upper half."""
        n, out = self.n, []
        for k, text in enumerate(texts):
            row, column = divmod(k % (n * n), n)
            if text in ('0.0', '0') or (k < n * n and column < row):
                continue
            if k < 2 * n * n:
                out.append((f'{"MC"[k // (n * n)]}[{row + 1},{column + 1}]', text))
            else:
                out.append((f'g[{k - 2 * n * n + 1}]', text))
        return out

    def _constants(self) -> list[tuple[str, Any]]:
        """Elements of K, D and B that are not zero: numbers, or expressions in the parameters."""
        K: Any = self.K_numbers if self.K_symbols is None else np.array(self.K_symbols.tolist())
        return [(f'{name}[{i + 1},{j + 1}]',
                 float(matrix[i, j]) if matrix.dtype == float else matrix[i, j])
                for name, matrix in (('K', K), ('D', self.D_numbers), ('B', self.B_numbers))
                for i, j in zip(*np.nonzero(matrix))]

    # As functions ---------------------------------------------------------------------------

    def function(self, kind: str = 'numpy') -> code.Function:
        """A function (q, v) -> M, C, g: 'numpy', which also takes many states at once, or 'c',
        compiled by the C compiler of the machine, for one state, fast."""
        if kind not in FUNCTIONS:
            raise DynamicsError(f'function: expected one of {", ".join(FUNCTIONS)}, found '
                                f'{kind!r}')
        return code.c_function(self) if kind == 'c' else code.numpy_function(self)


def _constant(value: Any) -> str:
    return f'{value:.9g}' if isinstance(value, float) else _short_text(value)


def _short_text(expression: sympy.Expr) -> str:
    return str(sympy.sstr(expression, full_prec=False))


def _numbers(matrix: np.ndarray) -> sympy.Matrix:
    return sympy.Matrix(*matrix.shape, [number(float(x)) for x in matrix.ravel()])


def _subscripted(place: str) -> str:
    return place.replace('[', '_{').replace(']', '}')
