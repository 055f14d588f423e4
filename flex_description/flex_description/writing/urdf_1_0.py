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
"""The description of a robot as other nodes get it: URDF 1.0 with all that makes it flexible."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flex_description.math import Array, pose, rotation_from_rpy, rpy_from_rotation
from flex_description.reading.element import Element, read_origin
from flex_description.reading.motion_limits import RATES
from flex_description.robot import Robot
from flex_description.visuals.mesh_path import mesh_uri
from flex_description.writing.xml_tree import Node, parse, text_of

# What load_robot takes where <capsule> leaves a size out.
RADIUS = '0.05'


def published_description(robot: Robot) -> str:
    """The text for the topic `robot_description`, from which `load_robot` builds the same robot.

    It is URDF 1.0, which the parsers of ROS 2 Jazzy read. The flexible elements are those that the
    robot was built from, those of an overlay included, so that the text needs no other file but
    meshes. What URDF 1.0 lacks is written in another way:

    - quat_xyzw of <origin> as rpy;
    - a capsule as a cylinder and two spheres;
    - acceleration, deceleration and jerk of <limit> as <motion_limits>;
    - meshes by an address relative to the file as file://.

    Parameters
    ----------
    robot : Robot
        As `load_robot` made it.

    Returns
    -------
    str
        XML; empty if the robot was not read from a URDF.

    Examples
    --------
    >>> from flex_description import load_robot
    >>> robot = load_robot('ur5', 'ur5_flexible')
    >>> again = load_robot(published_description(robot))
    >>> [link.name for link in again.links if link.flexible is not None]
    ['upper_arm_link', 'forearm_link']
    """
    if not robot.urdf:
        return ''
    root, extensions = parse(robot.urdf), _extensions(robot)
    replaced = {node.tag for node in extensions}
    root.attributes.pop('xmlns:xacro', None)        # it is expanded
    root.attributes['version'] = '1.0'
    root.children = [child for child in root.children
                     if isinstance(child, Node) and child.tag not in replaced]
    limits = {node.attributes['joint'].strip(): node for node in extensions
              if node.tag == 'motion_limits'}
    for node in _nodes(root):
        if node.tag == 'origin':
            _with_rpy(node)
        elif node.tag == 'link':
            node.children = [part for child in node.children for part in _without_capsule(child)]
        elif node.tag == 'mesh' and node.attributes.get('filename'):
            node.attributes['filename'] = mesh_uri(node.attributes['filename'], robot)
    for joint in root.all('joint'):
        for limit in joint.all('limit'):
            rates = {rate: limit.attributes.pop(rate) for rate in RATES
                     if rate in limit.attributes}
            name = joint.attributes['name'].strip()
            if rates and name not in limits:
                limits[name] = Node('motion_limits', {'joint': name})
                extensions.append(limits[name])
            if rates:
                limits[name].attributes = {'joint': name, **rates, **limits[name].attributes}
    root.children += extensions
    return f'<?xml version="1.0"?>\n{text_of(root)}'


def _extensions(robot: Robot) -> list[Node]:
    found = parse(f'<robot>{robot.extensions}</robot>')
    return [child for child in found.children if isinstance(child, Node)]


def _nodes(root: Node) -> Iterator[Node]:
    """The standard elements: links and joints, and all in them."""
    stack = [child for child in root.children
             if isinstance(child, Node) and child.tag in ('link', 'joint')]
    while stack:
        node = stack.pop()
        yield node
        stack += [child for child in node.children if isinstance(child, Node)]


def _with_rpy(origin: Node) -> None:
    """Write the rotation of an <origin> as rpy."""
    if 'quat_xyzw' in origin.attributes:
        place = read_origin(Element('origin', origin.attributes, '', 0))
        del origin.attributes['quat_xyzw']
        origin.attributes['rpy'] = _numbers(rpy_from_rotation(place[:3, :3]))


def _without_capsule(child: Node | str) -> list[Node | str]:
    """A <visual> or <collision>, or three of them in place of one with a capsule."""
    geometry = child.all('geometry') if isinstance(child, Node) else []
    shapes = geometry[0].all('capsule') if geometry else []
    if not shapes or not isinstance(child, Node):
        return [child]
    radius = shapes[0].attributes.get('radius', RADIUS)
    length = float(shapes[0].attributes.get('length', 2.0 * float(radius)))
    origins = child.all('origin')
    place = read_origin(Element('origin', origins[0].attributes, '', 0) if origins else None)
    solids = [(0.0, Node('cylinder', {'radius': radius, 'length': repr(length)})),
              *((end, Node('sphere', {'radius': radius}))
                for end in (-0.5 * length, 0.5 * length))]
    rest = [part for part in child.children
            if not (isinstance(part, Node) and part.tag in ('origin', 'geometry'))]
    found: list[Node | str] = []
    for number, (z, shape) in enumerate(solids):
        attributes = dict(child.attributes)
        if number and 'name' in attributes:
            attributes['name'] += f'_cap_{number}'
        at = place @ pose(rotation_from_rpy(np.zeros(3)), np.array([0.0, 0.0, z]))
        found.append(Node(child.tag, attributes, [_origin(at), Node('geometry', {}, [shape]),
                                                  *rest]))
    return found


def _origin(place: Array) -> Node:
    return Node('origin', {'xyz': _numbers(place[:3, 3]),
                           'rpy': _numbers(rpy_from_rotation(place[:3, :3]))})


def _numbers(values: Array) -> str:
    """Numbers to the last bit."""
    return ' '.join(repr(float(value)) for value in values)
