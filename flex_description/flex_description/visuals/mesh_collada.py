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
"""Triangles of a COLLADA file (.dae), placed by its visual scene, with the diffuse colours of its
materials; textures are ignored.

The up axis is ignored too, as in RViz: the axes of the file are those of the link.
"""
from __future__ import annotations

import array
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flex_description.errors import one_line
from flex_description.math import Array, exponential
from flex_description.visuals.mesh_limits import check_count

FACES = ('triangles', 'polylist', 'polygons')
ELEMENTS, NESTED = 500_000, 200      # limits of a file: number and depth
INSTANCES, DEPTH = 100_000, 100      # limits of its scene: number and depth
NO_COLOUR = (np.nan,) * 4
WORD = re.compile(r'\S+')


class _Builder(ElementTree.TreeBuilder):
    """Rejects a DOCTYPE, which may declare entities, in any encoding, and files that would exhaust
    the memory."""

    def __init__(self) -> None:
        super().__init__()
        self._count = self._depth = 0

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise ValueError('a DOCTYPE, in which entities may be declared and which no mesh needs')

    def start(self, tag: str, attrs: dict[Any, Any]) -> ElementTree.Element:
        self._count, self._depth = self._count + 1, self._depth + 1
        if self._count > ELEMENTS:
            raise ValueError(f'more than {ELEMENTS} elements')
        if self._depth > NESTED:
            raise ValueError(f'elements nested more than {NESTED} deep')
        return super().start(tag.rpartition('}')[2], attrs)

    def end(self, tag: str) -> ElementTree.Element:
        self._depth -= 1
        return super().end(tag.rpartition('}')[2])


def collada_mesh(data: bytes) -> tuple[Array, Array]:
    """Triangles (f, 3, 3) in m and their colours (f, 4): red, green, blue, opacity, 0 to 1, NaN
    where the file gives none. ValueError, KeyError or SyntaxError for other data."""
    parser = ElementTree.XMLParser(target=_Builder())
    parser.feed(data)
    return _Scene(parser.close()).triangles()


class _Scene:
    """Walks the visual scenes, and counts the visited nodes.

    Nodes may instantiate others, which instantiate others: 40 nodes, each with two instances of
    the next one, are 2^40 nodes.
    """

    def __init__(self, root: ElementTree.Element) -> None:
        self._root = root
        self._nodes = {element.get('id'): element for element in root.iter('node')}
        self._geometries = {element.get('id'): element for element in root.iter('geometry')}
        # Geometries, read on demand: triangles, the number of each one's material, their names.
        self._read: dict[str, tuple[Array, NDArray[Any], list[str]]] = {}
        self._colours = _materials(root)
        self._moves: dict[ElementTree.Element, Array] = {}
        self._pieces: list[Array] = []
        self._painted: list[Array] = []
        self._visited = self._count = 0

    def triangles(self) -> tuple[Array, Array]:
        unit = self._root.find('asset/unit')
        meter = float(unit.get('meter', '1')) if unit is not None else 1.0
        for scene in self._root.iter('visual_scene'):
            self._walk(scene, np.diag((meter, meter, meter, 1.0)), 0)
        if not self._pieces:
            raise ValueError('a scene without geometry')
        return np.concatenate(self._pieces), np.concatenate(self._painted)

    def _walk(self, node: ElementTree.Element, pose: Array, depth: int) -> None:
        if depth > DEPTH:
            raise ValueError(f'nodes nested more than {DEPTH} deep, or instances of themselves')
        for part in node:
            self._visited += 1
            if self._visited > INSTANCES:
                raise ValueError(f'more than {INSTANCES} nodes and instances in its scene')
            if part.tag in MOVES:
                pose = pose @ self._move(part)
            elif part.tag == 'instance_geometry':
                self._place(part, pose)
            elif part.tag == 'instance_node':
                self._walk(_found(self._nodes, part.get('url', '')[1:], 'node'), pose, depth + 1)
            elif part.tag == 'node':
                self._walk(part, pose, depth + 1)

    def _move(self, part: ElementTree.Element) -> Array:
        if part not in self._moves:
            count, read = MOVES[part.tag]
            values = _numbers(part.text, float)
            if len(values) != count:
                raise ValueError(f'<{part.tag}> with {len(values)} numbers instead of {count}')
            self._moves[part] = read(values)
        return self._moves[part]

    def _place(self, instance: ElementTree.Element, pose: Array) -> None:
        name = instance.get('url', '')[1:]
        if name not in self._read:
            self._read[name] = _geometry(_found(self._geometries, name, 'geometry'))
        triangles, materials, symbols = self._read[name]
        self._count += len(triangles)
        check_count(self._count)
        self._pieces.append(triangles @ pose[:3, :3].T + pose[:3, 3])
        bound = {part.get('symbol', ''): part.get('target', '')[1:]
                 for part in instance.iter('instance_material')}
        # The last row is that of triangles without a material.
        colours = [self._colours.get(bound.get(symbol, symbol), NO_COLOUR) for symbol in symbols]
        self._painted.append(np.array([*colours, NO_COLOUR])[materials])


def _materials(root: ElementTree.Element) -> dict[str, tuple[float, ...]]:
    """Diffuse colours by the id of their material; materials with a texture have none."""
    effects: dict[str, tuple[float, ...]] = {}
    for effect in root.iter('effect'):
        colour = next(effect.iter('diffuse'), None)
        found = colour.find('color') if colour is not None else None
        values = _numbers(found.text, float) if found is not None else np.zeros(0)
        if len(values) in (3, 4) and (np.abs(values) <= 1e3).all():
            red, green, blue, *_ = np.clip(values, 0.0, 1.0).tolist()
            effects[effect.get('id', '')] = (red, green, blue, 1.0)
    colours: dict[str, tuple[float, ...]] = {}
    for material in root.iter('material'):
        instance = material.find('instance_effect')
        name = instance.get('url', '')[1:] if instance is not None else ''
        if name in effects:
            colours[material.get('id', '')] = effects[name]
    return colours


def _found(elements: dict[str | None, ElementTree.Element], name: str,
           kind: str) -> ElementTree.Element:
    if name not in elements:
        raise ValueError(f'a {kind} {one_line(name, 80)!r} that is not there')
    return elements[name]


def _numbers(text: str | None, kind: type) -> NDArray[Any]:
    """Numbers in a text, one by one: a list of words would take ten times the memory."""
    words = (kind(found[0]) for found in WORD.finditer(text or ''))
    return np.array(array.array('d' if kind is float else 'q', words))


def _translate(values: Array) -> Array:
    out = np.eye(4)
    out[:3, 3] = values
    return out


def _rotate(values: Array) -> Array:
    out = np.eye(4)
    length = np.linalg.norm(values[:3])
    if not length > 0.0:
        raise ValueError('<rotate> about an axis without length')
    out[:3, :3] = exponential(np.radians(values[3]) * (values[:3] / length)[None])[0]
    return out


# Count of numbers, and the transform that they define.
MOVES: dict[str, tuple[int, Callable[[Array], Array]]] = {
    'matrix': (16, lambda values: values.reshape(4, 4)), 'translate': (3, _translate),
    'rotate': (4, _rotate), 'scale': (3, lambda values: np.diag((*values, 1.0)))}


def _geometry(geometry: ElementTree.Element) -> tuple[Array, NDArray[Any], list[str]]:
    """Triangles (f, 3, 3) of one <geometry>, in its own frame, the numbers (f,) of their materials
    (-1: none), and the names of these."""
    arrays = {source.get('id'): found for source in geometry.iter('source')
              if (found := source.find('float_array')) is not None}
    sources = {element.get('id'): part.get('source', '')[1:]
               for element in geometry.iter('vertices') for part in element.findall('input')
               if part.get('semantic') == 'POSITION'}
    read: dict[str, Array] = {}
    pieces, count = [np.zeros((0, 3, 3))], 0
    materials, symbols = [np.zeros(0, dtype=int)], dict[str, int]()
    for faces in (element for tag in FACES for element in geometry.iter(tag)):
        inputs = {part.get('semantic'): part for part in faces.findall('input')}
        if 'VERTEX' not in inputs:
            raise ValueError(f'<{faces.tag}> without vertices')
        offsets = [int(part.get('offset', '0')) for part in faces.findall('input')]
        if not 0 <= min(offsets) <= max(offsets) < 100:
            raise ValueError(f'<{faces.tag}> whose offsets are not 0 to 99')
        vertex = inputs['VERTEX']
        name = sources.get(vertex.get('source', '')[1:], '')
        if name not in read:
            read[name] = _numbers(_found(arrays, name, 'source').text, float).reshape(-1, 3)
        lists = [_numbers(p.text, int).reshape(-1, 1 + max(offsets))[
            :, int(vertex.get('offset', '0'))] for p in faces.findall('p')]
        corners = _corners(faces, lists)
        if corners.size and not 0 <= corners.min() <= corners.max() < len(read[name]):
            raise ValueError('a face of a vertex that is not there')
        count += len(corners)
        check_count(count)
        pieces.append(read[name][corners])
        symbol = faces.get('material')
        number = -1 if symbol is None else symbols.setdefault(symbol, len(symbols))
        materials.append(np.full(len(corners), number))
    return np.concatenate(pieces), np.concatenate(materials), list(symbols)


def _corners(faces: ElementTree.Element, lists: list[NDArray[Any]]) -> NDArray[Any]:
    """Indices (f, 3) of the corners of triangles: polygons are split into fans."""
    joined = np.concatenate(lists) if lists else np.zeros(0, dtype=int)
    if faces.tag == 'triangles':
        return joined.reshape(-1, 3)
    sizes = np.array([len(ring) for ring in lists], dtype=int)
    if faces.tag == 'polylist':
        sizes = _numbers(faces.findtext('vcount'), int)
        if (sizes < 0).any() or (sizes > len(joined)).any() or sizes.sum() != len(joined):
            raise ValueError('<vcount> that does not fit <p>')
    fans = np.maximum(sizes - 2, 0)
    check_count(int(fans.sum()))
    first = np.repeat(np.cumsum(sizes) - sizes, fans)
    step = np.arange(fans.sum()) - np.repeat(np.cumsum(fans) - fans, fans)
    rows: NDArray[Any] = joined[np.column_stack((first, first + step + 1, first + step + 2))]
    return rows
