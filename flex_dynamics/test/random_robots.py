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
"""Random trees of rigid and flexible links, built from the records, for property tests."""
from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from flex_description.robot import (
    BeamProperties,
    FlexibleJoint,
    FlexibleLink,
    Inertia,
    Joint,
    Link,
    LumpedMass,
    Robot,
)
from flex_description.shapes.build import TipLoad, build_shapes


def random_pose(rng, size=0.5) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3] = Rotation.random(random_state=rng).as_matrix()
    pose[:3, 3] = rng.uniform(-size, size, 3)
    return pose


def random_inertia(rng) -> Inertia:
    points = rng.normal(size=(6, 3)) * 0.2
    centre = points.mean(axis=0)
    arms = points - centre
    tensor = sum(d @ d * np.eye(3) - np.outer(d, d) for d in arms) * 0.3
    return Inertia(6 * 0.3, centre, tensor)


class UniformBeam:
    """Length, breakpoints and constant properties, as build_shapes takes a beam."""

    uniform = True

    def __init__(self, length, values) -> None:
        self.length, self.breakpoints, self.values = length, (0.0, length), values

    def properties(self, x) -> BeamProperties:
        return BeamProperties(*(np.full(np.size(x), value) for value in self.values))


def random_beam(rng, name: str, counts, basis='craig-bampton') -> FlexibleLink:
    length = rng.uniform(0.5, 2.0)
    rho_a, r2 = rng.uniform(0.5, 3.0), 0.02 ** 2
    iy, iz = rho_a * r2 * rng.uniform(0.5, 1.5, 2)
    # Stiffness for which unit amplitudes bend visibly, as the fields are tested at large ones.
    stiffness = rng.uniform(50.0, 300.0, 3)
    beam = UniformBeam(length, (rho_a, iy, iz, *stiffness, 1e6))
    shapes = build_shapes(basis, counts, beam, TipLoad(), (), {})
    mass = random_inertia(rng)
    lump = LumpedMass(length * rng.uniform(0.3, 1.0), mass.mass * 0.2, mass.centre * 0.2,
                      mass.tensor * 0.05)
    return FlexibleLink(name, random_pose(rng, 0.2), length, beam.breakpoints, beam.properties,
                        *shapes, masses=(lump,), basis=basis)


def random_robot(seed: int, links=5, base='fixed', flexible=True, elastic_joints=True) -> Robot:
    """A tree of `links` moving links; base 'fixed', 'floating' or 'planar'."""
    rng = np.random.default_rng(seed)
    records = [Link('world')]
    joints: list[Joint] = []
    beams: dict[str, FlexibleLink] = {}
    for i in range(links):
        name = f'link{i + 1}'
        parent = records[rng.integers(0, len(records))].name if i else 'world'
        if i and parent == 'world' and base != 'fixed':
            parent = 'link1'
        kind = rng.choice(['revolute', 'prismatic', 'revolute', 'fixed'])
        if i == 0 and base != 'fixed':
            kind = base
        bends = flexible and rng.random() < 0.5
        if bends:
            counts = tuple(int(c) for c in rng.integers(1, 4, 3))
            beams[name] = random_beam(rng, name, counts)
        axis = rng.normal(size=3)
        section_x = None
        if parent in beams:
            section_x = float(beams[parent].length * rng.uniform(0.2, 1.0))
        spring = None
        if elastic_joints and kind == 'revolute' and rng.random() < 0.4:
            spring = FlexibleJoint(rng.uniform(50, 500), rng.uniform(1e-3, 0.1),
                                   rng.uniform(0.0, 1.0), rng.uniform(1.0, 20.0))
        joints.append(Joint(f'joint{i + 1}', str(kind), parent, name, random_pose(rng),
                            axis / np.linalg.norm(axis), flexible=spring, section_x=section_x,
                            damping=float(rng.uniform(0, 0.5))))
        records.append(Link(name, None if bends else random_inertia(rng), beams.get(name)))
    return Robot(f'random{seed}', tuple(records), tuple(joints))


def random_state(rng, model, elastic=0.05) -> tuple[np.ndarray, np.ndarray]:
    """Large joint motions and amplitudes of a few centimetres or degrees."""
    q, v = rng.uniform(-1.0, 1.0, model.n), rng.uniform(-1.0, 1.0, model.n)
    bending = np.array(['/' in name and not name.endswith('motor') and not
                        name.startswith('joint') for name in model.names])
    q[bending] *= elastic
    v[bending] *= elastic * 10
    return q, v
