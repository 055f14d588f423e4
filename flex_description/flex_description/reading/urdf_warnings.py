"""Attributes and elements of URDF, and warnings about misspelt ones.

A misspelt attribute or element of a standard one would be ignored without notice, and change the
physics.

Elements directly under <robot> may belong to other tools, so only misspelt names are warned of.
"""
from __future__ import annotations

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
    'origin': _Standard(('xyz', 'rpy'), strict=True),
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
    ('origin', 'quat_xyzw'): 'is not read (URDF 1.1): write the rotation as rpy="roll pitch yaw"',
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
    stack = [root]
    while stack and len(found) <= MOST_WARNINGS:
        element = stack.pop()
        standard = STANDARD[element.tag]
        found += _about_attributes(element, standard)
        below = []
        for child in element.children:
            if child.tag in standard.children:
                below.append(child)
            elif len(found) <= MOST_WARNINGS and (child.tag not in extensions
                                                  or element.tag != 'robot'):
                found += _about_child(element, child, standard)
        stack += [child for child in reversed(below) if child.tag in STANDARD]
    if len(found) > MOST_WARNINGS:
        found[MOST_WARNINGS:] = ['and more warnings, which are left out']
    return found


def _about_attributes(element: Element, standard: _Standard) -> list[str]:
    found = []
    for name in element.attributes:
        if name in standard.attributes or ':' in name or name.startswith('xmlns'):
            continue
        special = NOT_READ.get((element.tag, name))
        near = misspelt(name, standard.attributes)
        if special is not None:
            found.append(_at(element, f'{name} {special}'))
        elif near is not None or standard.strict:
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
