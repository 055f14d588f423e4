"""The rigid tree of a URDF: links with their inertia and joints in tree order.

Every element is checked with its place before anything is built of it. (urdf_parser_py has no
line numbers and no physical checks, and prints unknown elements.)
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_description.errors import cut, quoted
from flex_description.math import without_negative_moments
from flex_description.reading.element import Element, read_origin
from flex_description.reading.inertia import check_tensor, read_tensor
from flex_description.rigid_inertia import transformed
from flex_description.robot import Inertia, Joint, Limits

WITHOUT_AXIS = ('fixed', 'floating')  # joints without an axis
JOINT_TYPES = ('revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar')
# Numbers that only drawing uses; they too must be finite.
DRAWN = ('xyz', 'rpy', 'size', 'radius', 'length', 'scale', 'rgba')


@dataclass(frozen=True)
class UrdfTree:
    """Links in tree order (the root first; link k + 1 is the child of joint k), their
    inertia, and the joints."""

    links: dict[str, Inertia | None]
    joints: tuple[Joint, ...]
    warnings: tuple[str, ...]

    def children(self, link: str) -> list[Joint]:
        return [joint for joint in self.joints if joint.parent == link]


def read_tree(root: Element) -> UrdfTree:
    """The tree of a <robot> element."""
    if root.tag != 'robot':
        raise root.error('expected <robot> as the outermost element, found '
                         f'<{cut(root.tag)}>')
    root.text('name')
    links = _named(root, 'link')
    joints = _named(root, 'joint')
    if not links:
        raise root.error('expected at least one <link>, found none')
    warnings: list[str] = []
    for element in joints.values():
        _check_joint(element, links, warnings)
    moving = {element.all('child')[0].text('link') for element in joints.values()
              if element.attributes['type'].strip() != 'fixed'}
    for name, element in links.items():
        _check_link(element, name in moving, warnings)
    order = _tree_order(links, joints)
    inertias = {name: _inertia(element) for name, element in links.items()}
    ordered = tuple(_joint(joints[name]) for name in order)
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


def _check_link(element: Element, moving: bool, warnings: list[str]) -> None:
    for inner in element.walk():
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
    if kilograms <= 0.0:
        mass.fail('value', 'a positive number (kg); leave <inertial> out for a link without mass')
    # A link fixed to another may be a point mass: the other one has rotary inertia.
    if wrong := check_tensor(inertia, matrix, point=not moving):
        warnings.append(f'{inertia.source}:{inertia.line}: {inertia.label}: {wrong}')


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
    where = f'{element.source}:{element.line}: {element.label}'
    if element.one('mimic') is not None:
        warnings.append(f'{where} has <mimic>, which is not modelled: the joint moves freely')
    limit = element.one('limit')
    if limit is None:
        if kind in ('revolute', 'prismatic'):
            warnings.append(f'{where} has no <limit>: taken as unlimited')
        return
    limit.number('effort', least=0.0)
    limit.number('velocity', least=0.0)
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


def _joint(element: Element) -> Joint:
    """A joint that is checked already."""
    kind = element.text('type')
    axis = np.array([1.0, 0.0, 0.0])
    given = element.one('axis')
    if given is not None and kind not in WITHOUT_AXIS:
        axis = given.numbers('xyz', 3)
    dynamics = element.one('dynamics')
    return Joint(
        name=element.text('name'), type=kind, parent=element.all('parent')[0].text('link'),
        child=element.all('child')[0].text('link'), origin=read_origin(element.one('origin')),
        axis=axis / np.linalg.norm(axis), limits=_limits(element.one('limit'), kind),
        friction=dynamics.number('friction', 0.0) if dynamics else 0.0,
        damping=dynamics.number('damping', 0.0) if dynamics else 0.0)


def _limits(limit: Element | None, kind: str) -> Limits:
    if limit is None:
        return Limits()
    effort, velocity = limit.number('effort'), limit.number('velocity')
    if kind not in ('revolute', 'prismatic'):
        return Limits(effort=effort, velocity=velocity)
    return Limits(limit.number('lower', 0.0), limit.number('upper', 0.0), effort, velocity)
