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
"""The rigid tree of a URDF: links with their inertia and joints in tree order.

Every element is checked with its place before anything is built of it. (urdf_parser_py has no
line numbers and no physical checks, and prints unknown elements.)
"""
from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from flex_description.errors import cut, quoted
from flex_description.math import Array, without_negative_moments
from flex_description.reading.drives import limited_by_followers, read_mimics
from flex_description.reading.element import Element, read_origin
from flex_description.reading.inertia import check_tensor, read_tensor
from flex_description.reading.urdf_warnings import warnings_about_limits
from flex_description.rigid_inertia import tensor_about, transformed
from flex_description.robot import Inertia, Joint, Limits, Mimic
from flex_description.suggestion import suggestion

WITHOUT_AXIS = ('fixed', 'floating')  # joints without an axis
COMMAND_INTERFACES = ('position', 'velocity', 'effort')      # of ros2_control, that drives follow
JOINT_TYPES = ('revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar')
# Numbers that only drawing uses; they too must be finite.
DRAWN = ('xyz', 'rpy', 'quat_xyzw', 'size', 'radius', 'length', 'scale', 'rgba')


@dataclass(frozen=True)
class UrdfTree:
    """Links in tree order (the root first; link k + 1 is the child of joint k), their
    inertia, and the joints."""

    links: dict[str, Inertia | None]
    joints: tuple[Joint, ...]
    warnings: tuple[str, ...]

    def children(self, link: str) -> list[Joint]:
        return [joint for joint in self.joints if joint.parent == link]


def read_tree(root: Element, passive: Collection[str] = ()) -> UrdfTree:
    """The tree of a <robot> element; passive: names of joints without a motor."""
    if root.tag != 'robot':
        raise root.error('expected <robot> as the outermost element, found '
                         f'<{cut(root.tag)}>')
    links = _named(root, 'link')
    joints = _named(root, 'joint')
    if not links:
        macros = ('; a xacro file that only defines macros is for another one, which includes it '
                  'and calls them' if root.source.endswith('.xacro') else '')
        raise root.error(f'expected at least one <link>, found none{macros}')
    root.text('name')
    warnings: list[str] = []
    for element in joints.values():
        _check_joint(element, links, warnings)
    warnings += warnings_about_limits(list(joints.values()), passive)
    moving = {element.all('child')[0].text('link'): element for element in joints.values()
              if element.attributes['type'].strip() != 'fixed'}
    carrying = _carrying_mass(links, joints)
    for name, element in links.items():
        _check_link(element, moving.get(name), name in carrying, warnings)
    order = _tree_order(links, joints)
    inertias = {name: _inertia(element) for name, element in links.items()}
    mimics = read_mimics(joints, warnings)
    interfaces = _command_interfaces(root, joints, warnings)
    ordered = limited_by_followers(
        (_joint(joints[name], mimics.get(name), interfaces.get(name, ())) for name in order),
        joints, warnings)
    base = ordered[0].parent if ordered else next(iter(links))
    names = (base, *(joint.child for joint in ordered))
    for joint in ordered:
        if joint.type in ('floating', 'planar') and joint.parent != base:
            raise joints[joint.name].error(
                f'type: expected a {joint.type} joint only at the root link {quoted(base)}, found '
                f'it on {quoted(joint.parent)}')
    return UrdfTree({name: inertias[name] for name in names}, ordered, tuple(warnings))


def _named(root: Element, tag: str) -> dict[str, Element]:
    found: dict[str, Element] = {}
    for element in root.all(tag):
        name = element.text('name')
        if name in found:
            raise element.error(f'name: expected one {tag} of this name, found another on line '
                                f'{found[name].line}')
        found[name] = element
    return found


def _check_link(element: Element, moved_by: Element | None, carries: bool,
                warnings: list[str]) -> None:
    """moved_by: the joint that carries the link, unless it is fixed; carries: others hang on
    it that have mass."""
    for inner in element.walk():
        if inner.tag == 'origin':
            read_origin(inner)
        for name in DRAWN:
            if name in inner.attributes:
                inner.numbers(name, 3 if name in ('xyz', 'rpy') else None)
    inertial = element.one('inertial')
    if inertial is None:
        return
    mass, inertia = inertial.one('mass'), inertial.one('inertia')
    inertial.one('origin')
    if mass is None or inertia is None:
        missing = 'mass' if mass is None else 'inertia'
        raise inertial.error(f'expected <{missing}>, found none')
    matrix = read_tensor(inertia)
    kilograms = mass.number('value', unit='kg')
    if kilograms == 0.0 and not matrix.any():  # usual for a link that is only a frame
        return
    where = f'{inertia.source}:{inertia.line}: {inertia.label}'
    if kilograms == 0.0 and moved_by is None:
        warnings.append(f'{where}: expected a mass beside the inertia, found 0 kg; the inertia is '
                        'not used')
        return
    if kilograms <= 0.0:
        mass.fail('value', 'a positive number (kg); leave <inertial> out for a link without mass')
    # Point or rod: what hangs on it, or what it is fixed to, has the rotary inertia.
    point = carries or moved_by is None or _turns(inertial, kilograms, matrix, moved_by)
    if wrong := check_tensor(inertia, matrix, point=point):
        warnings.append(f'{where}: {wrong}')


def _carrying_mass(links: dict[str, Element], joints: dict[str, Element]) -> set[str]:
    """Links on which others hang, next or farther on, that have mass."""
    above = {element.all('child')[0].text('link'): element.all('parent')[0].text('link')
             for element in joints.values()}
    found: set[str] = set()
    for name, element in links.items():
        inertial = element.one('inertial')
        mass = inertial.one('mass') if inertial is not None else None
        if mass is not None and mass.number('value', unit='kg') > 0.0:
            while name in above and above[name] not in found:
                name = above[name]
                found.add(name)
    return found


def _turns(inertial: Element, mass: float, matrix: Array, joint: Element) -> bool:
    """Whether a link that may be a point or a rod has inertia about the joint that carries it."""
    kind = joint.text('type')
    if kind in ('floating', 'planar'):
        return False
    if kind == 'prismatic':
        return True
    axis = _axis(joint, kind)
    body = transformed(Inertia(mass, np.zeros(3), without_negative_moments(matrix)),
                       read_origin(inertial.one('origin')))
    tensor = tensor_about(body, np.zeros(3))
    return bool(axis @ tensor @ axis > 1e-9 * np.trace(tensor))


def _check_joint(element: Element, links: dict[str, Element], warnings: list[str]) -> None:
    kind = element.choice('type', JOINT_TYPES)
    for role in ('parent', 'child'):
        end = element.one(role)
        if end is None:
            raise element.error(f'expected <{role} link="..."/>, found none')
        if end.text('link') not in links:
            end.fail('link', f'the name of a link for the {role} of joint '
                             f'{quoted(element.text("name"))}')
    read_origin(element.one('origin'))
    axis = element.one('axis')
    if (axis is not None and np.linalg.norm(axis.numbers('xyz', 3)) < 1e-9
            and kind not in WITHOUT_AXIS):
        axis.fail('xyz', 'an axis with a direction')
    dynamics = element.one('dynamics')
    if dynamics is not None:
        dynamics.number('damping', 0.0, least=0.0)
        dynamics.number('friction', 0.0, least=0.0)
    limit = element.one('limit')
    if limit is None:
        if kind in ('revolute', 'prismatic'):
            warnings.append(f'{element.source}:{element.line}: {element.label} has no <limit>: '
                            'taken as unlimited')
        return
    limit.number('effort', least=0.0)
    limit.number('velocity', least=0.0)
    for rate, unit in (('acceleration', 's2'), ('deceleration', 's2'), ('jerk', 's3')):
        limit.number(rate, np.inf, above=0.0, unit=f'rad/{unit} or m/{unit}')
    lower = limit.number('lower', 0.0)
    if limit.number('upper', 0.0) < lower and kind != 'continuous':
        raise limit.error(f'upper: expected at least lower, {lower:g}, found '
                          f'{quoted(limit.attributes.get("upper", "0"))}')


def _tree_order(links: dict[str, Element], joints: dict[str, Element]) -> list[str]:
    """Joint names, each parent's before its children's, branches in the file's order."""
    above: dict[str, str] = {}
    below: dict[str, list[tuple[str, str]]] = {name: [] for name in links}
    for name, element in joints.items():
        parent, child = (element.all(role)[0].text('link') for role in ('parent', 'child'))
        if child in above:
            raise element.error('child: expected a link with one parent joint, found '
                                f'{quoted(child)}, which joint {quoted(above[child])} carries '
                                'already')
        above[child] = name
        below[parent].append((name, child))
    roots = [name for name in links if name not in above]
    if len(roots) > 1:
        raise links[roots[1]].error('expected one root link, found '
                                    f'{len(roots)}: {", ".join(map(cut, roots[:5]))}; join them '
                                    'by a joint')
    order = []
    stack = [(name, child) for base in roots for name, child in reversed(below[base])]
    while stack:
        name, child = stack.pop()
        order.append(name)
        stack.extend(reversed(below[child]))
    if len(order) < len(joints):
        loose = next(name for name in joints if name not in set(order))
        raise joints[loose].error('expected a tree, found a cycle of joints through this one')
    return order


def _inertia(link: Element) -> Inertia | None:
    """Of a link that is checked already; None if it has no mass."""
    inertial = link.one('inertial')
    if inertial is None:
        return None
    mass, inertia = inertial.all('mass')[0], inertial.all('inertia')[0]
    kilograms = mass.number('value')
    if kilograms == 0.0:
        return None
    own = Inertia(kilograms, np.zeros(3), without_negative_moments(read_tensor(inertia)))
    return transformed(own, read_origin(inertial.one('origin')))


def _axis(element: Element, kind: str) -> Array:
    """Unit vector (3,) of a joint."""
    given = element.one('axis')
    if given is None or kind in WITHOUT_AXIS:
        return np.array([1.0, 0.0, 0.0])
    axis = given.numbers('xyz', 3)
    unit: Array = axis / np.linalg.norm(axis)
    return unit


def _command_interfaces(root: Element, joints: dict[str, Element],
                        warnings: list[str]) -> dict[str, tuple[str, ...]]:
    """What the <ros2_control> tags say of the command interfaces of each joint that they name."""
    found: dict[str, tuple[str, ...]] = {}
    for element in (joint for tag in root.all('ros2_control') for joint in tag.all('joint')):
        name = element.attributes.get('name', '').strip()
        if name not in joints:
            warnings.append(f'{element.source}:{element.line}: <ros2_control>: expected the name '
                            f'of a joint, found {quoted(name)}; {suggestion(name, joints)}')
            continue
        given = [one.attributes.get('name', '').strip() for one in element.all(
            'command_interface')]
        found[name] = tuple(dict.fromkeys((*found.get(name, ()), *(
            one for one in given if one in COMMAND_INTERFACES))))
    return found


def _joint(element: Element, mimic: Mimic | None, interfaces: tuple[str, ...]) -> Joint:
    """A joint that is checked already."""
    kind = element.text('type')
    dynamics = element.one('dynamics')
    return Joint(
        name=element.text('name'), type=kind, parent=element.all('parent')[0].text('link'),
        child=element.all('child')[0].text('link'), origin=read_origin(element.one('origin')),
        axis=_axis(element, kind), limits=_limits(element.one('limit'), kind),
        friction=dynamics.number('friction', 0.0) if dynamics else 0.0,
        damping=dynamics.number('damping', 0.0) if dynamics else 0.0, mimic=mimic,
        command_interfaces=interfaces)


def _limits(limit: Element | None, kind: str) -> Limits:
    if limit is None:
        return Limits()
    effort, velocity = limit.number('effort'), limit.number('velocity')
    if velocity == 0.0:         # no joint: an exporter wrote it (see warnings_about_limits)
        effort, velocity = effort or np.inf, np.inf
    acceleration = limit.number('acceleration', np.inf)
    rates = (effort, velocity, acceleration, limit.number('deceleration', acceleration),
             limit.number('jerk', np.inf))
    if kind not in ('revolute', 'prismatic'):
        return Limits(-np.inf, np.inf, *rates)
    return Limits(limit.number('lower', 0.0), limit.number('upper', 0.0), *rates)
