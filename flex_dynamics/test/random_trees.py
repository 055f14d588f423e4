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
"""Random robots as URDF, with all that a flexible robot may have, and random states of them.

A tree is given by its seed. Over a few dozen seeds there are: every mode basis, on uniform,
tapered and piecewise beams of all section shapes; links on any section of a beam, off its axis;
revolute, prismatic and fixed joints, elastic ones of both kinds, dampers and dry friction; lumped
masses; payloads; fixed, floating and planar bases, and beams clamped in the world.
"""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from field_witness import Witness
from random_beams import BeamWriter, numbers, origin, random_body, random_pose, tensor_words

from flex_description import Robot, load_robot
from flex_description.robot import Inertia
from flex_description.shapes import BASES

ROOTS = ('fixed', 'floating', 'fixed', 'planar', 'beam')
SHARES = (0.002, 0.02, 0.05, 0.1, 0.2)     # largest deflection by length; twist is 2.5 times it


@dataclass(frozen=True)
class Tree:
    """A robot, what it carries: (frame, body, x) each, and how far it is bent and twisted."""

    seed: int
    robot: Robot
    payloads: tuple[tuple[str, Inertia, float | None], ...]
    share: float


class Writer(BeamWriter):
    """Writes one robot; files of shapes go into a folder."""

    def write(self) -> str:
        rng, self.root = self.rng, ROOTS[self.seed % len(ROOTS)]
        self.parts.append('<link name="world"/>')
        if self.root == 'beam':
            self._beam('world', BASES[self.seed % len(BASES)])
        else:
            self.links['world'] = None
        count = int(rng.integers(2, 6))
        for i in range(1, count + 1):
            self._link(f'link{i}', i, last=i == count)
        gravity = [0.0, 0.0, -9.81] if self.chance(0.5) else rng.normal(size=3) * 5.0
        return '\n'.join([*self.parts, f'<gravity xyz="{numbers(gravity)}"/>', '</robot>'])

    def _link(self, name: str, i: int, last: bool) -> None:
        rng = self.rng
        free = i == 1 and self.root in ('floating', 'planar')
        parents = list(self.links)
        if self.root in ('floating', 'planar') and i > 1:
            parents.remove('world')
        # Rather a late parent than an early one: chains are as frequent as bushes.
        parent = parents[-1] if self.chance(0.5) else parents[rng.integers(len(parents))]
        kind = self.root if free else str(rng.choice(
            ['revolute', 'continuous', 'prismatic', 'fixed'], p=[0.4, 0.15, 0.3, 0.15]))
        bends = self.chance(0.6) or (last and not self.beams)
        basis = BASES[(self.seed + self.beams) % len(BASES)]
        pinned = bends and basis.startswith('pinned')
        axis = rng.normal(size=3)
        extra = ''
        if kind in ('revolute', 'continuous', 'prismatic'):
            if self.chance(0.5):
                friction = rng.uniform(0.0, 0.5) if self.chance(0.3) else 0.0
                extra = f'<dynamics damping="{rng.uniform(0.0, 0.5)!r}" friction="{friction!r}"/>'
            if not pinned and self.chance(0.4):
                self.parts.append(
                    f'<flexible_joint joint="joint{i}" stiffness="{rng.uniform(50, 500)!r}" '
                    f'damping="{rng.uniform(0, 1)!r}" motor_inertia="{rng.uniform(0.01, 0.1)!r}" '
                    f'gear_ratio="{rng.uniform(1.0, 20.0)!r}"/>')
        self.parts.append(
            f'<joint name="joint{i}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="{name}"/>{origin(self._place(parent))}<axis xyz="{numbers(axis)}"/>'
            f'<limit lower="-9" upper="9" effort="1e6" velocity="1e3"/>{extra}</joint>')
        if bends:
            self.parts.append(f'<link name="{name}"/>')
            self._beam(name, basis)
            return
        body = random_body(rng, rng.uniform(0.5, 4.0), 0.15)
        self.parts.append(
            f'<link name="{name}"><inertial><origin xyz="{numbers(body.centre)}"/>'
            f'<mass value="{body.mass!r}"/><inertia {tensor_words(body.tensor)}/></inertial>'
            '</link>')
        self.links[name] = None

    def _place(self, parent: str) -> np.ndarray:
        """A joint's frame in its parent: anywhere on a rigid link; on a beam its end or a section
        in the middle, on its axis or off it."""
        length = self.links[parent]
        if length is None:
            return random_pose(self.rng, 0.4)
        place = random_pose(self.rng, 0.0)
        place[0, 3] = length if self.chance(0.5) else length * self.rng.uniform(0.15, 0.95)
        if self.chance(0.6):
            place[1:3, 3] = self.rng.uniform(-0.1, 0.1, 2)
        return self.origins[parent] @ place


def random_tree(seed: int, folder: Path) -> Tree:
    """The tree of a seed; tables of shapes are written into the folder."""
    writer = Writer(seed, folder)
    robot = load_robot(writer.write())
    rng = np.random.default_rng((seed, 1))
    share = SHARES[rng.integers(len(SHARES))]
    payloads = []
    for link in robot.links[1:]:
        if rng.random() < 0.2:
            beam, body = link.flexible, random_body(rng, rng.uniform(0.2, 2.0), 0.1)
            if beam is None:
                payloads.append((link.name, body, None))
            elif rng.random() < 0.5:
                payloads.append((f'{link.name}/tip', body, None))
            else:
                payloads.append((link.name, body, float(beam.length * rng.uniform(0.2, 1.0))))
    return Tree(seed, robot, tuple(payloads), share)


def features(tree: Tree) -> set[str]:
    """What a tree has, for counting over many."""
    beams = {link.name: link.flexible for link in tree.robot.links if link.flexible is not None}
    found = {f'basis {beam.basis}' for beam in beams.values()}
    found.add(f'bent by {tree.share:.1%}')
    for beam in beams.values():
        x = np.linspace(0.01, 0.99, 30) * beam.length
        density = beam.properties(x).mass_per_length
        changes = np.sum(np.abs(np.diff(density)) > 1e-9 * density.max())
        found.add('uniform beam' if not changes else
                  'tapered beam' if changes > 2 else 'piecewise uniform beam')
        if beam.masses:
            found.add('lumped masses')
    for joint in tree.robot.joints:
        found.add(f'{joint.type} joint')
        if joint.flexible is not None:
            found.add(f'elastic {joint.type} joint')
        if joint.section_x is not None and joint.section_x < 0.99 * beams[joint.parent].length:
            found.add('branch at mid-beam')
    if tree.payloads:
        found.add('payload')
    if any(x is not None or '/' in frame for frame, _, x in tree.payloads):
        found.add('payload on a beam')
    if tree.robot.links[0].flexible is not None:
        found.add('beam clamped in the world')
    return found


def random_state(tree: Tree, witness: Witness) -> tuple[np.ndarray, np.ndarray]:
    """Large joint motions; every beam bent by the tree's share of its length, twisted by 2.5 times
    that (rad), both moving by several times that in a second."""
    rng = np.random.default_rng((tree.seed, 2))
    q, v = rng.uniform(-1.5, 1.5, (2, witness.n))
    for name, own in witness.elastic.items():
        beam = witness.beams[name]
        falling = np.concatenate([np.arange(1.0, count + 1.0) for count in beam.counts])
        for vector, speed in ((q, 1.0), (v, rng.uniform(2.0, 8.0))):
            eta = rng.uniform(-1.0, 1.0, len(falling)) / falling**rng.integers(0, 3)
            for part, largest in ((slice(sum(beam.counts[:2])), tree.share * beam.link.length),
                                  (slice(sum(beam.counts[:2]), None), 2.5 * tree.share)):
                field = beam.r1 if part.stop is not None else beam.t1
                size = np.linalg.norm(field[:, :, part] @ eta[part], axis=1).max(initial=0.0)
                if size > 0.0:
                    eta[part] *= speed * largest / size
            vector[own] = eta
    return q, v
