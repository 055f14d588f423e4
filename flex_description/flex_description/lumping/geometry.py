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
"""Shapes of the links and segments of a lumped robot, as all three formats need them."""
from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flex_description.lumping.lumped_robot import LumpedRobot, Outline
from flex_description.math import (
    Array,
    pose,
    rotation_from_quaternion,
    rotation_from_rpy,
)

GREY = (0.45, 0.47, 0.5, 1.0)
QUARTER = rotation_from_rpy([0.0, 0.5 * np.pi, 0.0])    # takes z, a cylinder's axis, to x


@dataclass(frozen=True)
class Shape:
    """A shape of a body, pose (4, 4) in its frame.

    use: visual or collision. kind: box (size: edges), cylinder or capsule (size: radius, length),
    sphere (size: radius), mesh (size: scale; mesh: its address in the URDF). SI units.
    """

    use: str
    kind: str
    pose: Array
    size: tuple[float, ...]
    colour: tuple[float, ...] = GREY
    mesh: str = ''


def shapes_of(lumped: LumpedRobot) -> dict[str, list[Shape]]:
    """Shapes by body. Rigid links have those of the URDF; the pieces of a beam have its outline,
    and collide if their link has a <collision>."""
    root = ElementTree.fromstring(lumped.robot.urdf) if lumped.robot.urdf else None
    elements = {} if root is None else {link.get('name', '').strip(): link
                                        for link in root.findall('link')}
    palette = {} if root is None else {
        material.get('name', ''): _rgba(material) for material in root.findall('material')}
    result: dict[str, list[Shape]] = {}
    uses: Sequence[str] = ()
    for body in lumped.bodies:
        element = elements.get(body.link)
        if body.link:
            uses = ('visual', 'collision') if (
                element is not None and element.find('collision') is not None) else ('visual',)
        if body.outline is not None:
            result[body.name] = [_piece(use, body.outline) for use in uses]
        elif element is not None and body.link not in lumped.chains:
            found = [_shape(child, palette) for child in element
                     if child.tag in ('visual', 'collision')]
            result[body.name] = [shape for shape in found if shape is not None]
    return result


def _piece(use: str, outline: Outline) -> Shape:
    if outline.round:
        return Shape(use, 'cylinder', outline.pose @ pose(QUARTER, np.zeros(3)),
                     (outline.half_y, outline.length))
    return Shape(use, 'box', outline.pose,
                 (outline.length, 2.0 * outline.half_y, 2.0 * outline.half_z))


def _shape(element: ElementTree.Element, palette: dict[str, tuple[float, ...]]) -> Shape | None:
    geometry = element.find('geometry')
    if geometry is None or not len(geometry):
        return None
    shape, place = geometry[0], _origin(element)
    size = {'box': ('size',), 'cylinder': ('radius', 'length'), 'capsule': ('radius', 'length'),
            'sphere': ('radius',)}.get(shape.tag)
    material = element.find('material')
    colour = GREY if material is None else (
        _rgba(material) if material.find('color') is not None
        else palette.get(material.get('name', ''), GREY))
    if shape.tag == 'mesh' and shape.get('filename'):
        scale = _numbers(shape, 'scale') or (1.0, 1.0, 1.0)
        return Shape(element.tag, 'mesh', place, scale, colour, shape.get('filename', ''))
    numbers = () if size is None else tuple(
        number for name in size for number in _numbers(shape, name))
    if size is None or len(numbers) != {'box': 3, 'sphere': 1}.get(shape.tag, 2):
        return None
    return Shape(element.tag, shape.tag, place, numbers, colour)


def _rgba(material: ElementTree.Element) -> tuple[float, ...]:
    colour = material.find('color')
    numbers = () if colour is None else _numbers(colour, 'rgba')
    return numbers if len(numbers) == 4 else GREY


def _numbers(element: ElementTree.Element, name: str) -> tuple[float, ...]:
    """The numbers of an attribute; none if it is absent or no numbers (only drawing needs them).
    """
    try:
        return tuple(float(word) for word in element.get(name, '').split())
    except ValueError:
        return ()


def _origin(element: ElementTree.Element) -> Array:
    origin = element.find('origin')
    if origin is None:
        return np.eye(4)
    position = _numbers(origin, 'xyz') or (0.0, 0.0, 0.0)
    if 'quat_xyzw' in origin.attrib:
        quaternion = np.array(_numbers(origin, 'quat_xyzw'))
        return pose(rotation_from_quaternion(quaternion / np.linalg.norm(quaternion)), position)
    return pose(rotation_from_rpy(_numbers(origin, 'rpy') or (0.0, 0.0, 0.0)), position)
