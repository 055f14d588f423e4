"""Simplification of the equations' elements within a time budget."""
from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from functools import partial

import sympy

from flex_dynamics.symbolic.harmonics import Harmonics
from flex_dynamics.symbolic.tape import Tape

MOST_FOR_SYMPY = 60      # operations; its search is of no use for longer sums, and takes minutes
LONGEST = 2.0            # s for one element


def simplified(tape: Tape, elements: list[sympy.Expr], lines: list, until: float,
               ) -> tuple[list[sympy.Expr], int]:
    """The shortest forms of elements found by time.monotonic() = until, and of how many it is
    known that nothing was left untried.

    The harmonic form of all elements first, which is quick and usually the one; then sympy's
    general search, for what is short.
    """
    harmonics = Harmonics(tape, until)
    best: dict[sympy.Expr, sympy.Expr] = {}
    settled: set[sympy.Expr] = set()
    for element, line in zip(elements, lines):
        if element.is_Atom:
            best[element] = element
            settled.add(element)
        elif element not in best:
            form = harmonics.expression(line) if time.monotonic() < until else None
            best[element] = element if form is None else min(form, element, key=_length)
            if form is not None and _length(best[element]) > MOST_FOR_SYMPY:
                settled.add(element)
    for element, form in best.items():
        left = until - time.monotonic()
        if element not in settled and _length(form) <= MOST_FOR_SYMPY and left > 0.0:
            shorter = within(min(left, LONGEST), partial(sympy.simplify, form))
            if shorter is not None:
                best[element] = min(form, shorter, key=_length)
                settled.add(element)
    return [best[x] for x in elements], sum(x in settled for x in elements)


def _length(expression: sympy.Expr) -> int:
    return expression.count_ops()


class _Late(BaseException):
    """Raised inside a calculation whose time is over; no `except Exception` catches it."""


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
