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
"""The <visual> and <collision> elements of the links of a URDF, as triangles."""
from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from flex_description.errors import one_line
from flex_description.math import Array, pose, rotation_from_quaternion, rotation_from_rpy
from flex_description.robot import Robot
from flex_description.visuals.mesh_file import load_coloured_mesh
from flex_description.visuals.mesh_limits import check_size
from flex_description.visuals.mesh_path import mesh_path

Colour = tuple[float, float, float, float]      # red, green, blue, opacity, 0 to 1
GREY: Colour = (0.45, 0.47, 0.50, 1.0)
MOST_COLOURS = 16           # of a mesh file; more of them are rounded to 28
AROUND, ALONG = 24, 12      # edges of a circle; rings of a sphere from pole to pole


@dataclass(frozen=True)
class Visual:
    """One shape of a link: box (size: edges), cylinder (size: diameter twice, length along z),
    capsule (the same, the length without its caps), sphere (size: diameter three times) or mesh
    (size: scale of its file); all in m."""

    kind: str
    pose: Array                              # (4, 4) in the link's frame
    size: Array                              # (3,)
    colour: Colour
    mesh: str = ''                                # as in the URDF: package://, file:// or path


def read_visuals(robot: Robot, tag: str = 'visual') -> dict[str, list[Visual]]:
    """Visuals by link, or its other geometry (tag: collision); links without any are left out."""
    if not robot.urdf:
        return {}
    root = ElementTree.fromstring(robot.urdf)
    palette = {element.get('name', ''): _rgba(element)
               for element in root.findall('material') if element.find('color') is not None}
    found: dict[str, list[Visual]] = {}
    for link in root.findall('link'):
        shapes = [_visual(element, palette) for element in link.findall(tag)]
        if kept := [shape for shape in shapes if shape is not None]:
            found[link.get('name', '').strip()] = kept
    return found


def _rgba(element: ElementTree.Element) -> Colour:
    colour = element.find('color')
    values = _numbers(colour, 'rgba', GREY) if colour is not None else np.array(GREY)
    red, green, blue, opacity = map(float, values if len(values) == 4 else GREY)
    return red, green, blue, opacity


def _numbers(element: ElementTree.Element | None, name: str,
             default: Sequence[float]) -> Array:
    """The numbers of an attribute; flex_description has checked that they are finite."""
    text = element.get(name) if element is not None else None
    return np.array(default if text is None else [float(word) for word in text.split()])


def _visual(element: ElementTree.Element, palette: dict[str, Colour]) -> Visual | None:
    geometry = element.find('geometry')
    shape = geometry[0] if geometry is not None and len(geometry) else None
    if shape is None:
        return None
    if shape.tag == 'box':
        size = _numbers(shape, 'size', (0.1, 0.1, 0.1))
    elif shape.tag in ('cylinder', 'sphere', 'capsule'):
        radius = _numbers(shape, 'radius', (0.05,))[0]
        length = _numbers(shape, 'length', (2.0 * radius,))[0]
        size = np.array([2.0 * radius, 2.0 * radius, length])
    elif shape.tag == 'mesh' and shape.get('filename'):
        size = _numbers(shape, 'scale', (1.0, 1.0, 1.0))
    else:
        return None
    if size.shape != (3,):
        return None
    material = element.find('material')
    colour = GREY
    if material is not None:
        colour = (_rgba(material) if material.find('color') is not None
                  else palette.get(material.get('name', ''), GREY))
    return Visual(shape.tag, _origin(element), size, colour, shape.get('filename', ''))


def _origin(element: ElementTree.Element) -> Array:
    """Pose (4, 4) of a visual; flex_description has checked it."""
    origin = element.find('origin')
    position = _numbers(origin, 'xyz', (0.0, 0.0, 0.0))
    if origin is not None and 'quat_xyzw' in origin.attrib:
        quaternion = _numbers(origin, 'quat_xyzw', ())
        return pose(rotation_from_quaternion(quaternion / np.linalg.norm(quaternion)), position)
    return pose(rotation_from_rpy(_numbers(origin, 'rpy', (0.0, 0.0, 0.0))), position)


def visual_corners(visual: Visual, robot: Robot) -> Array:
    """Corners (3 f, 3), m, of the triangles of a visual in its own frame; MeshError if it cannot
    be drawn."""
    return _read_corners(visual, robot)[0]


def coloured_corners(visual: Visual, robot: Robot) -> list[tuple[Array, Colour]]:
    """The same, by colour. A mesh whose link has no colour in the URDF has those of its file, as
    in RViz."""
    corners, colours = _read_corners(visual, robot)
    if visual.kind != 'mesh' or visual.colour != GREY:
        return [(corners, visual.colour)]
    triangles = corners.reshape(-1, 3, 3)
    painted = np.nan_to_num(colours, nan=-1.0)
    known, which = np.unique(painted, axis=0, return_inverse=True)
    if len(known) > MOST_COLOURS:      # each is a piece of its own to those who draw
        known, which = np.unique(np.rint(2.0 * painted) / 2.0, axis=0, return_inverse=True)
    pieces: list[tuple[Array, Colour]] = []
    for at, row in enumerate(known):
        red, green, blue, opacity = map(float, row)
        colour = GREY if opacity < 0.0 else (red, green, blue, opacity)
        pieces.append((triangles[which.ravel() == at].reshape(-1, 3), colour))
    return pieces


def _read_corners(visual: Visual, robot: Robot) -> tuple[Array, Array]:
    """Corners (3 f, 3), m, and colours (f, 4), NaN: none."""
    if visual.kind != 'mesh':
        corners = (capsule(0.5 * float(visual.size[0]), float(visual.size[2]))
                   if visual.kind == 'capsule'
                   else solid(visual.kind) * visual.size)
        check_size(corners, visual.kind)
        return corners, np.full((len(corners) // 3, 4), np.nan)
    path = mesh_path(visual.mesh, robot)
    triangles, colours = load_coloured_mesh(path)
    corners = (triangles * visual.size).reshape(-1, 3)
    check_size(corners, one_line(str(path), 300))
    return corners, colours


@lru_cache
def solid(kind: str) -> Array:
    """Corners (3 f, 3) of the triangles of a box, cylinder (along z) or sphere of size one about
    the origin, with outward normals."""
    if kind == 'box':
        return _revolved(4, np.array([np.sqrt(0.5)] * 2), np.array([-0.5, 0.5]), 0.125)
    if kind == 'cylinder':
        return _revolved(AROUND, np.array([0.5, 0.5]), np.array([-0.5, 0.5]), 0.0)
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, ALONG + 1)
    return _revolved(AROUND, 0.5 * np.cos(angles), 0.5 * np.sin(angles), 0.0)


@lru_cache
def capsule(radius: float, length: float) -> Array:
    """Corners (3 f, 3), m, of the triangles of a capsule along z about the origin: a cylinder of
    that length with half a sphere on each end."""
    if not 1e-9 * abs(length) < radius:
        return solid('cylinder') * (2.0 * radius, 2.0 * radius, length)
    angles = np.linspace(0.0, 0.5 * np.pi, ALONG // 2 + 1)
    radii, heights = np.cos(angles), 0.5 * length / radius + np.sin(angles)
    return radius * _revolved(AROUND, np.concatenate((radii[::-1], radii)),
                              np.concatenate((-heights[::-1], heights)), 0.0)


def _revolved(edges: int, radii: Array, heights: Array, start: float) -> Array:
    """Solid of revolution of the profile (radii, heights) about z, with `edges` edges, the first
    at a share `start` of a turn, closed at both ends."""
    radii = np.concatenate(([0.0], radii, [0.0]))
    heights = np.concatenate((heights[:1], heights, heights[-1:]))
    angles = 2.0 * np.pi * (np.arange(edges + 1) / edges + start)
    rings = np.empty((len(radii), edges + 1, 3))
    rings[..., 0] = radii[:, None] * np.cos(angles)
    rings[..., 1] = radii[:, None] * np.sin(angles)
    rings[..., 2] = heights[:, None]
    low, high = rings[:-1], rings[1:]
    pieces = np.stack((low[:, :-1], low[:, 1:], high[:, 1:], low[:, :-1], high[:, 1:],
                       high[:, :-1]), axis=2).reshape(-1, 3, 3)
    areas = np.linalg.norm(np.cross(pieces[:, 1] - pieces[:, 0], pieces[:, 2] - pieces[:, 0]),
                           axis=1)
    corners: Array = pieces[areas > 1e-9].reshape(-1, 3)
    corners.setflags(write=False)
    return corners
