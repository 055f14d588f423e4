"""A body of a robot as a derivation sees it: its numbers, and where its coordinates are."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_dynamics.build.beam_fields import BeamFields
from flex_dynamics.kernels.base import layout


@dataclass(frozen=True)
class Body:
    """A node of the tree. Numbers are in the node's axes, but rotor_axis, in the parent's."""

    index: int
    name: str
    parent: int
    kind: int
    coordinates: tuple[int, ...]          # of its joint
    motor: int | None
    amplitudes: tuple[int, ...]           # of its beam, or of the beam that it is a section of
    rotation: np.ndarray
    position: np.ndarray
    axis: np.ndarray
    point: np.ndarray
    plane: np.ndarray
    mass: float
    moment: np.ndarray
    inertia: np.ndarray
    rotor: float
    rotor_axis: np.ndarray
    fields: BeamFields | None             # of its beam, or of the beam that it is a section of
    section_x: float

    @property
    def is_beam(self) -> bool:
        return self.fields is not None and self.kind != layout.ON_BEAM

    @property
    def has_inertia(self) -> bool:
        return self.mass > 0.0 or bool(np.trace(self.inertia) > 0.0)
