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
"""<beam>, <segment>, <section> and <material> to a Beam."""
from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from flex_description.beam import Beam, Segment
from flex_description.materials import MATERIALS, Material
from flex_description.math import gauss_stations
from flex_description.reading.element import Element
from flex_description.sections import SHAPES, Section

# Properties that must be positive all along a beam; differences of very unequal sizes can be 0.
REQUIRED = ('mass_per_length', 'inertia_y', 'inertia_z', 'bending_stiffness_y',
            'bending_stiffness_z', 'torsion_stiffness')
# Relative to the side of a hollow section: thinner walls are lost in rounding.
THINNEST = 1e-6
SECTION_UNITS = {'A': 'm2', 'Iy': 'm4', 'Iz': 'm4', 'J': 'm4'}
MATERIAL_UNITS = {'E': 'Pa', 'G': 'Pa', 'density': 'kg/m3'}


# Where neither a name nor a number says it and the beam is fitted: only ratios count, such as that
# of E and G, that of a metal of Poisson's ratio 0.3.
UNSAID = Material(E=70e9, G=70e9 / 2.6, density=2700.0)


@dataclass(frozen=True)
class Known:
    """What is known of a beam beside its material, which then need not say it."""

    bending: bool = False
    twist: bool = False
    mass: bool = False


def read_beam(element: Element, length: float, known: Known) -> Beam:
    """The segments of a <beam> of the length given (m); without <segment> it is one itself."""
    beam = _read_segments(element, length, known)
    with np.errstate(all='ignore'):  # what is not finite is refused here
        at = beam.properties(gauss_stations(beam.breakpoints, 3)[0])
    for name in REQUIRED:
        values = getattr(at, name)
        if not np.all((values > 0.0) & np.isfinite(values)):
            raise element.error(f'expected a {name.replace("_", " ")} above 0, found '
                                f'{values.min():g}; look for walls too thin for their width')
    return beam


def _read_segments(element: Element, length: float, known: Known) -> Beam:
    segments = element.all('segment')
    if not segments:
        return Beam((_read_segment(element, length, known),))
    for section in element.all('section'):
        raise section.error('expected sections inside each <segment>, found one beside them; '
                            'move it')
    common = element.one('material')
    parts = []
    for segment in segments:
        segment.allow({'length'}, {'section', 'material'})
        parts.append(_read_segment(segment, segment.number('length', above=0.0, unit='m'), known,
                                   common))
    total = sum(part.length for part in parts)
    if abs(total - length) > 1e-6 * length:
        raise element.error(f'segments: expected lengths that sum to {length:.9g} m, the '
                            f'length of the beam, found {total:.9g} m')
    return Beam(tuple(parts))


def _read_segment(element: Element, length: float, known: Known,
                  common: Element | None = None) -> Segment:
    sections = element.all('section')
    if not 1 <= len(sections) <= 2:
        raise element.error('section: expected one, or two (start and end of a taper), '
                            f'found {len(sections)}')
    start, end = read_section(sections[0]), read_section(sections[-1])
    if start.shape != end.shape:
        raise sections[1].error('shape: expected the same at both ends of a taper, '
                                f'found "{start.shape}" and "{end.shape}"')
    material = element.one('material') or common
    if material is None and not (known.bending and known.mass):
        raise element.error('material: expected <material>, found none')
    return Segment(length, start, end,
                   UNSAID if material is None else read_material(material, known))


def read_section(element: Element) -> Section:
    """<section shape=... dimensions/> or <section A= Iy= Iz= J=/>."""
    default = 'given' if 'A' in element.attributes else None
    shape = element.choice('shape', SHAPES, default)
    names = SHAPES[shape][0]
    element.allow({'shape', *names})
    dimensions = {name: element.number(name, above=0.0, unit=SECTION_UNITS.get(name, 'm'))
                  for name in names}
    _check_walls(element, shape, dimensions)
    return Section(shape, dimensions)


def _check_walls(element: Element, shape: str, d: dict[str, float]) -> None:
    """The wall must leave a section with area, and fit in the outline."""
    if shape == 'hollow_circle' and d['inner_radius'] >= d['outer_radius'] * (1 - THINNEST):
        element.fail('inner_radius', f'less than outer_radius {d["outer_radius"]:g}, by at least '
                                     f'{THINNEST:g} of it')
    if shape == 'hollow_rectangle':
        side = min(d['width'], d['height'])
        if 2 * d['thickness'] >= side:
            element.fail('thickness', f'less than half of the smaller side, {side / 2:g}')
        if d['thickness'] < THINNEST * side:
            element.fail('thickness', f'at least {THINNEST:g} of the smaller side, '
                                      f'{THINNEST * side:g}')
    if (shape == 'i' and d['web_thickness'] < THINNEST * d['width']
            and d['flange_thickness'] < THINNEST * d['height']):
        element.fail('flange_thickness', f'at least {THINNEST:g} of height {d["height"]:g}')
    if shape == 'i' and d['web_thickness'] > d['width']:
        element.fail('web_thickness', f'not more than width {d["width"]:g}')
    if shape == 'i' and 2 * d['flange_thickness'] >= d['height']:
        element.fail('flange_thickness', f'less than half of height {d["height"]:g}')


def read_material(element: Element, known: Known) -> Material:
    """<material name=.../> or <material E= G= density=/>; numbers override the name's."""
    element.allow({'name', *MATERIAL_UNITS})
    values: dict[str, float] = {}
    if 'name' in element.attributes:
        values = asdict(MATERIALS[element.choice('name', MATERIALS)])
    for name, given in (('E', known.bending), ('G', known.twist)):
        if given and name in element.attributes:
            raise element.error(f'{name}: expected either {name} or what <stiffness> says of it, '
                                'found both')
    fitted = (*(('E', 'G') if known.bending else ('G',) if known.twist else ()),
              *(('density',) if known.mass else ()))
    for name in fitted:
        values.setdefault(name, asdict(UNSAID)[name])
    return Material(**{name: element.number(name, values.get(name), above=0.0, unit=unit)
                       for name, unit in MATERIAL_UNITS.items()})
