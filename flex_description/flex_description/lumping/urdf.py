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
"""A lumped robot as URDF: revolute joints, their springs as Gazebo's URDF parser reads them."""
from __future__ import annotations

import copy
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np

from flex_description.lumping.geometry import Shape, shapes_of
from flex_description.lumping.lumped_robot import (
    Body,
    Freedom,
    LumpedRobot,
    one_freedom_each,
)
from flex_description.lumping.xml_text import (
    Element,
    add,
    document,
    number,
    numbers,
    tensor_attributes,
)
from flex_description.math import Array, rpy_from_rotation
from flex_description.robot import Frame, Inertia, Limits

# Elements under <robot> that are written anew; others are copied.
REPLACED = ('link', 'joint', 'flexible', 'flexible_joint', 'imu', 'motion_limits', 'gravity')
DEFAULT_GRAVITY = (0.0, 0.0, -9.81)
SPRING_SPEED = 100.0    # rad/s or m/s, a limit that URDF demands and no spring reaches


def urdf_text(lumped: LumpedRobot) -> str:
    """The URDF of a lumped robot.

    Each spring is a <dynamics damping> of its joint and a <gazebo reference> with
    <springStiffness> (N m/rad or N/m), since URDF has no element for it.
    """
    robot = lumped.robot
    source = ElementTree.fromstring(robot.urdf) if robot.urdf else Element('robot')
    root = Element('robot', {**source.attrib, 'name': robot.name})
    originals = {link.get('name', '').strip(): link for link in source.findall('link')}
    shapes = shapes_of(lumped)
    bodies = one_freedom_each(_with_planar_joints(lumped))
    for body in bodies:
        link = add(root, 'link', name=body.name)
        if body.inertia is not None:
            _inertial(link, body.inertia)
        if body.link in originals and body.outline is None:
            # Copied as they are, with the words of URDF that the other formats lack.
            link.extend(copy.deepcopy(child) for child in originals[body.link]
                        if child.tag in ('visual', 'collision'))
        else:
            for shape in shapes.get(body.name, []):
                _shape(link, shape)
    for frame in lumped.frames:
        add(root, 'link', name=frame.name)
    for body in bodies:
        if body.parent is not None:
            _joint(root, body)
    for frame in lumped.frames:
        _frame(root, frame)
    root.extend(copy.deepcopy(child) for child in source if child.tag not in REPLACED)
    for freedom in lumped.springs:
        spring = add(root, 'gazebo', reference=freedom.name)
        add(spring, 'springReference', '0.0')
        add(spring, 'springStiffness', number(freedom.stiffness))
    for imu in robot.imus:
        add(root, 'imu', name=imu.name, frame=imu.frame)
    if not np.array_equal(robot.gravity, DEFAULT_GRAVITY):
        add(root, 'gravity', xyz=numbers(robot.gravity))
    return document(root, f'{robot.name}, each beam cut into {lumped.segments} elements by '
                          'flex_description lump')


def urdf_notes(lumped: LumpedRobot) -> list[str]:
    """What the URDF cannot say, one line each."""
    return [f'joint {freedom.name}: URDF has no reflected inertia of motors; '
            f'{freedom.reflected_inertia:.6g} {"kg" if freedom.type == "prismatic" else "kg m2"} '
            'at the joint is left out (Pinocchio takes it as model.armature)'
            for body in lumped.bodies for freedom in body.freedoms if freedom.reflected_inertia]


def _with_planar_joints(lumped: LumpedRobot) -> list[Body]:
    """URDF has planar joints: a single one instead of three freedoms."""
    return [replace(body, freedoms=(Freedom(body.joint, 'planar', body.freedoms[-1].axis,
                                            driven=True),)) if body.kind == 'planar' else body
            for body in lumped.bodies]


def _joint(root: Element, body: Body) -> None:
    freedom = body.freedoms[0] if body.freedoms else None
    joint = add(root, 'joint', name=body.joint if freedom is None else freedom.name,
                type=body.kind if freedom is None else freedom.type)
    _origin(joint, body.pose)
    add(joint, 'parent', link=str(body.parent))
    add(joint, 'child', link=body.name)
    if freedom is None:
        return
    add(joint, 'axis', xyz=numbers(freedom.axis))
    if freedom.damping or freedom.friction:
        add(joint, 'dynamics', damping=number(freedom.damping), friction=number(freedom.friction))
    _limit(joint, freedom.limits, SPRING_SPEED if not freedom.driven else np.inf)
    if freedom.mimic is not None:
        add(joint, 'mimic', joint=freedom.mimic.joint, multiplier=number(freedom.mimic.multiplier),
            offset=number(freedom.mimic.offset))


def _limit(joint: Element, limits: Limits, speed: float) -> None:
    values = {'lower': limits.lower, 'upper': limits.upper, 'effort': limits.effort,
              'velocity': min(limits.velocity, speed), 'acceleration': limits.acceleration,
              'deceleration': limits.deceleration, 'jerk': limits.jerk}
    finite = {name: number(value) for name, value in values.items() if np.isfinite(value)}
    if finite:
        add(joint, 'limit', **finite)


def _frame(root: Element, frame: Frame) -> None:
    joint = add(root, 'joint', name=f'{frame.name}_joint', type='fixed')
    _origin(joint, frame.pose)
    add(joint, 'parent', link=frame.link)
    add(joint, 'child', link=frame.name)


def _origin(parent: Element, place: Array) -> None:
    add(parent, 'origin', xyz=numbers(place[:3, 3]), rpy=numbers(rpy_from_rotation(place[:3, :3])))


def _inertial(link: Element, body: Inertia) -> None:
    inertial = add(link, 'inertial')
    add(inertial, 'origin', xyz=numbers(body.centre))
    add(inertial, 'mass', value=number(body.mass))
    add(inertial, 'inertia', **tensor_attributes(body))


def _shape(link: Element, shape: Shape) -> None:
    element = add(link, shape.use)
    _origin(element, shape.pose)
    geometry = add(element, 'geometry')
    if shape.kind == 'box':
        add(geometry, 'box', size=numbers(shape.size))
    else:
        add(geometry, 'cylinder', radius=number(shape.size[0]), length=number(shape.size[1]))
    if shape.use == 'visual':
        material = add(element, 'material', name='')
        add(material, 'color', rgba=numbers(shape.colour))
