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
"""<flexible link="..."> to beam, lumped masses, damping and gauges; modes.py adds the shapes."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_description.beam import Beam
from flex_description.errors import quoted
from flex_description.math import Array, pose, rotation_from_rpy, rotation_with_x_along
from flex_description.reading.element import Element, read_origin
from flex_description.reading.flexible.beam import Known, read_beam
from flex_description.reading.flexible.mass import KeptMass, keep_mass, keeps_mass
from flex_description.reading.flexible.stiffness import (
    Stiffness,
    check_fitted,
    read_stiffness,
    with_end_stiffness,
)
from flex_description.reading.inertia import TENSOR, check_tensor, read_tensor
from flex_description.reading.limits import MOST_SEGMENTS
from flex_description.reading.urdf import UrdfTree
from flex_description.robot import BeamFit, Damping, Joint, LumpedMass, StrainGauge
from flex_description.suggestion import suggestion

PARTS = ('beam', 'mass', 'stiffness', 'modes', 'damping', 'gauge')
RATIOS = ('ratio_bending_y', 'ratio_bending_z', 'ratio_twist')


@dataclass(frozen=True)
class FlexibleParts:
    """A flexible link without its mode shapes."""

    element: Element
    link: str
    origin: Array
    beam: Beam
    masses: tuple[LumpedMass, ...]
    gauges: tuple[StrainGauge, ...]
    damping: Damping
    stiffness: Stiffness        # as given; the beam has it, but for a frequency
    twist_follows: bool         # torsion stiffness has the factor of bending
    fit: BeamFit
    warnings: tuple[str, ...]

    def section_x(self, joint: Joint) -> float:
        """The section nearest a child joint's origin, m along the beam."""
        offset = joint.origin[:3, 3] - self.origin[:3, 3]
        return float(np.clip(offset @ self.origin[:3, 0], 0.0, self.beam.length))


def read_flexible(element: Element, tree: UrdfTree, keep: bool = False) -> FlexibleParts:
    """A <flexible> element of the tree's robot; keep: default of its `mass`."""
    element.allow({'link', 'mass'}, PARTS)
    link = element.text('link')
    if link not in tree.links:
        element.fail('link', 'the name of a link',
                     f'{quoted(link)}; {suggestion(link, tree.links)}')
    beam_element = element.one('beam')
    if beam_element is None:
        raise element.error('expected a <beam>, found none')
    beam_element.allow({'length', 'to', 'roll'}, {'origin', 'section', 'material', 'segment'})
    origin, length = _place(beam_element, link, tree)
    for around, tag in ((beam_element, 'segment'), (element, 'mass')):
        if (count := len(around.all(tag))) > MOST_SEGMENTS:
            raise element.error(f'expected at most {MOST_SEGMENTS} <{tag}> of a beam, found '
                                f'{count}')
    inertial = tree.links[link]
    kept = keeps_mass(element, inertial, keep)
    stiffness = read_stiffness(element.one('stiffness'))
    density_given = beam_element.has('material', 'density')
    known = Known(stiffness.bends, stiffness.twist is not None, kept and not density_given)
    beam = read_beam(beam_element, length, known)
    masses = tuple(_mass(child, beam) for child in element.all('mass'))
    follows = stiffness.twist is None and not beam_element.has('material', 'G')
    with np.errstate(all='ignore'):     # what is not finite is refused
        beam = with_end_stiffness(beam, stiffness, follows)
    check_fitted(beam, stiffness)
    fitted = KeptMass(beam, masses)
    if kept and inertial is not None:
        with np.errstate(all='ignore'):
            fitted = keep_mass(element, origin, beam, masses, inertial, density_given)
    factors = fitted.beam.factors
    return FlexibleParts(
        element, link, origin, fitted.beam, fitted.masses, _gauges(element, beam),
        _damping(element.one('damping')), stiffness, follows,
        BeamFit('keep' if kept else 'beam', factors.mass, stiffness.text,
                (factors.bend_y, factors.bend_z, factors.twist)), fitted.warnings)


def _place(beam: Element, link: str, tree: UrdfTree) -> tuple[Array, float]:
    """Pose of the beam's frame in the link's, and length."""
    element = beam.one('origin')
    if element is not None:
        element.allow({'xyz', 'rpy', 'quat_xyzw'})
    origin = read_origin(element)
    if 'to' not in beam.attributes:
        if 'roll' in beam.attributes:
            raise beam.error('roll: expected together with "to" only; use rpy of <origin>')
        return origin, _length(beam)
    joints = {joint.name: joint for joint in tree.children(link)}
    name = beam.text('to')
    if name not in joints:
        beam.fail('to', f'a joint whose parent is {quoted(link)}',
                  f'{quoted(name)}; {suggestion(name, joints)}')
    if 'length' in beam.attributes:
        raise beam.error('expected either "to" or "length", found both')
    for attribute in ('rpy', 'quat_xyzw'):
        if element is not None and attribute in element.attributes:
            element.fail(attribute, 'none, because the beam runs to a joint; use roll of '
                                       '<beam>')
    towards = joints[name].origin[:3, 3] - origin[:3, 3]
    length = float(np.linalg.norm(towards))
    if length < 1e-9:
        beam.fail('to', 'a joint away from the start of the beam',
                  f'{quoted(name)} at its very start')
    roll = rotation_from_rpy(np.array([beam.number('roll', 0.0, unit='rad'), 0.0, 0.0]))
    return pose(rotation_with_x_along(towards) @ roll, origin[:3, 3]), length


def _length(beam: Element) -> float:
    """The length attribute, or the sum of the segments where it is absent."""
    segments = beam.all('segment')
    if segments and 'length' not in beam.attributes:
        return sum(part.number('length', above=0.0, unit='m') for part in segments)
    return beam.number('length', above=0.0, unit='m')


def _mass(element: Element, beam: Beam) -> LumpedMass:
    element.allow({'x', 'mass', 'xyz', 'name', *TENSOR})
    inertia = read_tensor(element, 0.0)
    if wrong := check_tensor(element, inertia, point=True):
        raise element.error(wrong)
    return LumpedMass(
        x=element.number('x', least=0.0, most=beam.length, unit='m along the beam'),
        mass=element.number('mass', above=0.0, unit='kg'),
        centre=element.numbers('xyz', 3, '0 0 0'), tensor=inertia,
        name=element.attributes.get('name', ''))


def _gauges(element: Element, beam: Beam) -> tuple[StrainGauge, ...]:
    gauges: list[StrainGauge] = []
    for child in element.all('gauge'):
        child.allow({'name', 'x', 'y', 'z'})
        name = child.text('name')
        x = child.number('x', least=0.0, most=beam.length, unit='m along the beam')
        y, z = child.number('y', 0.0, unit='m'), child.number('z', 0.0, unit='m')
        if beam.outlined:
            at, _ = beam.sections(np.array([x]))
            for axis, value, half in (('y', y, at.half_y[0]), ('z', z, at.half_z[0])):
                if abs(value) > half * (1 + 1e-9):
                    child.fail(axis, f'a point of the section, within {half:.6g} m')
        gauges.append(StrainGauge(name, x, y, z))
    return tuple(gauges)


def _damping(element: Element | None) -> Damping:
    if element is None:
        return Damping()
    element.allow({'ratio', *RATIOS, 'alpha', 'beta'})
    modal = [name for name in ('ratio', *RATIOS) if name in element.attributes]
    rayleigh = [name for name in ('alpha', 'beta') if name in element.attributes]
    if modal and rayleigh:
        raise element.error(f'expected either ratios or alpha and beta, found "{modal[0]}" and '
                            f'"{rayleigh[0]}"')
    if not modal and not rayleigh:
        raise element.error('expected ratio, ratio_..., alpha or beta, found none')
    y, z, twist = (_ratios(element, name) for name in RATIOS)
    return Damping(y, z, twist, alpha=element.number('alpha', 0.0, least=0.0, unit='1/s'),
                   beta=element.number('beta', 0.0, least=0.0, unit='s'))


def _ratios(element: Element, name: str) -> tuple[float, ...]:
    """The ratios of one kind of mode; `ratio` holds for kinds without their own."""
    name = name if name in element.attributes else 'ratio'
    if name not in element.attributes:
        return ()
    values = element.numbers(name, None)
    if np.any(values < 0.0) or np.any(values >= 1.0):
        element.fail(name, 'damping ratios from 0 to below 1')
    return tuple(float(value) for value in values)
