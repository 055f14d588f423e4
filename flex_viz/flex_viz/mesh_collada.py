"""Triangles of a COLLADA file (.dae), placed as its visual scene says; looks are left out.

Its up axis is left out too, as RViz does: the file's axes are those of the link.
"""
from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np

from flex_viz.bent_beam import exponential

FACES = ('triangles', 'polylist', 'polygons')


def collada_triangles(data: bytes) -> np.ndarray:
    """Triangles (f, 3, 3) in m."""
    if b'<!ENTITY' in data:
        raise ValueError('entities, which no mesh needs')
    root = ElementTree.fromstring(data)
    for element in root.iter():
        element.tag = element.tag.rpartition('}')[2]
    unit = root.find('asset/unit')
    meter = float(unit.get('meter', '1')) if unit is not None else 1.0
    outer = np.diag((meter, meter, meter, 1.0))
    geometries = {element.get('id'): _geometry(element) for element in root.iter('geometry')}
    nodes = {element.get('id'): element for element in root.iter('node')}
    pieces: list[np.ndarray] = []

    def walk(node: ElementTree.Element, pose: np.ndarray, depth: int) -> None:
        if depth > 100:
            raise ValueError('nodes nested too deep')
        for part in node:
            if part.tag in MOVES:
                pose = pose @ MOVES[part.tag](_floats(part))
            elif part.tag == 'instance_geometry':
                triangles = geometries[part.get('url', '')[1:]]
                pieces.append(triangles @ pose[:3, :3].T + pose[:3, 3])
            elif part.tag == 'instance_node':
                walk(nodes[part.get('url', '')[1:]], pose, depth + 1)
            elif part.tag == 'node':
                walk(part, pose, depth + 1)

    for scene in root.iter('visual_scene'):
        walk(scene, outer, 0)
    if not pieces:
        raise ValueError('a scene without geometry')
    return np.concatenate(pieces)


def _floats(element: ElementTree.Element) -> np.ndarray:
    return np.array((element.text or '').split(), dtype=float)


def _translate(values: np.ndarray) -> np.ndarray:
    out = np.eye(4)
    out[:3, 3] = values
    return out


def _rotate(values: np.ndarray) -> np.ndarray:
    out = np.eye(4)
    axis = values[:3] / np.linalg.norm(values[:3])
    out[:3, :3] = exponential(np.radians(values[3]) * axis[None])[0]
    return out


MOVES = {'matrix': lambda values: values.reshape(4, 4), 'translate': _translate,
         'rotate': _rotate, 'scale': lambda values: np.diag((*values, 1.0))}


def _geometry(geometry: ElementTree.Element) -> np.ndarray:
    """Triangles (f, 3, 3) of one <geometry>, in its own frame."""
    arrays = {source.get('id'): _floats(array).reshape(-1, 3) for source in geometry.iter('source')
              if (array := source.find('float_array')) is not None
              and int(array.get('count', '0')) % 3 == 0}
    sources = {element.get('id'): part.get('source', '')[1:]
               for element in geometry.iter('vertices') for part in element.findall('input')
               if part.get('semantic') == 'POSITION'}
    pieces = [np.zeros((0, 3, 3))]
    for faces in (element for tag in FACES for element in geometry.iter(tag)):
        inputs = {part.get('semantic'): part for part in faces.findall('input')}
        stride = 1 + max(int(part.get('offset', '0')) for part in faces.findall('input'))
        vertex = inputs['VERTEX']
        points = arrays[sources[vertex.get('source', '')[1:]]]
        lists = [np.array((p.text or '').split(), dtype=int)
                 .reshape(-1, stride)[:, int(vertex.get('offset', '0'))]
                 for p in faces.findall('p')]
        if faces.tag == 'triangles':
            corners = np.concatenate(lists).reshape(-1, 3)
        else:
            if faces.tag == 'polylist':
                counts = np.array(faces.findtext('vcount', '').split(), dtype=int)
                lists = np.split(np.concatenate(lists), np.cumsum(counts)[:-1])
            corners = np.array([(ring[0], ring[k], ring[k + 1]) for ring in lists
                                for k in range(1, len(ring) - 1)], dtype=int).reshape(-1, 3)
        pieces.append(points[corners])
    return np.concatenate(pieces)
