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
"""<modes> to the mode shapes of a beam with the load that it carries."""
from __future__ import annotations

from pathlib import Path

import numpy as np

from flex_description.errors import RobotError
from flex_description.math import gauss_stations
from flex_description.reading.element import Element
from flex_description.reading.flexible.link import FlexibleParts
from flex_description.rigid_inertia import combined, lumped_inertia, tensor_about, transformed
from flex_description.robot import FlexibleLink, Inertia, LumpedMass
from flex_description.shapes.base import ModeShapes, ShapeError
from flex_description.shapes.build import BASES, MAX_MODES, PINNED, build_shapes
from flex_description.shapes.tip import TipLoad

COUNTS = {'bending_y': 2, 'bending_z': 2, 'twist': 1}
TIP = ('tip_mass', 'tip_inertia', 'tip_offset')
OPTIONS = ('normalization', 'file', 'table', 'expression_y', 'expression_z', 'expression_twist')
LOADED = ('clamped-mass', 'fe')   # bases whose shapes depend on the load
AT_TIP = 1e-3       # of the length: a load nearer to the end than this is at the end


def read_modes(parts: FlexibleParts, carried: list[tuple[float, Inertia]],
               carrier: bool, directory: Path) -> FlexibleLink:
    """The flexible link with its shapes.

    carried: section x (m) and body, in the link's frame, of all that the beam carries.
    carrier: whether it carries a link.
    directory: where relative file names of the basis begin.
    """
    # The static shapes of craig-bampton show a stiffness at the end exactly.
    default = 'craig-bampton' if carrier or parts.stiffness.tip is not None else 'clamped-free'
    element = parts.element.one('modes')
    if element is None:
        around = parts.element
        element = Element('modes', {}, around.source, around.line, parent=around)
    element.allow({'basis', *COUNTS, *TIP, *OPTIONS})
    basis = element.choice('basis', BASES, default)
    _check_options(element, basis)
    y, z, twist = (element.integer(name, _default_count(element, basis, name), 0, MAX_MODES)
                   for name in COUNTS)
    if not (y or z or twist):
        raise element.error('expected at least one mode, found 0 of bending_y, bending_z and '
                            'twist; leave <flexible> out for a rigid link')
    options: dict[str, object] = {name: element.text(name) for name in OPTIONS
                                  if name in element.attributes}
    if 'file' in options:
        options['file'] = str(directory / str(options['file']))
    try:
        with np.errstate(all='ignore'):   # what is not finite is refused below
            inner, tip = _loads(parts, carried if basis in LOADED else [], element)
            shapes = build_shapes(basis, (y, z, twist), parts.beam, tip, inner, options)
            if basis in ('file', 'expression'):
                _check_independent(element, shapes)
            _check_finite(parts, shapes)
    except RobotError:
        raise
    except ShapeError as error:
        raise element.error(f'basis "{basis}": {error}') from None
    except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
        raise element.error(f'basis "{basis}": expected a beam and a load of sizes that can be '
                            f'computed with, found: {error}') from None
    beam = parts.beam
    return FlexibleLink(
        link=parts.link, origin=parts.origin, length=beam.length,
        breakpoints=_stations(beam.length, beam.breakpoints, *(s.breakpoints for s in shapes)),
        properties=beam.properties, bend_y=shapes[0], bend_z=shapes[1], twist=shapes[2],
        damping=parts.damping, masses=parts.masses, gauges=parts.gauges, basis=basis,
        pinned=basis in PINNED, section_shape=beam.segments[0].start.shape, fit=parts.fit)


def _check_options(element: Element, basis: str) -> None:
    """Refuse an option that the basis does not use."""
    for name in OPTIONS:
        owner = 'file' if name == 'table' else name.split('_')[0]
        if name in element.attributes and owner in BASES and owner != basis:
            raise element.error(f'{name}: expected together with basis "{owner}", found basis '
                                f'"{basis}"')


def _default_count(element: Element, basis: str, name: str) -> int:
    """Default number of modes: the number of formulas, or 0 for a table, whose columns the user
    must choose."""
    if basis == 'file':
        return 0
    if basis == 'expression':
        text = element.attributes.get(f'expression_{name.removeprefix("bending_")}', '')
        return len([formula for formula in text.split(';') if formula.strip()])
    return COUNTS[name]


def _check_independent(element: Element, shapes: tuple[ModeShapes, ...]) -> None:
    """Refuse linearly dependent shapes, whose amplitudes would not be determined."""
    for name, shape in zip(COUNTS, shapes):
        x, weight = gauss_stations(shape.breakpoints, 64)
        values = shape(x) * np.sqrt(weight)
        sizes = np.linalg.norm(values, axis=1)
        if np.any(sizes == 0.0) or (shape.count and np.linalg.svd(
                values / sizes[:, None], compute_uv=False)[-1] < 1e-6):
            raise element.error(f'{name}: expected shapes of which none is zero or a combination '
                                f'of the others, found {shape.count} that depend on one another')


def _check_finite(parts: FlexibleParts, shapes: tuple[ModeShapes, ...]) -> None:
    """Refuse shapes that are not finite: extreme sizes can overflow."""
    length = parts.beam.length
    ends = np.array([0.0, 0.5 * length, length])
    for name, shape in zip(COUNTS, shapes):
        for derivative in (0, 2):
            if not np.all(np.isfinite(shape(ends, derivative))):
                raise ShapeError(f'{name}: expected shapes of finite values and derivatives, '
                                 'found others; look for extreme sizes')


def _stations(length: float, *lists: tuple[float, ...]) -> tuple[float, ...]:
    """All breakpoints from 0 to the length, those that differ by rounding only taken once."""
    result = [0.0]
    for x in sorted(float(x) for stations in lists for x in stations):
        if result[-1] + 1e-9 * length < x < length * (1.0 - 1e-9):
            result.append(x)
    return (*result, length)


def _loads(parts: FlexibleParts, carried: list[tuple[float, Inertia]],
           element: Element) -> tuple[tuple[LumpedMass, ...], TipLoad]:
    """Bodies before the end, and the load at the end: `auto` sums what is carried there."""
    to_beam = np.linalg.inv(parts.origin)
    bodies = [(x, transformed(body, to_beam)) for x, body in carried]
    bodies += [(mass.x, lumped_inertia(mass)) for mass in parts.masses]
    near = parts.beam.length * (1.0 - AT_TIP)
    inner = tuple(LumpedMass(x, body.mass, body.centre - np.array([x, 0.0, 0.0]), body.tensor)
                  for x, body in bodies if x < near)
    if element.attributes.get('tip_mass', 'auto').strip() != 'auto':
        return inner, _given_tip(element)
    for name in ('tip_inertia', 'tip_offset'):
        if name in element.attributes:
            raise element.error(f'{name}: expected together with a number for tip_mass, found '
                                'tip_mass "auto", which computes it')
    load = combined(body for x, body in bodies if x >= near)
    if load is None:
        return inner, TipLoad()
    end = np.array([parts.beam.length, 0.0, 0.0])
    ix, iy, iz = np.diag(tensor_about(load, end))
    return inner, TipLoad(load.mass, float(ix), float(iy), float(iz),
                          offset=float(load.centre[0] - end[0]))


def _given_tip(element: Element) -> TipLoad:
    """Tip load as numbers; tip_inertia is one number for all axes, or Ix Iy Iz."""
    mass = element.number('tip_mass', least=0.0, unit='kg, or "auto"')
    offset = element.number('tip_offset', 0.0, unit='m')
    least = mass * offset**2
    values = element.numbers('tip_inertia', None, f'0 {least!r} {least!r}')
    if len(values) not in (1, 3) or np.any(values < 0.0):
        element.fail('tip_inertia', 'one or three numbers not below 0 (kg m2)')
    ix, iy, iz = np.broadcast_to(values, 3)
    try:
        return TipLoad(mass, float(ix), float(iy), float(iz), offset)
    except ShapeError as error:
        raise element.error(str(error)) from None
