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
"""The beam of a flexible link: segments of one material each, uniform or tapered."""
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from flex_description.materials import Material
from flex_description.math import Array
from flex_description.robot import BeamProperties
from flex_description.sections import Section, SectionValues, taper


@dataclass(frozen=True)
class Segment:
    """A stretch of beam of one material; the section runs linearly from start to end."""

    length: float
    start: Section
    end: Section
    material: Material


@dataclass(frozen=True)
class Factors:
    """Factors of what the sections and materials of a beam say, for a beam that is fitted to what
    is known of its link."""

    mass: float = 1.0       # of mass and rotary inertia per length
    bend_y: float = 1.0     # of E Iz
    bend_z: float = 1.0     # of E Iy
    twist: float = 1.0      # of G J


@dataclass(frozen=True)
class Beam:
    """Segments end to end along x, from 0 to `length`."""

    segments: tuple[Segment, ...]
    factors: Factors = Factors()

    @cached_property
    def breakpoints(self) -> tuple[float, ...]:
        """Stations where the segments meet, from 0 to the length."""
        ends = np.cumsum([segment.length for segment in self.segments])
        return (0.0, *(float(end) for end in ends))

    @property
    def length(self) -> float:
        return self.breakpoints[-1]

    @property
    def uniform(self) -> bool:
        """One segment without taper."""
        return len(self.segments) == 1 and self.segments[0].start == self.segments[0].end

    @property
    def outlined(self) -> bool:
        """Whether every section has a known outline (it has not if given by A, Iy, Iz, J)."""
        return all(segment.start.shape != 'given' for segment in self.segments)

    def sections(self, x: Array) -> tuple[SectionValues, NDArray[np.intp]]:
        """Section values at stations x (k,) and the number (k,) of the segment of each."""
        x = np.atleast_1d(np.asarray(x, dtype=float))
        inner = self.breakpoints[1:-1]
        number = np.searchsorted(inner, x, side='right')
        rows = np.empty((6, x.size))
        for k, segment in enumerate(self.segments):
            here = number == k
            s = np.clip((x[here] - self.breakpoints[k]) / segment.length, 0.0, 1.0)
            v = taper(segment.start, segment.end, s)
            rows[:, here] = (v.A, v.Iy, v.Iz, v.J, v.half_y, v.half_z)
        return SectionValues(*rows), number

    def properties(self, x: Array) -> BeamProperties:
        """Properties at stations x (k,), m; at a breakpoint those of the segment that begins."""
        v, number = self.sections(x)
        E, G, rho = np.array([(s.material.E, s.material.G, s.material.density)
                              for s in self.segments])[number].T
        factors = self.factors
        rho, torsion = rho * factors.mass, G * v.J * factors.twist
        E_y, E_z = E * factors.bend_z, E * factors.bend_y
        return BeamProperties(
            mass_per_length=rho * v.A, inertia_y=rho * v.Iy, inertia_z=rho * v.Iz,
            bending_stiffness_y=E_y * v.Iy, bending_stiffness_z=E_z * v.Iz,
            torsion_stiffness=torsion, axial_stiffness=np.sqrt(E_y * E_z) * v.A,
            half_y=v.half_y, half_z=v.half_z)
