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
"""A lumped robot as SDF 1.9, for Gazebo: springs as <spring_stiffness> of the joints."""
from __future__ import annotations

from dataclasses import replace

import numpy as np

from flex_description.lumping.geometry import Shape, shapes_of
from flex_description.lumping.lumped_robot import (
    Body,
    Freedom,
    LumpedRobot,
    one_freedom_each,
    with_mass,
)
from flex_description.lumping.urdf import DEFAULT_GRAVITY
from flex_description.lumping.xml_text import (
    Element,
    add,
    document,
    number,
    numbers,
    tensor_attributes,
)
from flex_description.math import Array, rpy_from_rotation
from flex_description.robot import Inertia

# The root is fixed to the world, so that its inertia does not matter; SDF takes 1 kg for none.
STANDING = Inertia(1.0, np.zeros(3), np.eye(3))


def sdf_text(lumped: LumpedRobot) -> str:
    """The SDF of a lumped robot: one model, fixed to the world unless its base floats."""
    bodies = with_mass(one_freedom_each(lumped.bodies))
    names = _names(lumped, bodies)
    floats = any(body.kind == 'floating' for body in bodies)
    root = Element('sdf', {'version': '1.9'})
    model = add(root, 'model', name=lumped.robot.name)
    shapes = shapes_of(lumped)
    first = bodies[0]
    if floats:
        bodies = bodies[1:]
    else:
        bodies[0] = replace(first, inertia=first.inertia or STANDING)
        joint = add(model, 'joint', name=names['joint', 'world_fixed'], type='fixed')
        add(joint, 'parent', 'world')
        add(joint, 'child', names['link', first.name])
    held: dict[str, tuple[str, Array]] = {}         # link without mass: where its shapes go
    links: dict[str, Element] = {}
    for body in bodies:
        link = names['link', body.name]
        outer = '' if floats and body.parent == first.name else (
            '' if body.parent is None else names['link', body.parent])
        if body.inertia is None:
            # A link without mass would get 1 kg: it is a frame, its shapes are its parent's.
            element = add(model, 'frame', name=link, **({'attached_to': outer} if outer else {}))
            _pose(element, body.pose)
            carrier, place = held.get(body.parent or '', (body.parent or '', np.eye(4)))
            held[body.name] = carrier, place @ body.pose
        else:
            links[body.name] = element = add(model, 'link', name=link)
            _pose(element, body.pose, outer)
            _inertial(element, body.inertia)
        carrier, place = held.get(body.name, (body.name, np.eye(4)))
        for shape in shapes.get(body.name, []):
            if carrier in links:
                _shape(links[carrier], replace(shape, pose=place @ shape.pose))
        if body.inertia is not None and body.parent is not None and body.kind != 'floating':
            _joint(model, body, names)
    for frame in lumped.frames:
        element = add(model, 'frame', name=names['link', frame.name],
                      attached_to=names['link', frame.link])
        _pose(element, frame.pose)
    return document(root, f'{lumped.robot.name}, each beam cut into {lumped.segments} elements by '
                          'flex_description lump')


def sdf_notes(lumped: LumpedRobot) -> list[str]:
    """What the SDF cannot say, or says otherwise, one line each."""
    notes = [f'joint {freedom.name}: SDF has no reflected inertia of motors; '
             f'{freedom.reflected_inertia:.6g} {"kg" if freedom.type == "prismatic" else "kg m2"} '
             'at the joint is left out, which is right while a drive holds the motor'
             for body in lumped.bodies for freedom in body.freedoms if freedom.reflected_inertia]
    names = _names(lumped, with_mass(one_freedom_each(lumped.bodies)))
    notes += [f'{kind} {old} is named {new}: SDF wants names that are unique in the model, and '
              'keeps "world"' for (kind, old), new in names.items() if old != new]
    if not np.array_equal(lumped.robot.gravity, DEFAULT_GRAVITY):
        notes.append('gravity belongs to the world in SDF: set <gravity> there to '
                     f'{numbers(lumped.robot.gravity)}')
    return notes


def _names(lumped: LumpedRobot, bodies: list[Body]) -> dict[tuple[str, str], str]:
    """Names by kind and name in the robot: links, frames and joints share one set in SDF."""
    result: dict[tuple[str, str], str] = {}
    taken = {'world'}
    links = [*(body.name for body in bodies), *(frame.name for frame in lumped.frames)]
    joints = [body.freedoms[0].name if body.freedoms else body.joint for body in bodies[1:]]
    for kind, name in [*(('link', name) for name in links), *(('joint', name) for name in joints),
                       ('joint', 'world_fixed')]:
        new = name.replace('::', '_')
        while new in taken:
            new += f'_{kind}'
        taken.add(new)
        result[kind, name] = new
    return result


def _joint(model: Element, body: Body, names: dict[tuple[str, str], str]) -> None:
    freedom = body.freedoms[0] if body.freedoms else None
    name = body.joint if freedom is None else freedom.name
    joint = add(model, 'joint', name=names['joint', name],
                type='fixed' if freedom is None else freedom.type)
    add(joint, 'parent', names['link', str(body.parent)])
    add(joint, 'child', names['link', body.name])
    if freedom is not None:
        _axis(joint, freedom, names)


def _axis(joint: Element, freedom: Freedom, names: dict[tuple[str, str], str]) -> None:
    axis = add(joint, 'axis')
    add(axis, 'xyz', numbers(freedom.axis))
    if freedom.mimic is not None:
        mimic = add(axis, 'mimic', joint=names['joint', freedom.mimic.joint], axis='axis')
        add(mimic, 'multiplier', number(freedom.mimic.multiplier))
        add(mimic, 'offset', number(freedom.mimic.offset))
        add(mimic, 'reference', '0.0')
    limits = freedom.limits
    limit = add(axis, 'limit')
    # SDF demands both ends; infinite ones are 1e16 there.
    add(limit, 'lower', number(max(limits.lower, -1e16)))
    add(limit, 'upper', number(min(limits.upper, 1e16)))
    if freedom.driven:
        for tag, value in (('effort', limits.effort), ('velocity', limits.velocity)):
            if np.isfinite(value):
                add(limit, tag, number(value))
    dynamics = add(axis, 'dynamics')
    add(dynamics, 'damping', number(freedom.damping))
    add(dynamics, 'friction', number(freedom.friction))
    add(dynamics, 'spring_reference', '0.0')
    add(dynamics, 'spring_stiffness', number(freedom.stiffness))


def _pose(parent: Element, place: Array, relative_to: str = '') -> None:
    attributes = {'relative_to': relative_to} if relative_to else {}
    add(parent, 'pose', numbers([*place[:3, 3], *rpy_from_rotation(place[:3, :3])]), **attributes)


def _inertial(link: Element, body: Inertia) -> None:
    inertial = add(link, 'inertial')
    add(inertial, 'pose', numbers([*body.centre, 0.0, 0.0, 0.0]))
    add(inertial, 'mass', number(body.mass))
    inertia = add(inertial, 'inertia')
    for name, value in tensor_attributes(body).items():
        add(inertia, name, value)


def _shape(link: Element, shape: Shape) -> None:
    count = len(link.findall(shape.use))
    element = add(link, shape.use, name=f'{shape.use}{count}')
    _pose(element, shape.pose)
    inner = add(add(element, 'geometry'), shape.kind)
    if shape.kind == 'box':
        add(inner, 'size', numbers(shape.size))
    elif shape.kind == 'mesh':
        # Gazebo looks for packages as models, in GZ_SIM_RESOURCE_PATH.
        add(inner, 'uri', shape.mesh.replace('package://', 'model://'))
        add(inner, 'scale', numbers(shape.size))
    else:
        for tag, value in zip(('radius', 'length'), shape.size):
            add(inner, tag, number(value))
    if shape.use == 'visual':
        material = add(element, 'material')
        add(material, 'ambient', numbers(shape.colour))
        add(material, 'diffuse', numbers(shape.colour))
