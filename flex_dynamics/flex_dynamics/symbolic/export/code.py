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
"""Equations as Python and C code, and as compiled functions."""
from __future__ import annotations

import ctypes
import inspect
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from flex_dynamics.errors import DynamicsError
from flex_dynamics.symbolic.export.printing import Infix, Printed, printed
from flex_dynamics.symbolic.expressions.stumpff import stumpff

if TYPE_CHECKING:
    from flex_dynamics.symbolic.equations import Equations
    from flex_dynamics.symbolic.hamel_equations import HamelEquations

Function = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
NAME = re.compile(r'\bt\d+\b')
PART = 100                                # statements of one C function
LARGE = 50_000     # operations from which a compiler's optimisation takes longer than 20 s
SYMBOL = re.compile(r'([qv])(\d+)')

STUMPFF_C = """\
static double stumpff(int order, double s)
{
    double term = 1.0, total = 0.0;
    int k = order;
    for (int j = 2; j <= order; ++j) term /= j;
    if (s > 1.0) {
        double t = sqrt(s), factor = 1.0, low[2] = {cos(t), sin(t) / t};
        for (int j = 2; j <= order; ++j) {
            low[j % 2] = (factor - low[j % 2]) / s;
            factor /= j - 1;
        }
        return low[order % 2];
    }
    for (; fabs(term) > 1e-18; k += 2) {
        total += term;
        term *= -s / ((k + 1.0) * (k + 2.0));
    }
    return total;
}
"""


def _place(name: str) -> str:
    """A symbol in code: an element of q or v, or a parameter, which is a constant."""
    found = SYMBOL.fullmatch(name)
    return f'{found[1]}[{int(found[2]) - 1}]' if found else name


def harmless(name: str) -> str:
    """A name of a robot or joint as it may stand in code: a robot's file is someone else's, and
    its names must not end a comment or begin a statement."""
    return re.sub(r'[^\w ./@:+-]', '_', name)


def legend(equations: Equations | HamelEquations, speed: str = ', v[{}]') -> list[str]:
    """What the symbols are, one line each; speed: the name of a coordinate's speed, if it has one.
    """
    return [f'q[{k}]{speed.format(k)}: {harmless(name)}' for k, name in enumerate(equations.names)]


def _printed(equations: Equations) -> Printed:
    return printed(equations.tape, equations.results(), Infix(_place))


def _assignments(equations: Equations, lines: Printed, matrix: str, vector: str) -> list[str]:
    """One assignment for each element that is not zero."""
    n, out = equations.n, []
    for k, text in enumerate(lines.results):
        if text == '0.0':
            continue
        if k < 2 * n * n:
            row, column = divmod(k % (n * n), n)
            out.append(matrix.format(name='MC'[k // (n * n)], row=row, column=column,
                                     at=row * n + column) + f' = {text}')
        else:
            out.append(vector.format(name='g', at=k - 2 * n * n) + f' = {text}')
    return out


def _constants(equations: Equations | HamelEquations,
               written: Callable[[sympy.Expr], str],
               ) -> list[tuple[str, np.ndarray]]:
    """K, D and B as arrays of text; '0' for zeros. written: expressions of parameters as code."""
    out = []
    for name, matrix in (('K', equations.K_numbers), ('D', equations.D_numbers),
                         ('B', equations.B_numbers)):
        texts = np.array([[repr(float(x)) if x else '0' for x in row] for row in matrix], object)
        if name == 'K' and equations.K_symbols is not None:
            texts[:] = [[written(x) for x in row] for row in equations.K_symbols.tolist()]
        out.append((name, texts))
    return out


def python_code(equations: Equations, name: str = 'terms') -> str:
    """A module of two functions: (q, v) -> M, C, g, and () -> K, D, B. q and v (n,), or (n, k) for
    k states at once; then M and C are (n, n, k) and g is (n, k)."""
    lines = _printed(equations)
    n = equations.n
    head = ['"""' + equations.title + '.', '', *legend(equations), '"""']
    imports = ['import numpy as np', 'from numpy import cos, sin', '']
    if any('stumpff(' in text for _, text in lines.definitions):
        imports = ['import math', '', *imports, '', *inspect.getsource(stumpff).splitlines(), '']
    head += [*imports, *(f'{symbol} = {value!r}'
                         for symbol, value in equations.parameters.items())]
    body = [f'    {symbol} = {text}' for symbol, text in lines.definitions]
    body += [f'    {text}' for text in _assignments(equations, lines, '{name}[{row}, {column}]',
                                                    '{name}[{at}]')]
    return '\n'.join([
        *head, '', f'def {name}(q, v):', '    """M, C (n, n) and g (n,) at q, v (n,)."""',
        '    q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)',
        f'    M = np.zeros(({n}, {n}, *q.shape[1:]))',
        '    C = np.zeros_like(M)', f'    g = np.zeros(({n}, *q.shape[1:]))', *body,
        '    return M, C, g', '', '', *python_constants(equations), ''])


def python_constants(equations: Equations | HamelEquations) -> list[str]:
    """A function that returns K, D and B."""
    body = []
    for name, texts in _constants(equations, sympy.pycode):
        body.append(f'    {name} = np.zeros({texts.shape})')
        body += [f'    {name}[{i}, {j}] = {texts[i, j]}'
                 for i, j in zip(*np.nonzero(texts != '0'))]
    n, inputs = equations.B_numbers.shape
    return ['def constant_terms():',
            f'    """K, D ({n}, {n}) and B ({n}, {inputs}), the same at every state."""',
            *body, '    return K, D, B']


def c_code(equations: Equations, name: str = 'terms') -> str:
    """C99, no allocation: void terms(q, v, M, C, g) and void constant_terms(K, D, B), matrices by
    rows."""
    lines = _printed(equations)
    n = equations.n
    pieces, kept = parts(lines.definitions, _assignments(
        equations, lines, '{name}[{at}]', '{name}[{at}]'))
    helper = STUMPFF_C if any('stumpff(' in text for _, text in lines.definitions) else ''
    arguments = 'const double *q, const double *v, double *s, double *M, double *C, double *g'
    functions, calls = [], []
    for k, part in enumerate(pieces):
        functions += [f'static void part{k}({arguments})', '{', *part, '}', '']
        calls.append(f'    part{k}(q, v, s, M, C, g);')
    comment = [f'/* {equations.title}.', *(f'   {line}' for line in legend(equations)), '*/']
    return '\n'.join([
        *comment, '#include <math.h>', '#include <string.h>', '',
        *(f'static const double {symbol} = {value!r};'
          for symbol, value in equations.parameters.items()), helper, *functions,
        f'/* M, C ({n} x {n}, by rows) and g ({n}) at q, v ({n}). */',
        f'void {name}(const double *q, const double *v, double *M, double *C, double *g)', '{',
        f'    memset(M, 0, {n * n} * sizeof(double));',
        f'    memset(C, 0, {n * n} * sizeof(double));',
        f'    memset(g, 0, {n} * sizeof(double));', f'    double s[{max(kept, 1)}];', *calls, '}',
        '', *c_constants(equations), ''])


def c_constants(equations: Equations | HamelEquations) -> list[str]:
    """A function that writes K, D and B."""
    n, inputs = equations.B_numbers.shape
    body = []
    for name, texts in _constants(equations, sympy.ccode):
        body.append(f'    memset({name}, 0, {texts.size} * sizeof(double));')
        body += [f'    {name}[{at}] = {texts.ravel()[at]};'
                 for at in np.flatnonzero(texts != '0')]
    return [f'/* K, D ({n} x {n}) and B ({n} x {inputs}), by rows: the same at every state. */',
            'void constant_terms(double *K, double *D, double *B)', '{', *body, '}']


def parts(definitions: list[tuple[str, str]], assignments: list[str],
           ) -> tuple[list[list[str]], int]:
    """Statements cut into functions, because compilers are slow with long ones; what a later one
    needs is handed on in an array. Returns them and the length of the array."""
    statements = definitions + [('', text) for text in assignments]
    pieces = [statements[k:k + PART] for k in range(0, len(statements), PART)]
    made = {name: k for k, piece in enumerate(pieces) for name, _ in piece if name}
    used = [{name for _, text in piece for name in NAME.findall(text)} for piece in pieces]
    handed: dict[str, int] = {}
    for k, names in enumerate(used):
        for name in sorted(names):
            if made[name] < k:
                handed.setdefault(name, len(handed))
    parts = []
    for k, piece in enumerate(pieces):
        lines = [f'    const double {name} = s[{handed[name]}];'
                 for name in sorted(used[k]) if made[name] < k]
        for name, text in piece:
            lines.append(f'    const double {name} = {text};' if name else f'    {text};')
            if name in handed:
                lines.append(f'    s[{handed[name]}] = {name};')
        parts.append(lines)
    return parts, len(handed)


def numpy_function(equations: Equations) -> Function:
    """The Python code, compiled by Python: no compiler needed, slow for large robots."""
    space: dict[str, object] = {}
    exec(compile(python_code(equations), f'<{equations.title}>', 'exec'), space)
    return space['terms']  # type: ignore[return-value]


def c_compiler() -> str | None:
    """The C compiler of this machine, if it has one."""
    return shutil.which(os.environ.get('CC', 'cc')) or shutil.which('gcc') or shutil.which('clang')


def c_function(equations: Equations) -> Function:
    """The C code, compiled and loaded; nothing of it stays on the disk."""
    function = compiled_c(c_code(equations), equations.operations)
    function.argtypes, function.restype = [ctypes.c_void_p] * 5, None
    n = equations.n
    size = n * n
    masses, rates = slice(2 * n, 2 * n + size), slice(2 * n + size, 2 * n + 2 * size)
    starts = (0, 8 * n, 8 * masses.start, 8 * rates.start, 8 * rates.stop)
    length = rates.stop + n
    buffer = ctypes.c_double * length

    def terms(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        numbers = np.empty(length)       # q, v, M, C, g: one array, because an address costs 1 us
        numbers[:n], numbers[n:2 * n] = q, v
        at = ctypes.addressof(buffer.from_buffer(numbers.data))
        function(*[at + start for start in starts])
        return numbers[masses].reshape(n, n), numbers[rates].reshape(n, n), numbers[-n:]

    return terms


def compiled_c(source: str, operations: int) -> Any:
    """`terms` of C code, compiled by the machine's compiler and loaded."""
    compiler = c_compiler()
    if compiler is None:
        raise DynamicsError("export 'c': expected a C compiler (cc, gcc or clang, or one named in "
                            "the environment's CC), found none; use 'numpy'")
    with tempfile.TemporaryDirectory() as folder:
        file, library = Path(folder) / 'terms.c', Path(folder) / 'terms.so'
        file.write_text(source)
        level = '-O1' if operations < LARGE else '-O0'
        done = subprocess.run(
            [compiler, '-std=c99', level, '-fPIC', '-shared', '-o', str(library), str(file),
             '-lm'], capture_output=True, text=True)
        if done.returncode:
            raise DynamicsError(f"export 'c': expected {compiler} to compile the code, found: "
                                f'{done.stderr.strip()[:500]}')
        return ctypes.CDLL(str(library)).terms
