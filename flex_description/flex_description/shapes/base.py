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
"""The interface of every mode shape basis."""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from flex_description.math import Array


class ShapeError(ValueError):
    """A basis that cannot be built; the message has one line: what was expected and found."""


class ModeShapes(ABC):
    """`count` shape functions of x on [0, length].

    x is in m along the beam. Shapes of bending are in m per unit of the amplitude, those of twist
    in rad per unit of the amplitude.
    """

    count: int          # number of shapes
    length: float       # m, of the beam

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Stations, m, where a derivative jumps, both ends included; smooth between them."""
        return (0.0, self.length)

    @abstractmethod
    def __call__(self, x: Array, derivative: int = 0) -> Array:
        """Values of the shapes, or a derivative with respect to x.

        Parameters
        ----------
        x : array, shape (k,)
            Stations, m.
        derivative : int
            0 (values), 1 (slopes, per m) or 2 (curvatures, per m2).

        Returns
        -------
        array, shape (count, k)
        """


class NoShapes(ModeShapes):
    """A direction in which the beam is rigid."""

    def __init__(self, length: float) -> None:
        self.count = 0
        self.length = length

    def __call__(self, x: Array, derivative: int = 0) -> Array:
        return np.zeros((0, np.size(x)))


class StackedShapes(ModeShapes):
    """The shapes of several bases of one beam, one after another."""

    def __init__(self, parts: Sequence[ModeShapes]) -> None:
        self.parts = tuple(parts)
        self.count = sum(part.count for part in self.parts)
        self.length = self.parts[0].length

    @property
    def breakpoints(self) -> tuple[float, ...]:
        return tuple(sorted({x for part in self.parts for x in part.breakpoints}))

    def __call__(self, x: Array, derivative: int = 0) -> Array:
        return np.vstack([part(x, derivative) for part in self.parts])
