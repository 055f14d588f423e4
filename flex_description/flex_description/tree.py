"""The rigid tree of a URDF: links with their inertia and joints in tree order.

urdf_parser_py reads what URDF defines. It knows no lines, stops at nothing that is physically
wrong and prints what it does not know, so every element is checked here first, with its place.
"""
from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from urdf_parser_py import urdf as parser

from flex_description.element import Element
from flex_description.inertia import TENSOR, check_tensor, moved, tensor
from flex_description.robot import Inertia, Joint, Limits
from flex_description.rotations import from_rpy, pose, read_origin
from flex_description.xml_reader import write_xml

UNAXED = ('fixed', 'floating')  # joints whose axis means nothing
TYPES = ('revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar')
# Numbers that only drawing uses; they too must be finite.
DRAWN = ('xyz', 'rpy', 'size', 'radius', 'length', 'scale', 'rgba')
# What urdf_parser_py is given: what it does not know it prints, and drawing is not our business.
KEPT: dict[str, tuple[str, ...]] = {
    'robot': ('name',), 'link': ('name',), 'inertial': (), 'mass': ('value',), 'inertia': TENSOR,
    'origin': ('xyz', 'rpy'), 'joint': ('name', 'type'), 'parent': ('link',), 'child': ('link',),
    'axis': ('xyz',), 'limit': ('lower', 'upper', 'effort', 'velocity'),
    'dynamics': ('damping', 'friction')}


@dataclass(frozen=True)
class Tree:
    """Links in tree order (the root first; link k + 1 is the child of joint k), their
    inertia, and the joints."""

    links: dict[str, Inertia | None]
    joints: tuple[Joint, ...]
    warnings: tuple[str, ...]

    def children(self, link: str) -> list[Joint]:
        return [joint for joint in self.joints if joint.parent == link]


def read_tree(root: Element) -> Tree:
    """The tree of a <robot> element."""
    if root.tag != 'robot':
        raise root.error('expected <robot> as the outermost element, found '
                         f'<{root.tag}>')
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
    model = _parse(root, links, joints)
    inertias = {link.name: _inertia(link) for link in model.links}
    records = {joint.name: _joint(joint) for joint in model.joints}
    ordered = tuple(records[name] for name in order)
    base = ordered[0].parent if ordered else next(iter(links))
    names = (base, *(joint.child for joint in ordered))
    for joint in ordered:
        if joint.type in ('floating', 'planar') and joint.parent != base:
            raise joints[joint.name].error(
                f'type: expected a {joint.type} joint only at the root link "{base}", found it on '
                f'"{joint.parent}"')
    return Tree({name: inertias[name] for name in names}, ordered, tuple(warnings))


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
    matrix = tensor(*(inertia.number(name, unit='kg m2') for name in TENSOR))
    kilograms = mass.number('value', unit='kg')
    if kilograms == 0.0 and not matrix.any():  # a usual way to write a mere frame
        return
    if kilograms <= 0.0:
        mass.fail('value', 'a positive number (kg); leave <inertial> out for a link without mass')
    # A link that is fixed to another may be a point: the other one turns with it.
    if wrong := check_tensor(inertia, matrix, point=not moving):
        warnings.append(f'{inertia.source}:{inertia.line}: {inertia.label}: {wrong}')


def _check_joint(element: Element, links: dict[str, Element], warnings: list[str]) -> None:
    kind = element.choice('type', TYPES)
    for role in ('parent', 'child'):
        end = element.one(role)
        if end is None:
            raise element.error(f'expected <{role} link="..."/>, found none')
        if end.text('link') not in links:
            end.fail('link', f'the name of a link for the {role} of joint '
                             f'"{element.attributes["name"]}"')
    read_origin(element.one('origin'))
    axis = element.one('axis')
    if axis is not None and np.linalg.norm(axis.numbers('xyz', 3)) < 1e-9 and kind not in UNAXED:
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
        raise limit.error(f'upper: expected at least lower, {lower:g}, '
                          f'found "{limit.attributes.get("upper", "0")}"')


def _tree_order(links: dict[str, Element], joints: dict[str, Element]) -> list[str]:
    """Joint names, each parent's before its children's, branches in the file's order."""
    above: dict[str, str] = {}
    below: dict[str, list[tuple[str, str]]] = {name: [] for name in links}
    for name, element in joints.items():
        parent, child = (element.all(role)[0].text('link') for role in ('parent', 'child'))
        if child in above:
            raise element.error(f'child: expected a link with one parent joint, found "{child}", '
                                f'which joint "{above[child]}" carries already')
        above[child] = name
        below[parent].append((name, child))
    roots = [name for name in links if name not in above]
    if len(roots) > 1:
        raise links[roots[1]].error('expected one root link, found '
                                    f'{len(roots)}: {", ".join(roots[:5])}; join them by a joint')
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


def _parse(root: Element, links: dict[str, Element], joints: dict[str, Element]) -> parser.URDF:
    """urdf_parser_py's view of the links and joints."""
    kept = replace(root, children=[*links.values(), *joints.values()])
    try:
        return parser.URDF.from_xml_string(write_xml(kept, KEPT).encode())
    except Exception as error:  # it raises many types, AssertionError among them
        raise root.error(f'expected a valid URDF, found: {error}') from None


def _inertia(link: parser.Link) -> Inertia | None:
    if link.inertial is None or link.inertial.mass == 0.0:
        return None
    own = Inertia(float(link.inertial.mass), np.zeros(3),
                  np.array(link.inertial.inertia.to_matrix(), dtype=float))
    return moved(own, _pose(link.inertial.origin))


def _pose(origin: parser.Pose | None) -> np.ndarray:
    if origin is None:
        return np.eye(4)
    return pose(from_rpy(np.array(origin.rpy or (0, 0, 0), dtype=float)),
                np.array(origin.xyz or (0, 0, 0), dtype=float))


def _joint(joint: parser.Joint) -> Joint:
    named = joint.axis is not None and joint.type not in UNAXED
    axis = np.array(joint.axis if named else (1.0, 0.0, 0.0), dtype=float)
    dynamics = joint.dynamics
    return Joint(
        name=joint.name, type=joint.type, parent=joint.parent, child=joint.child,
        origin=_pose(joint.origin), axis=axis / np.linalg.norm(axis), limits=_limits(joint),
        friction=float(dynamics.friction or 0.0) if dynamics else 0.0,
        damping=float(dynamics.damping or 0.0) if dynamics else 0.0)


def _limits(joint: parser.Joint) -> Limits:
    limit = joint.limit
    if limit is None:
        return Limits()
    effort, velocity = float(limit.effort), float(limit.velocity)
    if joint.type not in ('revolute', 'prismatic'):
        return Limits(effort=effort, velocity=velocity)
    return Limits(float(limit.lower or 0.0), float(limit.upper or 0.0), effort, velocity)
