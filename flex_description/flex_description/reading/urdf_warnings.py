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
"""Attributes and elements of URDF, and warnings about misspelt ones.

A misspelt attribute or element of a standard one would be ignored without notice, and change the
physics.

Elements directly under <robot> may belong to other tools, so only misspelt names are warned of.
"""
from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from flex_description.errors import cut, quoted
from flex_description.reading.element import Element
from flex_description.reading.inertia import TENSOR
from flex_description.suggestion import misspelt

VERSIONS = ('1', '1.0', '1.1', '1.2')
MOST_WARNINGS = 100


@dataclass(frozen=True)
class _Standard:
    """Attributes and children that URDF defines. strict: every other one is warned of."""

    attributes: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    strict: bool = False


STANDARD = {
    'robot': _Standard(('name', 'version'), ('link', 'joint', 'material')),
    'link': _Standard(('name', 'type'), ('inertial', 'visual', 'collision')),
    'joint': _Standard(('name', 'type'), (
        'origin', 'parent', 'child', 'axis', 'limit', 'dynamics', 'mimic', 'calibration',
        'safety_controller')),
    'inertial': _Standard((), ('origin', 'mass', 'inertia'), strict=True),
    'origin': _Standard(('xyz', 'rpy', 'quat_xyzw'), strict=True),
    'mass': _Standard(('value',), strict=True),
    'inertia': _Standard(TENSOR, strict=True),
    'parent': _Standard(('link',), strict=True),
    'child': _Standard(('link',), strict=True),
    'axis': _Standard(('xyz',), strict=True),
    'limit': _Standard(('lower', 'upper', 'effort', 'velocity', 'acceleration', 'deceleration',
                        'jerk'), strict=True),
    'dynamics': _Standard(('damping', 'friction'), strict=True),
    'mimic': _Standard(('joint', 'multiplier', 'offset')),
    'calibration': _Standard(('rising', 'falling', 'reference_position')),
    'safety_controller': _Standard(('soft_lower_limit', 'soft_upper_limit', 'k_position',
                                    'k_velocity')),
    'visual': _Standard(('name',), ('origin', 'geometry', 'material')),
    'collision': _Standard(('name',), ('origin', 'geometry')),
    'geometry': _Standard((), ('box', 'cylinder', 'sphere', 'capsule', 'mesh')),
}
# Attributes of later versions and of other formats: what they mean and what to write instead.
NOT_READ = {
    ('axis', 'expressed_in'): 'is not read: the axis is taken in the frame of the joint; write it '
                              'in that frame',
}


def warnings_about(root: Element, extensions: tuple[str, ...]) -> list[str]:
    """Warnings about a <robot>. extensions: tags under it that are checked elsewhere."""
    found: list[str] = []
    version = root.attributes.get('version', '1.0').strip()
    if version not in VERSIONS:
        found.append(_at(root, f'version: expected one of {", ".join(VERSIONS[1:])}, found '
                               f'{quoted(version)}; it is read as {VERSIONS[-1]}'))
    strange: dict[tuple[str, str], list[int]] = {}      # where in `found`, and how often after it
    stack = [root]
    later = version in VERSIONS[2:]
    while stack and len(found) <= MOST_WARNINGS:
        element = stack.pop()
        standard = STANDARD[element.tag]
        found += _about_attributes(element, standard, strange, len(found))
        if not later and element.tag == 'origin' and 'quat_xyzw' in element.attributes:
            found.append(_at(element, 'quat_xyzw is read, but other programs ignore it unless '
                                      '<robot> has version="1.1"'))
            later = True
        below = []
        for child in element.children:
            if child.tag in standard.children:
                below.append(child)
            elif len(found) <= MOST_WARNINGS and (child.tag not in extensions
                                                  or element.tag != 'robot'):
                found += _about_child(element, child, standard)
        stack += [child for child in reversed(below) if child.tag in STANDARD]
    for at, more in strange.values():
        if more:
            found[at] += f' (and in {more} more)'
    if len(found) > MOST_WARNINGS:
        found[MOST_WARNINGS:] = ['and more warnings, which are left out']
    return found


def warnings_about_limits(joints: list[Element], passive: Collection[str] = ()) -> list[str]:
    """Warnings about limits of checked <joint> elements that no real joint has, each told once.

    Exporters write zeros where they know no limits. passive: names of joints without a motor,
    whose effort is zero rightly.
    """
    found: dict[str, list[Element]] = {}
    for joint in joints:
        limit, kind = joint.one('limit'), joint.text('type')
        if limit is None or kind not in ('revolute', 'continuous', 'prismatic'):
            continue
        effort, velocity = limit.number('effort'), limit.number('velocity')
        driven = joint.attributes['name'] not in passive
        if driven and velocity == 0.0:
            what = 'effort and velocity are' if effort == 0.0 else 'velocity is'
            found.setdefault(f'{what} 0, as exporters write that know no limits: taken as '
                             'unlimited; write those of the drive', []).append(limit)
        elif driven and effort == 0.0:
            found.setdefault('effort is 0: no drive moves or holds the joint', []).append(limit)
        dynamics = joint.one('dynamics')
        friction = 0.0 if dynamics is None else dynamics.number('friction', 0.0)
        if 0.0 < effort <= friction:
            found.setdefault('effort is not above the friction of the joint: its drive cannot '
                             'move it', []).append(limit)
        if kind != 'continuous' and limit.number('lower', 0.0) == limit.number('upper', 0.0):
            found.setdefault('lower and upper are equal (0 where they are left out): the joint '
                             'cannot move; write its range, or make it continuous or fixed',
                             []).append(limit)
    return [_at(limits[0], text) + (f' (and in {len(limits) - 1} more)' * (len(limits) > 1))
            for text, limits in found.items()]


def _about_attributes(element: Element, standard: _Standard,
                      strange: dict[tuple[str, str], list[int]], start: int) -> list[str]:
    """strange: attributes that nobody knows, which are told once for all elements of a tag; start:
    warnings that there are already."""
    found: list[str] = []
    for name in element.attributes:
        if name in standard.attributes or ':' in name or name.startswith('xmlns'):
            continue
        special = NOT_READ.get((element.tag, name))
        near = misspelt(name, standard.attributes)
        if special is not None:
            found.append(_at(element, f'{name} {special}'))
        elif near is None and (element.tag, name) in strange:
            strange[element.tag, name][1] += 1
        elif near is not None or standard.strict:
            if near is None:
                strange[element.tag, name] = [start + len(found), 0]
            hint = f'did you mean "{near}"?' if near is not None else _known(standard.attributes)
            found.append(_at(element, f'attribute {quoted(name)} is not read; {hint}'))
        if len(found) > MOST_WARNINGS:
            break
    return found


def _about_child(element: Element, child: Element, standard: _Standard) -> list[str]:
    """A misspelt element, or one that belongs into another element."""
    if ':' in child.tag:
        return []
    near = misspelt(child.tag, standard.children)
    if near is not None:
        return [_at(child, f'element <{cut(child.tag)}> is not read; did you mean <{near}>?')]
    homes = [tag for tag, other in STANDARD.items() if child.tag in other.children]
    if homes and (standard.strict or element.tag in ('link', 'joint')):
        return [_at(child, f'is not read in {element.label}: it belongs in <{homes[0]}>')]
    return []


def _at(element: Element, text: str) -> str:
    return f'{element.source}:{element.line}: {element.label}: {text}'


def _known(names: tuple[str, ...]) -> str:
    return f'known: {", ".join(names)}' if names else 'it has none'
