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
"""Dual vector-parameters: a rigid displacement as one dual vector (Mladenova, section 4).

A displacement r = O r' + p is the dual rotation O + mu p^x O (148), (151), and its
vector-parameter c + mu c' obeys the laws of c in dual numbers: composition is (67). c' follows
from p as dc/dt does from an angular velocity. Corrected: the axis and the translation of (141).
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_dynamics.errors import DynamicsError
from flex_dynamics.papers import dual_numbers as dn
from flex_dynamics.papers.dual_numbers import Dual
from flex_dynamics.papers.vector_parameters import (
    angular_velocity,
    compose,
    parameter_rate,
    rotation,
)


def dual_parameter(c: np.ndarray, p: np.ndarray) -> Dual:
    """The dual vector-parameter of a rotation c (3,) followed by a translation p (3,) m."""
    return Dual(c, parameter_rate(c, p))


def displacement(parameter: Dual) -> tuple[np.ndarray, np.ndarray]:
    """Rotation (3, 3) and translation (3,) m."""
    return rotation(parameter.real), angular_velocity(parameter.real, parameter.dual)


def compose_dual(*parameters: Dual) -> Dual:
    """<c1, c2, ...> of dual vector-parameters: displacements one after another."""
    result = Dual(np.zeros(3))
    for c in parameters:
        compose(result.real, c.real)                       # refuses a half-turn in a sentence
        result = (result + c + dn.cross(result, c)) / (1.0 - dn.dot(result, c))
    return result


@dataclass(frozen=True)
class Screw:
    """direction (3,) unit vector; point (3,) m of the axis nearest the origin; angle rad; slide m
    along the axis."""

    direction: np.ndarray
    point: np.ndarray
    angle: float
    slide: float

    @property
    def line(self) -> Dual:
        """Plucker coordinates of the axis: direction and moment."""
        return Dual(self.direction, np.cross(self.point, self.direction))


def screw(c: np.ndarray, p: np.ndarray) -> Screw:
    """The screw motion that a displacement is; a pure translation has no axis."""
    c, p = np.asarray(c, dtype=float), np.asarray(p, dtype=float)
    square = float(c @ c)
    if square == 0.0:
        raise DynamicsError('screw: expected a displacement that turns, found a pure translation, '
                            'whose axis is nowhere')
    direction = c / np.sqrt(square)
    slide = float(direction @ p)
    across = p - slide * direction
    return Screw(direction, 0.5 * (across + np.cross(c, p) / square),
                 2.0 * float(np.arctan(np.sqrt(square))), slide)
