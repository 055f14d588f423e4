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
"""From a Robot to the record of arrays that a Model holds: tree, packed arrays, payloads."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flex_description import Attachment, Inertia, Robot
from flex_dynamics import checks
from flex_dynamics.build.beam_fields import BeamFields
from flex_dynamics.build.constraints import ConstraintSet, constraint_set
from flex_dynamics.build.pack import Packed, pack
from flex_dynamics.build.tree import NodeTree, build_tree, translation
from flex_dynamics.errors import DynamicsError

ORDERS = ('linear', 'first', 'second')


@dataclass(frozen=True)
class AttachedPayload:
    """A rigid body that a model carries: inertia in the axes of `frame`, at x (m) of its beam."""

    frame: str
    inertia: Inertia
    x: float | None = None


@dataclass(frozen=True, eq=False)
class Assembly:
    """A robot as the arrays of the kernels. Nothing in it changes once a Model holds it.

    beams: integrals of the mode shapes by link, shared between the models of one robot.
    """

    robot: Robot
    order: str
    payloads: Mapping[str, AttachedPayload]
    extra_sections: tuple[tuple[str, float], ...]
    beams: dict[Any, Any]
    tree: NodeTree
    packed: Packed
    gravity: np.ndarray
    constraints: ConstraintSet

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """table, body, coef and size, as kernels/base/layout.py describes them."""
        return self.packed.table, self.packed.body, self.packed.coef, self.packed.size

    @property
    def names(self) -> tuple[str, ...]:
        return self.packed.names

    def changed(self, robot: Robot | None = None,
                payloads: Mapping[str, AttachedPayload] | None = None,
                extra_sections: tuple[tuple[str, float], ...] | None = None) -> Assembly:
        """The same robot with another gravity, other payloads or more sections."""
        return assemble(self.robot if robot is None else robot, self.order,
                        self.payloads if payloads is None else payloads,
                        self.extra_sections if extra_sections is None else extra_sections,
                        self.beams)

    def with_gravity(self, gravity: np.ndarray) -> Assembly:
        return self.changed(robot=replace(self.robot, gravity=gravity))

    def locate(self, frame: str, x: float | None) -> tuple[int, float | None, np.ndarray]:
        """Node, station on its beam (None if the frame is fixed in the node) and offset pose."""
        return _locate(self.robot, self.tree, frame, x)

    def carrier(self, frame: str, x: float | None) -> tuple[int, np.ndarray]:
        """Node (-1: the world) in which a frame is fixed, and its pose (4, 4) there."""
        node, station, offset = self.locate(frame, x)
        if station is not None:
            if not self.tree.has_section(node, station):
                raise DynamicsError(f'{frame!r} at x = {station:g} m: expected a section with a '
                                    f'node, found none there; with_sections_at([({frame!r}, '
                                    f'{station:g})]) gives a model that has one')
            node = self.tree.section(node, station)
        return node, offset

    def beam(self, link: str) -> tuple[int, BeamFields]:
        """Node and deformation fields of a flexible link."""
        checks.text(link, 'link', 'the name of a flexible link')
        for node, fields in self.packed.fields.items():
            if self.tree.nodes[node].flexible_link.link == link:
                return node, fields
        known = ', '.join(f.flexible.link for f in self.packed.fields.values()) or 'none'
        raise DynamicsError(f'{link!r} is not a flexible link; flexible links: {known}')


def assemble(robot: Robot, order: str, payloads: Mapping[str, AttachedPayload] | None = None,
             extra_sections: tuple[tuple[str, float], ...] = (),
             beams: dict[Any, Any] | None = None) -> Assembly:
    """Build the arrays of a robot; the damping of its beams follows (build/damping.py).

    extra_sections: (link, x) of beam sections that get a node although nothing hangs there.
    beams: integrals of the mode shapes that another model of the robot has already.
    """
    attached = dict(payloads or {})
    beams = {} if beams is None else beams
    tree = build_tree(robot)
    for payload in attached.values():
        node, section, offset = _locate(robot, tree, payload.frame, payload.x)
        if section is None and node >= 0 and tree.nodes[node].beam is not None:
            section = 0.0        # a beam's node has no body of its own: the root carries it
        if section is not None:
            node = tree.section(node, section)
        if node >= 0:
            tree.nodes[node].add_inertia(payload.inertia, offset)
    for link, station in extra_sections:
        tree.section(tree.places[link].node, station)

    def place(at: Attachment) -> tuple[int, np.ndarray]:
        node, section, offset = _locate(robot, tree, at.frame, at.x)
        return node if section is None else tree.section(node, section), offset @ at.pose

    constraints = constraint_set(robot, place, tree.home)
    if not tree.nodes:
        raise DynamicsError(f'{robot.source}: robot {robot.name}: expected at least one joint '
                            'that moves or flexible link, found none: nothing can move; for a '
                            'body that flies, join it to a world link by a floating joint')
    packed = pack(tree, order, beams)
    gravity = checks.finite(robot.gravity, 'gravity of the robot', (3,)).copy()
    return Assembly(robot, order, attached, extra_sections, beams, tree, packed, gravity,
                    constraints)


def _locate(robot: Robot, tree: NodeTree, frame: str,
            x: float | None) -> tuple[int, float | None, np.ndarray]:
    checks.text(frame, 'frame', f'the name of a link or frame of {robot.name}')
    frames = {f.name: f for f in robot.frames}
    places = tree.places
    if frame in places:
        place, pose, section = places[frame], np.eye(4), None
    elif frame in frames:
        place, pose = places[frames[frame].link], frames[frame].pose
        section = frames[frame].section_x
    else:
        raise DynamicsError(f'unknown frame {frame!r}: expected a link or frame of {robot.name}'
                            f'{checks.did_you_mean(frame, [*places, *frames])}')
    beam = tree.nodes[place.node].beam if place.node >= 0 else None
    if x is None and (section is None or beam is None):
        return place.node, None, place.pose @ pose
    if beam is None:
        raise DynamicsError(f'{frame!r} is not on a flexible link: leave x out')
    if x is not None:
        return place.node, checks.station(x, frame, beam.length), np.eye(4)
    station = float(section if section is not None else 0.0)
    return place.node, station, np.linalg.inv(translation(station)) @ place.pose @ pose
