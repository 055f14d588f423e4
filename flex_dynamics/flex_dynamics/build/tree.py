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
"""From a Robot to a tree of nodes: rigid bodies and beams behind joints, and sections of beams.

Links fixed to a rigid link melt into it. Whatever hangs on a beam hangs on a node of its own at
that section, lumped masses included, so that only this one kind of node knows how a beam carries.
A beam's node has the beam's axes; its joint's screw is expressed there.
"""
from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from flex_description import FlexibleLink, Inertia, Joint, Mimic, Robot
from flex_description.math import parallel_axes, rotated_tensor
from flex_dynamics.kernels.base import layout


@dataclass
class Node:
    """One row of the kernels' tables, in the making."""

    name: str
    parent: int
    kind: int
    pose: np.ndarray                                  # in the parent at q = 0
    joint: Joint | None = None
    axis: np.ndarray = field(default_factory=lambda: np.zeros(3))
    point: np.ndarray = field(default_factory=lambda: np.zeros(3))
    beam: FlexibleLink | None = None
    section_x: float = 0.0
    mass: float = 0.0
    moment: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))

    @property
    def flexible_link(self) -> FlexibleLink:
        assert self.beam is not None, f'node {self.name} is not a beam'
        return self.beam

    @property
    def own_joint(self) -> Joint:
        assert self.joint is not None, f'node {self.name} has no joint'
        return self.joint

    @property
    def mimic(self) -> Mimic | None:
        """What its joint follows."""
        moves = self.kind in (layout.REVOLUTE, layout.PRISMATIC)
        return self.joint.mimic if self.joint is not None and moves else None

    def add_inertia(self, inertia: Inertia, pose: np.ndarray) -> None:
        """Add a rigid body given in a frame that has this pose in the node."""
        centre = pose[:3, :3] @ inertia.centre + pose[:3, 3]
        turned = rotated_tensor(inertia.tensor, pose[:3, :3])
        self.mass += inertia.mass
        self.moment = self.moment + inertia.mass * centre
        self.inertia = self.inertia + turned + parallel_axes(inertia.mass, centre)


@dataclass(frozen=True)
class Place:
    """Where a link is: its frame's pose in a node (-1 is the world)."""

    node: int
    pose: np.ndarray


@dataclass
class NodeTree:
    """The nodes of a robot, parents before children, and where its links are."""

    nodes: list[Node]
    places: dict[str, Place]
    sections: dict[tuple[int, float], int]            # (beam node, x) -> section node

    def _key(self, beam_node: int, x: float) -> tuple[int, float]:
        return beam_node, round(x / self.nodes[beam_node].flexible_link.length, 9)

    def has_section(self, beam_node: int, x: float) -> bool:
        return self._key(beam_node, x) in self.sections

    def section(self, beam_node: int, x: float) -> int:
        """The node of the section at x, made when first asked for."""
        key = self._key(beam_node, x)
        if key not in self.sections:
            name = f'{self.nodes[beam_node].name}@{x:g}'
            self.sections[key] = len(self.nodes)
            self.nodes.append(Node(name, beam_node, layout.ON_BEAM, np.eye(4), section_x=x))
        return self.sections[key]

    def home(self, node: int) -> np.ndarray:
        """Pose (4, 4) of a node in the world at q = 0; -1: the world."""
        pose = np.eye(4)
        while node >= 0:
            row = self.nodes[node]
            pose = row.pose @ translation(row.section_x) @ pose
            node = row.parent
        return pose


def translation(x: float) -> np.ndarray:
    pose = np.eye(4)
    pose[0, 3] = x
    return pose


JOINT_KINDS = {'revolute': layout.REVOLUTE, 'continuous': layout.REVOLUTE,
               'prismatic': layout.PRISMATIC, 'fixed': layout.FIXED, 'planar': layout.PLANAR,
               'floating': layout.FLOATING}


def build_tree(robot: Robot) -> NodeTree:
    tree = NodeTree([], {}, {})
    links = {link.name: link for link in robot.links}
    root = robot.links[0]
    if root.flexible is None:
        tree.places[root.name] = Place(-1, np.eye(4))
    else:
        _add_beam(tree, root.flexible, -1, root.flexible.origin, layout.FIXED, None)
    for joint in robot.joints:
        parent, origin = _carrier(tree, links[joint.parent].flexible, joint)
        child = links[joint.child]
        kind = JOINT_KINDS[joint.type]
        if child.flexible is not None and kind in (layout.PLANAR, layout.FLOATING):
            # The base's screws assume the joint's frame: the beam is fixed to a node of its own.
            parent = _add_node(tree, Node(joint.child, parent, kind, origin, joint,
                                          axis=joint.axis))
            origin, kind = np.eye(4), layout.FIXED
        if child.flexible is not None:
            pose = origin @ child.flexible.origin
            _add_beam(tree, child.flexible, parent, pose, kind, joint)
            continue
        if kind == layout.FIXED:
            tree.places[joint.child] = Place(parent, origin)
        else:
            node = _add_node(tree, Node(joint.child, parent, kind, origin, joint,
                                        axis=joint.axis))
            tree.places[joint.child] = Place(node, np.eye(4))
        place = tree.places[joint.child]
        if child.inertia is not None and place.node >= 0:
            tree.nodes[place.node].add_inertia(child.inertia, place.pose)
    return tree


def _add_node(tree: NodeTree, node: Node) -> int:
    tree.nodes.append(node)
    return len(tree.nodes) - 1


def _add_beam(tree: NodeTree, beam: FlexibleLink, parent: int, pose: np.ndarray, kind: int,
              joint: Joint | None) -> None:
    back = np.linalg.inv(beam.origin)
    axis = back[:3, :3] @ joint.axis if joint is not None else np.zeros(3)
    node = _add_node(tree, Node(beam.link, parent, kind, pose, joint, axis, back[:3, 3], beam))
    tree.places[beam.link] = Place(node, back)
    for mass in beam.masses:
        section = tree.section(node, mass.x)
        tree.nodes[section].add_inertia(Inertia(mass.mass, mass.centre, mass.tensor), np.eye(4))


def _carrier(tree: NodeTree, beam: FlexibleLink | None, joint: Joint) -> tuple[int, np.ndarray]:
    """Node that carries a joint, and the joint's frame in it."""
    place = tree.places[joint.parent]
    if beam is None:
        return place.node, place.pose @ joint.origin
    x = joint.section_x if joint.section_x is not None else beam.length
    in_beam = np.linalg.inv(beam.origin) @ joint.origin
    return tree.section(place.node, x), np.linalg.inv(translation(x)) @ in_beam
