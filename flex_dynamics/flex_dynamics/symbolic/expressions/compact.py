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
"""Elements of a tape in their harmonic form, on the same tape.

What is written down here is short before anything is multiplied with it: sin^2 + cos^2 is 1, a
term that cancels is gone, and a matrix whose determinant is constant has no division.
"""
from __future__ import annotations

import math

import numpy as np

from flex_dynamics.symbolic.expressions.harmonics import Angle, Harmonics, Sum, length
from flex_dynamics.symbolic.expressions.tape import NUMBER, Scalar, Tape

MOST_TERMS = 60      # of an element; longer ones stay as they were derived


class Compact(Harmonics):
    """compact(elements): each in its harmonic form if that is shorter."""

    def __init__(self, tape: Tape) -> None:
        super().__init__(tape, math.inf, MOST_TERMS)
        self._lines: dict[str, Scalar] = {}

    def __call__(self, elements: np.ndarray) -> np.ndarray:
        """An array of scalars in the shape of `elements`."""
        out = np.empty(elements.shape, dtype=object)
        out.ravel()[:] = [self.element(x) for x in elements.ravel()]
        return out

    def element(self, element):
        """One scalar, or a number if it is one."""
        if isinstance(element, NUMBER):
            return element + 0.0          # no -0.0
        terms = self.terms(element)
        if terms is None or len(terms) > MOST_TERMS or (
                length(terms) > len(self._tape.needed([element]))):
            return element
        return self._on_tape(terms)

    def _on_tape(self, terms: Sum):
        total = 0.0
        for (monomial, angle, sine), factor in terms.items():
            product = 1.0
            for name in monomial:
                product = product * self._named(name)
            if angle:
                turn = self._turned_line(angle)
                product = product * (self._tape.sin(turn) if sine else self._tape.cos(turn))
            total = total + factor * product
        return total

    def _turned_line(self, angle: Angle):
        return sum((factor * self._named(name) for name, factor in angle), 0.0)

    def _named(self, name: str):
        if name in self._lines:
            return self._lines[name]
        product = 1.0
        for part in name.split('*'):          # a product of symbols as one
            product = product * self._tape.symbol(part)
        return product

    def _function(self, op: str, s: Sum, order: int = 0) -> Sum:
        inner, tape = self._on_tape(s), self._tape
        line = (tape.stumpff(order, inner) if op == 'stumpff' else
                {'sin': tape.sin, 'cos': tape.cos, 'sqrt': tape.sqrt,
                 'reciprocal': tape.reciprocal}[op](inner))
        if isinstance(line, NUMBER):
            return {((), (), False): float(line)}
        name = f'#{line.index}'
        self._lines[name] = line
        return {((name,), (), False): 1.0}
