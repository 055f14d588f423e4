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
"""Hamel's equations as Python and C code, and as compiled functions."""
from __future__ import annotations

import ctypes
import inspect
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from flex_dynamics.symbolic.export.code import (
    STUMPFF_C,
    c_constants,
    compiled_c,
    harmless,
    legend,
    parts,
    python_constants,
)
from flex_dynamics.symbolic.export.printing import Infix, Printed, printed
from flex_dynamics.symbolic.expressions.stumpff import stumpff
from flex_dynamics.symbolic.methods.hamel import TERMS, HamelTerms

if TYPE_CHECKING:
    from flex_dynamics.symbolic.hamel_equations import HamelEquations

HamelFunction = Callable[[np.ndarray, np.ndarray], HamelTerms]
SYMBOL = re.compile(r'([qp])(\d+)')
MOTION = '''
def motion(q, p, tau):
    """Speeds and accelerations (n,), rates of p (m,) and multipliers (n - m,) for efforts tau."""
    A1, A2, B1, B2, gamma, H, c, g, turning = terms(q, p)
    K, D, B = constant_terms()
    m = len(A1)
    v = B1 @ p
    force = B @ tau - K @ q - D @ v
    rate = np.linalg.solve(H[:m], B1.T @ force - c[:m] - g[:m])
    reaction = H[m:] @ rate + c[m:] + g[m:] - B2.T @ force
    return v, B1 @ rate + turning, rate, reaction
'''


def _place(name: str) -> str:
    found = SYMBOL.fullmatch(name)
    return f'{found[1]}[{int(found[2]) - 1}]' if found else name


def _legend(equations: HamelEquations) -> list[str]:
    return [*legend(equations, ''),
            *(f'p[{k}]: {harmless(name)}' for k, name in enumerate(equations.pseudo_names)),
            *(f'constraint {k}: {harmless(name)}'
              for k, name in enumerate(equations.constraint_names))]


def _statements(equations: HamelEquations, flat: bool) -> tuple[Printed, list[str]]:
    """Definitions, and an assignment for each element that is not zero."""
    lines = printed(equations.tape, equations.results(), Infix(_place))
    out, at = [], 0
    for name, array in zip(TERMS, equations.on_tape.arrays()):
        for place in np.ndindex(array.shape):
            text = lines.results[at]
            at += 1
            if text != '0.0':
                index = (str(np.ravel_multi_index(place, array.shape)) if flat
                         else ', '.join(map(str, place)))
                out.append(f'{name}[{index}] = {text}')
    return lines, out


def python_code(equations: HamelEquations) -> str:
    """A module: terms(q, p) -> A1, A2, B1, B2, gamma, H, c, g, turning; motion(q, p, tau); and
    constant_terms() -> K, D, B."""
    lines, assignments = _statements(equations, flat=False)
    needs = any('stumpff(' in text for _, text in lines.definitions)
    return '\n'.join([
        '"""' + equations.title + '.', '', *_legend(equations), '"""',
        *(['import math', ''] if needs else []), 'import numpy as np',
        'from numpy import cos, sin, sqrt', '',
        *(['', *inspect.getsource(stumpff).splitlines(), ''] if needs else []),
        *(f'{symbol} = {value!r}' for symbol, value in equations.parameters.items()),
        '', 'def terms(q, p):', f'    """{", ".join(TERMS)} at q ({equations.n},) and p '
        f'({equations.freedom},)."""',
        *(f'    {name} = np.zeros({array.shape})'
          for name, array in zip(TERMS, equations.on_tape.arrays())),
        *(f'    {symbol} = {text}' for symbol, text in lines.definitions),
        *(f'    {text}' for text in assignments), f'    return {", ".join(TERMS)}', '',
        MOTION, '', *python_constants(equations), ''])


def c_code(equations: HamelEquations) -> str:
    """C99, no allocation: void terms(q, p, A1, A2, B1, B2, gamma, H, c, g, turning), arrays by
    rows, and void constant_terms(K, D, B)."""
    lines, assignments = _statements(equations, flat=True)
    pieces, kept = parts(lines.definitions, assignments)
    helper = STUMPFF_C if any('stumpff(' in text for _, text in lines.definitions) else ''
    given = ', '.join(f'double *{name}' for name in TERMS)
    functions, calls = [], []
    for k, piece in enumerate(pieces):
        functions += [f'static void part{k}(const double *q, const double *p, double *s, {given})',
                      '{', *piece, '}', '']
        calls.append(f'    part{k}(q, p, s, {", ".join(TERMS)});')
    shapes = {name: ' x '.join(map(str, array.shape))
              for name, array in zip(TERMS, equations.on_tape.arrays())}
    return '\n'.join([
        f'/* {equations.title}.', *(f'   {line}' for line in _legend(equations)), '*/',
        '#include <math.h>', '#include <string.h>', '',
        *(f'static const double {symbol} = {value!r};'
          for symbol, value in equations.parameters.items()), helper, *functions,
        f'/* {", ".join(f"{name} ({shape})" for name, shape in shapes.items())}, by rows. */',
        f'void terms(const double *q, const double *p, {given})', '{',
        *(f'    memset({name}, 0, {array.size} * sizeof(double));'
          for name, array in zip(TERMS, equations.on_tape.arrays())),
        f'    double s[{max(kept, 1)}];', *calls, '}', '', *c_constants(equations), ''])


def numpy_function(equations: HamelEquations) -> HamelFunction:
    """The Python code, compiled by Python."""
    space: dict = {}
    exec(compile(python_code(equations), f'<{equations.title}>', 'exec'), space)
    return lambda q, p: HamelTerms(*space['terms'](q, p))


def c_function(equations: HamelEquations) -> HamelFunction:
    """The C code, compiled and loaded."""
    function = compiled_c(c_code(equations), equations.operations)
    function.argtypes, function.restype = [ctypes.c_void_p] * (2 + len(TERMS)), None
    shapes = [array.shape for array in equations.on_tape.arrays()]

    def terms(q: np.ndarray, p: np.ndarray) -> HamelTerms:
        given = [np.ascontiguousarray(x, dtype=np.float64) for x in (q, p)]
        out = [np.empty(shape) for shape in shapes]
        function(*(array.ctypes.data for array in (*given, *out)))
        return HamelTerms(*out)

    return terms
