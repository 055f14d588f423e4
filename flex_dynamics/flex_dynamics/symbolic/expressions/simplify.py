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
"""Simplification of the equations' elements within a time budget."""
from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from functools import partial

import sympy

from flex_dynamics.symbolic.expressions.harmonics import Harmonics, length
from flex_dynamics.symbolic.expressions.sympy_expressions import expressions, number
from flex_dynamics.symbolic.expressions.tape import Scalar, Tape

MOST_FOR_SYMPY = 60      # operations; its search is of no use for longer sums, and takes minutes
LONGEST = 2.0            # s for one element
COUNT = {**dict.fromkeys('+-*', lambda a, b: a + b + 1),
         **dict.fromkeys(('sin', 'cos', 'sqrt', 'reciprocal'), lambda a: a + 1),
         'stumpff': lambda k, a: a + 1}


def simplified(tape: Tape, elements: list, until: float) -> tuple[list[sympy.Expr], int]:
    """The shortest forms of a tape's elements found by time.monotonic() = until, and of how many
    it is known that nothing was left untried.

    The harmonic form of all elements first, short ones before long ones, which is quick and
    usually the one; then sympy's general search, for what is short. What is left is as it was
    derived, and written down however late it is: without sympy's sorting that is quick.
    """
    lines = {x.index: x for x in elements if isinstance(x, Scalar)}
    derived = dict(zip(lines, tape.read(list(lines.values()), lambda name: 0, lambda value: 0,
                                        COUNT)))
    harmonics = Harmonics(tape, until)
    best: dict[int, sympy.Expr] = {}
    settled: set[int] = set()
    for index in sorted(lines, key=derived.__getitem__):
        terms = harmonics.terms(lines[index]) if time.monotonic() < until else None
        if terms is None:
            continue
        if length(terms) < derived[index]:
            best[index] = harmonics.written(terms)
        if min(length(terms), derived[index]) > MOST_FOR_SYMPY or derived[index] == 0:
            settled.add(index)
    left = [index for index in lines if index not in best]
    best.update(zip(left, expressions(tape, [lines[index] for index in left], until=until)))
    for index, form in best.items():
        time_left = until - time.monotonic()
        if index not in settled and time_left > 0.0 and _length(form) <= MOST_FOR_SYMPY:
            shorter = within(min(time_left, LONGEST), partial(sympy.simplify, form))
            if shorter is not None:
                best[index] = min(form, shorter, key=_length)
                settled.add(index)
    return ([best[x.index] if isinstance(x, Scalar) else number(x) for x in elements],
            sum(not isinstance(x, Scalar) or x.index in settled for x in elements))


def _length(expression: sympy.Expr) -> int:
    return expression.count_ops()


class _Late(SystemExit):
    """Raised inside a calculation whose time is over: no `except Exception` catches it, and a
    thread that it meets at its very end does not complain."""


def within(seconds: float, calculate: Callable[[], sympy.Expr]) -> sympy.Expr | None:
    """calculate(), or None if it takes longer. sympy cannot be asked to stop, so it runs in a
    thread in which an exception is raised when its time is over."""
    answer: list[sympy.Expr] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            answer.append(calculate())
        except _Late:
            pass
        except Exception as error:
            failure.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(max(seconds, 0.0))
    while thread.is_alive():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Late))
        thread.join(0.2)
    if failure:
        raise failure[0]
    return answer[0] if answer else None
