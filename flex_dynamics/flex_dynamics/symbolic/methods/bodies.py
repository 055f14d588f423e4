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
