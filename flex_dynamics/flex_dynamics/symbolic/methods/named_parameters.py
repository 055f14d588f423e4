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
"""Masses, lengths and stiffnesses as symbols of a tape: m, L, EI in the place of their numbers.

A beam's shapes are functions of x / L, so that every space integral of them is a number times a
mass and a power of the length. The power follows from the dimension: M_ij v_i v_j is an energy,
angular velocities and rates of twist have the dimension 1/s, linear velocities and rates of
bending m/s, and each bending amplitude of a monomial has the dimension of a length.
"""
from __future__ import annotations

import re
from typing import Any

import numpy as np
import sympy

from flex_dynamics.build.beam_fields import BeamFields
from flex_dynamics.symbolic.expressions.tape import INVERSE, Tape
from flex_dynamics.symbolic.expressions.vectors import clean, scalars
from flex_dynamics.symbolic.methods.bodies import Body

AXES = 'xyz'
SMALL = 1e-12       # m, kg m2: offsets and moments below are rounding


class NamedParameters:
    """Symbols of a robot's parameters on a tape, and their `values` (SI units) by name."""

    def __init__(self, tape: Tape) -> None:
        self.values: dict[str, float] = {}
        self._tape = tape
        self._names: dict[tuple[str, str], str] = {}

    def name(self, letter: str, owner: str, value: float) -> str:
        """The name of a parameter, such as m_link2: an identifier in C and Python."""
        key = (letter, owner)
        if key not in self._names:
            name = f'{letter}_{re.sub(r"[^A-Za-z0-9]+", "_", owner.replace("@", "_at_"))}'
            while name in self.values:
                name += '_'
            self._names[key], self.values[name] = name, float(value)
        return self._names[key]

    def symbol(self, letter: str, owner: str, value: float) -> Any:
        """The tape's symbol of a parameter; a number if the value is zero."""
        return self._tape.symbol(self.name(letter, owner, value)) if value != 0.0 else 0.0

    def power(self, letter: str, owner: str, value: float, exponent: int) -> Any:
        """The symbol to a power, which may be negative."""
        if exponent == 0:
            return 1.0
        name = self.name(letter, owner, value)
        factor = self._tape.symbol(name if exponent > 0 else name + INVERSE)
        result: Any = 1.0
        for _ in range(abs(exponent)):
            result = result * factor
        return result

    # Rigid bodies ---------------------------------------------------------------------------

    def inertia(self, body: Body) -> tuple[Any, np.ndarray, np.ndarray]:
        """Mass, first moment (3,) and tensor (3, 3) about the frame's origin."""
        if body.mass <= 0.0:
            return body.mass, body.moment, body.inertia
        centre = _rounded(body.moment / body.mass)
        about = _rounded(body.inertia - body.mass * (centre @ centre * np.eye(3)
                                                     - np.outer(centre, centre)))
        m = self.symbol('m', body.name, body.mass)
        c, tensor = scalars(3), scalars((3, 3))
        c[:] = [self.symbol(f'c{axis}', body.name, x) for axis, x in zip(AXES, centre)]
        for i in range(3):
            for j in range(i, 3):
                own = self.symbol(f'I{AXES[i]}{AXES[j]}', body.name, about[i, j])
                across = c @ c if i == j else 0.0
                tensor[i, j] = tensor[j, i] = own + m * (across - c[i] * c[j])
        return m, m * c, tensor

    def position(self, body: Body) -> np.ndarray:
        """Where a body's frame is in its parent's (3,); numbers if its joint's axis is elsewhere.
        """
        if body.point.any():
            return body.position.astype(object)
        out = scalars(3)
        out[:] = [self.symbol(f'p{axis}', body.name, x)
                  for axis, x in zip(AXES, _rounded(body.position))]
        return out

    def gravity(self, vector: np.ndarray) -> np.ndarray:
        """The acceleration of gravity (3,): its size is a symbol."""
        size = float(np.linalg.norm(vector))
        if size == 0.0:
            return vector
        return clean(vector / size).astype(object) * self.symbol('g', 'gravity', size)

    # Beams ----------------------------------------------------------------------------------

    def beam(self, body: Body) -> BeamUnits:
        assert body.fields is not None
        return BeamUnits(self, body.name.partition('@')[0], body.fields)


class BeamUnits:
    """The symbols of a beam: m (its whole mass, kg), L, and J, its rotary inertia, kg m2."""

    def __init__(self, parameters: NamedParameters, name: str, fields: BeamFields) -> None:
        self._parameters, self._name, self._length = parameters, name, fields.flexible.length
        n_y, n_z, n_twist = fields.counts
        self._bends = [True] * (n_y + n_z) + [False] * n_twist
        self._dimension = [0] * 3 + [1] * 3 + [int(bends) for bends in self._bends]

    def length(self, exponent: int) -> Any:
        return self._parameters.power('L', self._name, self._length, exponent)

    def bending(self, monomial: tuple[int, ...]) -> int:
        """How many of the amplitudes of a monomial are of bending."""
        return sum(self._bends[k] for k in monomial)

    def inertia(self, letter: str, total: float, row: int, column: int,
                monomial: tuple[int, ...]) -> tuple[float, Any]:
        """What a coefficient of the beam's mass matrix is divided by, and the symbols for it.

        letter: 'm', of mass `total` (kg), or 'J', 'Jy', 'Jz', of rotary inertia (kg m2).
        """
        exponent = 2 - self._dimension[row] - self._dimension[column] - self.bending(monomial)
        if letter != 'm':
            exponent -= 2
        symbol = self._parameters.symbol(letter, self._name, total)
        return total * self._length**exponent, symbol * self.length(exponent)

    def scaled(self, value: float, exponent: int) -> Any:
        """A length to a power: `value` with the symbol L."""
        return value / self._length**exponent * self.length(exponent) if value else 0.0


def named_stiffness(parameters: NamedParameters, bodies: list[Body], K: np.ndarray,
                    nodes: list[Any]) -> sympy.Matrix:
    """K (n, n) with E I, G J, L and the springs of joints as symbols; K: its numbers."""
    out = sympy.zeros(*K.shape)
    for body in bodies:
        if body.is_beam and body.fields is not None:
            _beam_stiffness(parameters, body, K, out)
        joint = nodes[body.index].joint
        if body.motor is not None and joint is not None and joint.flexible is not None:
            spring = sympy.Symbol(parameters.name('k', joint.name, joint.flexible.stiffness),
                                  real=True)
            for i in (body.coordinates[0], body.motor):
                for j in (body.coordinates[0], body.motor):
                    out[i, j] += _number(K[i, j] / joint.flexible.stiffness) * spring
    return out


def _beam_stiffness(parameters: NamedParameters, body: Body, K: np.ndarray,
                    out: sympy.Matrix) -> None:
    assert body.fields is not None
    link = body.fields.flexible
    L = sympy.Symbol(parameters.name('L', body.name, link.length), real=True)
    at = link.properties(np.zeros(1))
    start = 0
    for count, letter, rigidity, power in zip(
            body.fields.counts, ('EIz', 'EIy', 'GJ'),
            (at.bending_stiffness_z, at.bending_stiffness_y, at.torsion_stiffness), (3, 3, 1)):
        if count:
            value = float(np.ravel(rigidity)[0])
            symbol = sympy.Symbol(parameters.name(letter, body.name, value), real=True)
            own = body.amplitudes[start:start + count]
            largest = np.abs(K[np.ix_(own, own)]).max()
            for i in own:
                for j in own:
                    if abs(K[i, j]) > 1e-13 * largest:
                        out[i, j] = (_number(K[i, j] * link.length**power / value) * symbol
                                     / L**power)
        start += count


def _number(value: float) -> sympy.Expr:
    return sympy.Integer(int(value)) if value == int(value) else sympy.Float(value)


def _rounded(numbers: np.ndarray) -> np.ndarray:
    numbers = clean(numbers)
    numbers[np.abs(numbers) < SMALL] = 0.0
    return numbers
