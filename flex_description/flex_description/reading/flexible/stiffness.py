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
"""<stiffness>: the stiffness of a beam as a user knows it, in place of E and G."""
from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from flex_description.beam import Beam
from flex_description.fit.stiffness import FitError, end_stiffness, frequency_factor
from flex_description.link_modes import load_on_section
from flex_description.reading.element import Element
from flex_description.robot import FlexibleLink, Inertia

BENDING = ('tip', 'deflection', 'frequency')    # one of them
TWISTING = ('twist', 'rotation')
# An attribute that needs another one, and the other one.
TOGETHER = (('load', 'deflection'), ('deflection', 'load'), ('torque', 'rotation'),
            ('rotation', 'torque'), ('carried', 'frequency'), ('frequency', 'carried'))


@dataclass(frozen=True)
class Stiffness:
    """What <stiffness> says; nothing of it without the element.

    tip: N/m along y and z; twist: N m/rad; frequency: Hz, with what the link carries if
    `carried`. text: as it was asked for, with units.
    """

    element: Element | None = None
    tip: tuple[float, float] | None = None
    twist: float | None = None
    frequency: float | None = None
    carried: bool = False
    text: str = ''

    @property
    def bends(self) -> bool:
        """Whether the bending stiffness is given."""
        return self.tip is not None or self.frequency is not None


def read_stiffness(element: Element | None) -> Stiffness:
    """<stiffness> of a <flexible>."""
    if element is None:
        return Stiffness()
    names = {name for pair in TOGETHER for name in pair}
    element.allow({*BENDING, *TWISTING, *names})
    for name, other in TOGETHER:
        if name in element.attributes and other not in element.attributes:
            hint = ' (included or excluded: with or without what the link carries)'
            raise element.error(f'{name}: expected together with "{other}"'
                                f'{hint if other == "carried" else ""}, found it alone')
    for group in (BENDING, TWISTING):
        found = [name for name in group if name in element.attributes]
        if len(found) > 1:
            raise element.error(f'expected one of {", ".join(group)}, found "{found[0]}" and '
                                f'"{found[1]}"')
    asked = []
    tip = twist = frequency = None
    if 'tip' in element.attributes:
        tip = _two(element, 'tip', 'N/m')
        asked.append(f'tip {_shown(tip)} N/m')
    elif 'deflection' in element.attributes:
        load, way = _positive(element, 'load', 'N'), _two(element, 'deflection', 'm')
        tip = (load / way[0], load / way[1])
        asked.append(f'deflection {_shown(way)} m under {load:g} N')
    elif 'frequency' in element.attributes:
        frequency = _positive(element, 'frequency', 'Hz')
        asked.append(f'first frequency {frequency:g} Hz, what the link carries '
                     f'{element.choice("carried", ("included", "excluded"))}')
    if 'twist' in element.attributes:
        twist = _positive(element, 'twist', 'N m/rad')
        asked.append(f'twist {twist:g} N m/rad')
    elif 'rotation' in element.attributes:
        torque, angle = _positive(element, 'torque', 'N m'), _positive(element, 'rotation', 'rad')
        twist = torque / angle
        asked.append(f'rotation {angle:g} rad under {torque:g} N m')
    if not asked:
        raise element.error('expected tip, load and deflection, frequency and carried, twist, or '
                            'torque and rotation, found none')
    return Stiffness(element, tip, twist, frequency,
                     element.attributes.get('carried', '').strip() == 'included',
                     '; '.join(asked))


def with_end_stiffness(beam: Beam, given: Stiffness, twist_follows: bool) -> Beam:
    """The beam with the stiffness at its end that is given.

    twist_follows: torsion has the factor of bending (their geometric mean) unless it is given.
    """
    if given.element is None:
        return beam
    y, z, twist = end_stiffness(beam)
    factors = beam.factors
    if given.tip is not None:
        factors = replace(factors, bend_y=given.tip[0] / y, bend_z=given.tip[1] / z)
        if twist_follows:
            factors = replace(factors, twist=math.sqrt(factors.bend_y * factors.bend_z))
    if given.twist is not None:
        factors = replace(factors, twist=given.twist / twist)
    return replace(beam, factors=factors)


def with_frequency(link: FlexibleLink, beam: Beam, given: Stiffness, twist_follows: bool,
                   loads: list[tuple[float, Inertia]]) -> FlexibleLink:
    """The link with the first frequency that is given.

    loads: section x (m) and body, in the link's frame, of all that the beam carries.
    """
    if given.frequency is None:
        return link
    assert given.element is not None
    if link.pinned:
        raise given.element.error('frequency: expected a mode basis that is clamped at the root, '
                                  f'found basis "{link.basis}"')
    carried = [load_on_section(link.origin, x, body) for x, body in loads] if given.carried else []
    try:
        with np.errstate(all='ignore'):
            factor = frequency_factor(link, carried, given.frequency, twist_follows)
    except FitError as error:
        raise given.element.error(f'frequency: expected {error}, found '
                                  f'"{given.element.attributes["frequency"]}"') from None
    except (ValueError, ArithmeticError, np.linalg.LinAlgError):
        factor = math.nan
    factors = replace(beam.factors, bend_y=factor * beam.factors.bend_y,
                      bend_z=factor * beam.factors.bend_z,
                      twist=(factor if twist_follows else 1.0) * beam.factors.twist)
    fitted = replace(beam, factors=factors)
    check_fitted(fitted, given)
    return replace(link, properties=fitted.properties, fit=replace(
        link.fit, stiffness_factors=(factors.bend_y, factors.bend_z, factors.twist)))


def check_fitted(beam: Beam, given: Stiffness) -> None:
    """Refuse a stiffness that extreme sizes have made zero or infinite."""
    if given.element is None:
        return
    with np.errstate(all='ignore'):
        values = end_stiffness(beam)
    if not all(math.isfinite(value) and 1e-100 < value < 1e100 for value in values):
        raise given.element.error('expected a beam and a stiffness of sizes that can be computed '
                                  f'with, found {", ".join(f"{value:g}" for value in values)} '
                                  'N/m, N/m and N m/rad at its end')


def _positive(element: Element, name: str, unit: str) -> float:
    return element.number(name, above=0.0, unit=unit)


def _two(element: Element, name: str, unit: str) -> tuple[float, float]:
    """One positive number for both directions, or one each, y and z."""
    values = element.numbers(name, None)
    if len(values) not in (1, 2) or np.any(values < 1e-30):
        element.fail(name, f'one positive number, or two (along y and along z) ({unit})')
    return float(values[0]), float(values[-1])


def _shown(values: tuple[float, float]) -> str:
    y, z = values
    return f'{y:g}' if y == z else f'{y:g} (y) and {z:g} (z)'
