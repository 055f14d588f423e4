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
"""Collisions between the links of a robot whose shapes are cylinders, each taken as a capsule.

A capsule has the cylinder's axis and radius, and caps beyond its ends: it contains the cylinder.
What is free of collisions here is so for the cylinders too.
"""
from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

import numpy as np

from flex_description import load_robot
from flex_description.math import rotation_from_rpy
from flex_dynamics import Model


class LinkCapsules:
    """The collision shapes of the links of a robot, by name or path."""

    def __init__(self, robot: str) -> None:
        self.robot = load_robot(robot)
        self.model = Model(self.robot)
        self.shapes: dict[str, list[tuple[np.ndarray, float]]] = {}
        for link in ElementTree.fromstring(self.robot.urdf).findall('link'):
            for collision in link.findall('collision'):
                self.shapes.setdefault(link.get('name'), []).append(_capsule(collision))
        joints = [(joint.parent, joint.child) for joint in self.robot.joints]
        self.adjacent = {frozenset(pair) for pair in joints}
        self.pairs = [frozenset(pair) for pair in combinations(self.shapes, 2)]

    def clearances(self, q: np.ndarray) -> dict[frozenset[str], float]:
        """Distance (m) between the capsules of each pair of links at joints q (n_joints,);
        negative where they overlap."""
        placed = {}
        for link, shapes in self.shapes.items():
            pose = self.model.pose(q, link)
            placed[link] = [(ends @ pose[:3, :3].T + pose[:3, 3], radius)
                            for ends, radius in shapes]
        return {pair: min(_distance(a, b) - r - s for a, r in placed[sorted(pair)[0]]
                          for b, s in placed[sorted(pair)[1]]) for pair in self.pairs}

    def random_joints(self, rng: np.random.Generator) -> np.ndarray:
        limits = self.model.joint_limits
        return rng.uniform(np.maximum(limits.lower, -np.pi), np.minimum(limits.upper, np.pi))


def _capsule(collision: ElementTree.Element) -> tuple[np.ndarray, float]:
    """Ends (2, 3) of the axis in the link's frame, and the radius."""
    origin, cylinder = collision.find('origin'), collision.find('geometry/cylinder')
    assert cylinder is not None
    given = {} if origin is None else origin.attrib
    xyz, rpy = (np.array([float(word) for word in given.get(key, '0 0 0').split()])
                for key in ('xyz', 'rpy'))
    half = 0.5 * float(cylinder.get('length'))
    axis = rotation_from_rpy(rpy) @ [0.0, 0.0, half]
    return np.array([xyz - axis, xyz + axis]), float(cylinder.get('radius'))


def _distance(a: np.ndarray, b: np.ndarray) -> float:
    """Between two segments, each given by its ends (2, 3)."""
    u, v, w = a[1] - a[0], b[1] - b[0], a[0] - b[0]
    uu, uv, vv, uw, vw = u @ u, u @ v, v @ v, u @ w, v @ w
    across = uu * vv - uv**2
    s = np.clip((uv * vw - vv * uw) / across, 0.0, 1.0) if across > 1e-12 else 0.0
    t = np.clip((uv * s + vw) / vv, 0.0, 1.0)
    s = np.clip((uv * t - uw) / uu, 0.0, 1.0)
    return float(np.linalg.norm(w + s * u - t * v))
