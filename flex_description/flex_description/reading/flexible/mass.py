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
"""The attribute `mass` of <flexible>: keep the mass, centre and inertia of <inertial>, or not."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from flex_description.beam import Beam
from flex_description.fit.mass import SLACK, MassBudget, mass_budget
from flex_description.math import Array
from flex_description.reading.element import Element
from flex_description.reading.inertia import figures
from flex_description.rigid_inertia import link_inertia, transformed
from flex_description.robot import Inertia, LumpedMass

LEAST = 1e-6        # share of the link's mass below which a beam is none
SMALL = 0.1         # share of the link's mass below which a warning says so


def keeps_mass(element: Element, inertial: Inertia | None, by_default: bool) -> bool:
    """Whether <flexible> keeps <inertial>; by default only where there is one."""
    default = 'keep' if by_default and inertial is not None else 'beam'
    choice = element.choice('mass', ('keep', 'beam'), default)
    if choice == 'keep' and inertial is None:
        element.fail('mass', 'an <inertial> with mass in the link, which "keep" keeps',
                     'none; use mass "beam"')
    return choice == 'keep'


@dataclass(frozen=True)
class KeptMass:
    """Beam and lumped masses that together have the inertia of <inertial>."""

    beam: Beam
    masses: tuple[LumpedMass, ...]
    warnings: tuple[str, ...] = ()


def keep_mass(element: Element, origin: Array, beam: Beam, masses: tuple[LumpedMass, ...],
              inertial: Inertia, density_given: bool) -> KeptMass:
    """The beam with a scaled mass, and a rigid body at its root that has the rest of <inertial>.

    density_given: the density is a number of the user, and is not scaled.
    """
    budget = mass_budget(transformed(inertial, np.linalg.inv(origin)), beam, masses)
    most = budget.largest * budget.beam[3, 3]
    if not most > LEAST * inertial.mass:
        raise element.error(
            'mass: expected an <inertial> that a beam on this axis can be a part of, found '
            f'{figures(inertial)} for {_what(masses)}; the largest possible density is 0; move '
            f'the beam, {"make the masses smaller, " if masses else ""}correct <inertial>, or use '
            'mass "beam"')
    if density_given and budget.largest < 1.0 - SLACK:
        raise element.error(_too_dense(origin, beam, masses, inertial, budget))
    scale = (1.0 - SLACK) * budget.largest
    if density_given:
        scale = min(1.0, (1.0 - 1e-9) * budget.largest)
    root = budget.root_body(scale)
    kept = replace(beam, factors=replace(beam.factors, mass=scale))
    where = f'{element.source}:{element.line}: {element.label}'
    warnings = []
    if scale > budget.possible:
        warnings.append(f'{where}: the inertia of <inertial> is at the edge of what a body can '
                        'have, or beyond; the body at the root that completes the beam has '
                        'principal moments that no body has')
    if not density_given and scale * budget.beam[3, 3] < SMALL * budget.rest[3, 3]:
        x, y, z = inertial.centre + 0.0
        warnings.append(
            f'{where}: the beam has only {scale * budget.beam[3, 3]:.4g} of '
            f'{budget.rest[3, 3]:.4g} kg, the most that a beam on this axis can have of a body '
            'with the centre and inertia of <inertial>; the rest is rigid at its root; let the '
            f'beam pass nearer to the centre of mass, ({x:.4g} {y:.4g} {z:.4g}) m in the frame of '
            'the link, if it does so in truth')
    return KeptMass(kept, masses if root is None else (*masses, root), tuple(warnings))


def _too_dense(origin: Array, beam: Beam, masses: Sequence[LumpedMass], inertial: Inertia,
               budget: MassBudget) -> str:
    densities = sorted({segment.material.density for segment in beam.segments})
    most = [_rounded_down(budget.largest * density) for density in densities]
    largest = (f'{most[0]} kg/m3' if len(most) == 1 else
               f'{_rounded_down(budget.largest)} times those given, from {most[0]} to {most[-1]} '
               'kg/m3')
    return (f'density: expected a beam that leaves a possible body of <inertial>, '
            f'{figures(inertial)}, found {figures(link_inertia(origin, beam, masses))} for '
            f'{_what(masses)}; the largest possible density is {largest}; give no density to have '
            'it scaled')


def _what(masses: Sequence[LumpedMass]) -> str:
    return 'the beam and its masses' if masses else 'the beam'


def _rounded_down(value: float) -> str:
    """Four digits, not above the value."""
    step = 10.0**(math.floor(math.log10(value)) - 3)
    return f'{math.floor(value / step * (1.0 - 1e-12)) * step:.4g}'
