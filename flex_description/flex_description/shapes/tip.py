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
"""The load at the end of a beam, for the mode shapes."""
from __future__ import annotations

from dataclasses import dataclass

from flex_description.shapes.base import ShapeError


@dataclass(frozen=True)
class TipLoad:
    """A rigid body on the section at x = length, in beam axes.

    mass kg; inertia_x, inertia_y, inertia_z kg m2 about the axes through the END SECTION's axis
    point (not about the body's own centre); offset m, of the body's centre beyond the end, along
    x, so that mass * offset couples end displacement and end rotation.
    """

    mass: float = 0.0
    inertia_x: float = 0.0
    inertia_y: float = 0.0
    inertia_z: float = 0.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        for name in ('mass', 'inertia_x', 'inertia_y', 'inertia_z'):
            value = getattr(self, name)
            if not 0.0 <= value < float('inf'):
                raise ShapeError(f'tip {name}: expected a number >= 0, found {value}')
        least = self.mass * self.offset**2
        for name in ('inertia_y', 'inertia_z'):
            if getattr(self, name) < least * (1.0 - 1e-9):
                raise ShapeError(
                    f'tip {name}: expected at least mass * offset^2 = {least:.6g} kg m2 (it is '
                    f'about the end section), found {getattr(self, name):.6g}')
