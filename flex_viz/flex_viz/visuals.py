"""What a URDF says of a robot's looks: the <visual> elements of its links."""
from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlparse

import numpy as np

from flex_description.robot import Robot
from flex_description.rotations import from_rpy, pose

GREY = (0.45, 0.47, 0.50, 1.0)


@dataclass(frozen=True)
class Visual:
    """One shape of a link: box (size: edges), cylinder (size: diameter twice, length along z),
    sphere (size: diameter three times) or mesh (size: scale of its file); all in m."""

    kind: str
    pose: np.ndarray                              # (4, 4) in the link's frame
    size: np.ndarray                              # (3,)
    colour: tuple[float, float, float, float]     # RGB and opacity, 0 to 1
    mesh: str = ''                                # as the URDF has it: package://, file:// or path


def read_visuals(robot: Robot) -> dict[str, list[Visual]]:
    """Visuals by link; links without any are left out."""
    if not robot.urdf:
        return {}
    root = ElementTree.fromstring(robot.urdf)
    palette = {element.get('name', ''): _rgba(element)
               for element in root.findall('material') if element.find('color') is not None}
    found: dict[str, list[Visual]] = {}
    for link in root.findall('link'):
        shapes = [_visual(element, palette) for element in link.findall('visual')]
        if kept := [shape for shape in shapes if shape is not None]:
            found[link.get('name', '').strip()] = kept
    return found


def _rgba(element: ElementTree.Element) -> tuple[float, float, float, float]:
    colour = element.find('color')
    values = _numbers(colour, 'rgba', GREY) if colour is not None else np.array(GREY)
    red, green, blue, opacity = map(float, values if len(values) == 4 else GREY)
    return red, green, blue, opacity


def _numbers(element: ElementTree.Element | None, name: str, default) -> np.ndarray:
    """The numbers of an attribute; flex_description has checked that they are finite."""
    text = element.get(name) if element is not None else None
    return np.array(default if text is None else [float(word) for word in text.split()])


def _visual(element: ElementTree.Element, palette: dict) -> Visual | None:
    geometry = element.find('geometry')
    shape = geometry[0] if geometry is not None and len(geometry) else None
    if shape is None:
        return None
    if shape.tag == 'box':
        size = _numbers(shape, 'size', (0.1, 0.1, 0.1))
    elif shape.tag in ('cylinder', 'sphere'):
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
    origin = element.find('origin')
    place = pose(from_rpy(_numbers(origin, 'rpy', (0.0, 0.0, 0.0))),
                 _numbers(origin, 'xyz', (0.0, 0.0, 0.0)))
    return Visual(shape.tag, place, size, colour, shape.get('filename', ''))


def mesh_path(uri: str, robot: Robot) -> Path:
    """The file of a mesh: package:// in the ament prefixes, file://, or beside the URDF."""
    parts = urlparse(uri)
    if parts.scheme == 'package':
        prefixes = os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
        inside = unquote(parts.path).lstrip('/')
        places = [Path(prefix) / 'share' / parts.netloc / inside for prefix in prefixes if prefix]
        return next((place for place in places if place.is_file()), Path(parts.netloc) / inside)
    if parts.scheme == 'file':
        return Path(unquote(parts.path))
    return Path(robot.source).resolve().parent / uri
