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
"""Hamel's equations of a robot with constraints, symbolic: to read, to export, to evaluate.

    H1 dp/dt + c1 + g1 = B1'(B tau - K q - D v)           (235), v = B1 p
    R = H2 dp/dt + c2 + g2 - B2'(B tau - K q - D v)       (236)

with the rows of H, c, g of the free pseudo-velocities p (1) and of the constraints (2).
"""
from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import sympy

from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.errors import DynamicsError
from flex_dynamics.model.model import Model
from flex_dynamics.symbolic.equations import FORMATS, FUNCTIONS
from flex_dynamics.symbolic.export import hamel_code
from flex_dynamics.symbolic.export.code import harmless
from flex_dynamics.symbolic.export.printing import (
    ATOM,
    Infix,
    Latex,
    Printed,
    Text,
    latex_symbol,
    printed,
)
from flex_dynamics.symbolic.expressions.sympy_expressions import expressions, number
from flex_dynamics.symbolic.expressions.tape import Tape
from flex_dynamics.symbolic.methods.hamel import TERMS, HamelTerms
from flex_dynamics.symbolic.methods.pseudo_velocities import independent

LATEX = {'gamma': r'\gamma', 'turning': r'(\dot B_1 \dot\pi)', 'A1': 'A_1', 'A2': 'A_2',
         'B1': 'B_1', 'B2': 'B_2'}


class HamelMotion(NamedTuple):
    """v, acceleration (n,); rate (m,): of the pseudo-velocities; multipliers R (n - m,) of the
    constraints; reaction (n,): D = A2' R of (242), the generalised force of the constraints."""

    v: Array
    acceleration: Array
    rate: Array
    multipliers: Array
    reaction: Array


@dataclass(frozen=True, eq=False)
class HamelEquations:
    """What `derive_hamel` gives. Coordinates q1 ... qn are those of `names`, pseudo-velocities
    p1 ... pm those of `pseudo_names`, rows of A2 and B2' those of `constraint_names`.

    on_tape: terms as scalars of `tape`. K, D (n, n), B (n, n_joints): numbers. parameters: values
    of symbols, with which K is `K_symbols`.
    """

    model: Model
    tape: Tape
    pseudo_names: tuple[str, ...]
    constraint_names: tuple[str, ...]
    on_tape: HamelTerms
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
    def freedom(self) -> int:
        """m, the number of free pseudo-velocities."""
        return len(self.pseudo_names)

    @property
    def names(self) -> tuple[str, ...]:
        return self.model.names

    @property
    def title(self) -> str:
        return (f"Hamel's equations of {harmless(self.model.robot.name)}, order "
                f"'{self.model.order}': H dp/dt + c + g = [B1, B2]'(B tau - K q - D B1 p) + "
                '[0; R], dq/dt = B1 p')

    @cached_property
    def operations(self) -> int:
        """Additions, multiplications and functions of all terms together."""
        return sum(line.op != 'symbol' for line in self.tape.needed(self.results()))

    def results(self) -> list[Any]:
        """Elements of all terms, one after another."""
        return [x for array in self.on_tape.arrays() for x in array.ravel()]

    # As sympy expressions -------------------------------------------------------------------

    @property
    def q(self) -> list[sympy.Symbol]:
        return [sympy.Symbol(f'q{k + 1}', real=True) for k in range(self.n)]

    @property
    def p(self) -> list[sympy.Symbol]:
        return [sympy.Symbol(f'p{k + 1}', real=True) for k in range(self.freedom)]

    @cached_property
    def _written(self) -> dict[Any, Any]:
        return {}

    def expression(self, name: str) -> np.ndarray:
        """One of A1, A2, B1, B2, gamma, H, c, g, turning: an array of sympy expressions."""
        if name not in TERMS:
            raise DynamicsError(f'term: expected one of {", ".join(TERMS)}, found {name!r}')
        array = getattr(self.on_tape, name)
        out = np.empty(array.shape, dtype=object)
        out.ravel()[:] = expressions(self.tape, list(array.ravel()), self._written)
        return out

    # As numbers -----------------------------------------------------------------------------

    def function(self, kind: str = 'numpy') -> hamel_code.HamelFunction:
        """A function (q, p) -> HamelTerms of numbers: 'numpy', or 'c', compiled."""
        if kind not in FUNCTIONS:
            raise DynamicsError(f'function: expected one of {", ".join(FUNCTIONS)}, found '
                                f'{kind!r}')
        return (hamel_code.c_function if kind == 'c' else hamel_code.numpy_function)(self)

    @cached_property
    def _terms(self) -> hamel_code.HamelFunction:
        return hamel_code.numpy_function(self)

    def motion(self, q: ArrayLike, p: ArrayLike, tau: ArrayLike) -> HamelMotion:
        """Motion (235) and reactions (236) at q (n,), p (m,) for efforts tau (n_joints,)."""
        vector = self.model.finite_vector
        q, p = vector(q, 'q', self.n), vector(p, 'p', self.freedom)
        tau = vector(tau, 'tau', self.model.n_joints)
        m = self.freedom
        with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
            terms = self._terms(q, p)
        if not independent(terms.A1, terms.A2):
            raise DynamicsError(f'q: expected a position at which {", ".join(self.pseudo_names)} '
                                'determine all speeds, found one at which they do not (a dead '
                                'centre); choose other pseudo-velocities')
        v = terms.B1 @ p
        force = self.B_numbers @ tau - self.K_numbers @ q - self.D_numbers @ v
        rate = np.linalg.solve(terms.H[:m], terms.B1.T @ force - terms.c[:m] - terms.g[:m])
        multipliers = terms.H[m:] @ rate + terms.c[m:] + terms.g[m:] - terms.B2.T @ force
        return HamelMotion(v, terms.B1 @ rate + terms.turning, rate, multipliers,
                           terms.A2.T @ multipliers)

    # As text --------------------------------------------------------------------------------

    def text(self, format: str = 'text') -> str:
        """The equations as 'text', 'python', 'c', 'latex' or 'json'."""
        if format not in FORMATS:
            raise DynamicsError(f'format: expected one of {", ".join(FORMATS)}, found {format!r}')
        if format == 'python':
            return hamel_code.python_code(self)
        if format == 'c':
            return hamel_code.c_code(self)
        return {'text': self._plain, 'latex': self.latex, 'json': self.json}[format]()

    def __str__(self) -> str:
        return self._plain()

    def _places(self, lines: Printed) -> list[tuple[str, str, str]]:
        """Elements that are not zero: term, place, text."""
        out, at = [], 0
        for name, array in zip(TERMS, self.on_tape.arrays()):
            for place in np.ndindex(array.shape):
                if lines.results[at] not in ('0.0', '0'):
                    out.append((name, ','.join(str(k + 1) for k in place), lines.results[at]))
                at += 1
        return out

    def _constants(self) -> list[tuple[str, str, Any]]:
        K: Any = self.K_numbers if self.K_symbols is None else np.array(self.K_symbols.tolist())
        return [(name, f'{i + 1},{j + 1}',
                 number(float(matrix[i, j])) if matrix.dtype == float else matrix[i, j])
                for name, matrix in (('K', K), ('D', self.D_numbers), ('B', self.B_numbers))
                for i, j in zip(*np.nonzero(matrix))]

    def _plain(self) -> str:
        lines = printed(self.tape, self.results(), Infix())
        return '\n'.join([
            self.title, *(f'  q{k + 1}: {name}' for k, name in enumerate(self.names)),
            *(f'  p{k + 1}: {name}' for k, name in enumerate(self.pseudo_names)),
            *(f'  R{k + 1}: {name}' for k, name in enumerate(self.constraint_names)), '',
            *(f'{name} = {value:.9g}' for name, value in self.parameters.items()),
            *(f'{name} = {text}' for name, text in lines.definitions), '',
            *(f'{name}[{place}] = {text}' for name, place, text in self._places(lines)),
            *(f'{name}[{place}] = {sympy.sstr(value, full_prec=False)}'
              for name, place, value in self._constants())])

    def latex(self, digits: int = 6) -> str:
        """A LaTeX document's body: definitions, then the elements that are not zero."""
        lines = printed(self.tape, self.results(), _HamelLatex(digits))

        def shown(letter: str, names: tuple[str, ...]) -> str:
            return ', '.join(rf'{letter}_{{{k + 1}}}\ \mathrm{{{text}}}' for k, text in enumerate(
                harmless(name).replace('_', r'\_') for name in names))

        out = [f'% {self.title}', r'\begin{gather*}', rf'{shown("q", self.names)} \\']
        out += [rf'{shown(letter, names)} \\' for letter, names in (
            (r'\dot\pi', self.pseudo_names), ('R', self.constraint_names)) if names]
        to_number = Latex(digits).number
        out += [rf'{latex_symbol(name)} = {to_number(value).text} \\'
                for name, value in self.parameters.items()]
        out += [rf'{name} = {text} \\' for name, text in lines.definitions]
        out += [rf'{_subscripted(LATEX.get(name, name), place)} = {text} \\'
                for name, place, text in self._places(lines)]
        symbols = {sympy.Symbol(name, real=True): latex_symbol(name) for name in self.parameters}
        for name, place, value in self._constants():
            short = value.xreplace({x: sympy.Float(x, digits) for x in value.atoms(sympy.Float)})
            out.append(rf'{name}_{{{place}}} = {sympy.latex(short, symbol_names=symbols)} \\')
        return '\n'.join([*out, r'\end{gather*}', ''])

    def json(self) -> str:
        """One object: names, definitions [name, expression], arrays; expressions are sympy's."""
        lines = printed(self.tape, self.results(), Infix())
        arrays, at = {}, 0
        for name, array in zip(TERMS, self.on_tape.arrays()):
            texts = np.array(lines.results[at:at + array.size], dtype=object)
            arrays[name] = texts.reshape(array.shape).tolist()
            at += array.size
        return json.dumps({
            'robot': self.model.robot.name, 'method': 'hamel', 'order': self.model.order,
            'equation': self.title.partition(': ')[2],
            'coordinates': [{'name': name, 'position': f'q{k + 1}'}
                            for k, name in enumerate(self.names)],
            'pseudo_velocities': [{'name': name, 'symbol': f'p{k + 1}'}
                                  for k, name in enumerate(self.pseudo_names)],
            'constraints': list(self.constraint_names), 'inputs': list(self.model.joint_names),
            'functions': {'stumpff(k, s)': '1/k! - s/(k + 2)! + s**2/(k + 4)! - ...'},
            'definitions': lines.definitions, **arrays,
            'K': (self.K_numbers.tolist() if self.K_symbols is None else
                  [[str(x) for x in row] for row in self.K_symbols.tolist()]),
            'D': self.D_numbers.tolist(), 'B': self.B_numbers.tolist(),
            'parameters': self.parameters}, indent=1)


class _HamelLatex(Latex):
    """Pseudo-velocities as the paper has them."""

    def symbol(self, name: str) -> Text:
        if name[0] == 'p' and name[1:].isdigit():
            return Text(rf'\dot\pi_{{{name[1:]}}}', ATOM)
        return super().symbol(name)


def _subscripted(name: str, place: str) -> str:
    return f'{{{name}}}_{{{place}}}'
