"""The interface of every mode shape basis."""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from flex_description.math import Array


class ShapeError(ValueError):
    """A basis that cannot be built as asked; the message is one line for people."""


class ModeShapes(ABC):
    """`count` shape functions of x on [0, length].

    shapes(x, derivative) gives an array (count, len(x)); derivative 0, 1 or 2. Displacement
    shapes have unit m/m (an
    amplitude of 1 is a length), twist shapes rad/rad.
    breakpoints: stations where a derivative jumps, ends included; between them the shapes are
    smooth.
    """

    count: int
    length: float

    @property
    def breakpoints(self) -> tuple[float, ...]:
        return (0.0, self.length)

    @abstractmethod
    def __call__(self, x: Array, derivative: int = 0) -> Array:
        """Values or derivatives at stations x (k,): array (count, k)."""


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
