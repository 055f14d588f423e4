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
"""lump: the links of a flexible robot as rigid bodies on springs, in one tree of bodies."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from flex_description.errors import RobotError, quoted
from flex_description.link_modes import loads_of
from flex_description.lumping.beam_chain import BeamChain, Spring, cut_beam
from flex_description.math import Array, pose
from flex_description.rigid_inertia import transformed
from flex_description.robot import (
    FlexibleLink,
    Frame,
    Inertia,
    Joint,
    Limits,
    Link,
    Mimic,
    Robot,
)

MOST_SEGMENTS = 100
# Part of its inertia that a body gives to each body that would have none; other programs refuse
# moving bodies without mass.
SHARE = 1e-3
ROUND = ('circle', 'hollow_circle')
FREE = 0.5 * np.pi      # rad, limit of a spring's angle
FREE_WAY = 1.0          # m, the same of a spring that slides


@dataclass(frozen=True)
class Freedom:
    """One degree of freedom between a body and its parent.

    type: revolute, continuous or prismatic; axis (3,): in the body's frame. stiffness and damping:
    of a spring and a damper towards zero, N m/rad and N m s/rad, N/m and N s/m if it slides.
    reflected_inertia: of a motor behind its gear, kg m2 or kg. driven: a joint of the robot; the
    others are springs.
    """

    name: str
    type: str
    axis: Array
    limits: Limits = Limits()
    friction: float = 0.0
    damping: float = 0.0
    stiffness: float = 0.0
    reflected_inertia: float = 0.0
    mimic: Mimic | None = None
    driven: bool = False


@dataclass(frozen=True)
class Outline:
    """What a piece of a beam looks like, in the frame of its body: pose (4, 4) of its middle with
    x along it, length and half extents in m; round: a cylinder, else a box."""

    pose: Array
    length: float
    half_y: float
    half_z: float
    round: bool


@dataclass(frozen=True)
class Body:
    """A rigid body; pose (4, 4): in its parent, with all freedoms at zero.

    freedoms: applied in their order. joint: name of the joint of the robot that carries it, for a
    body without freedoms, and kind: fixed, floating or planar; '' for other bodies. link: the link
    of which it is the first or only body; '' for the segments of a beam.
    """

    name: str
    parent: str | None
    pose: Array
    freedoms: tuple[Freedom, ...] = ()
    inertia: Inertia | None = None
    link: str = ''
    joint: str = ''
    kind: str = ''
    outline: Outline | None = None


@dataclass(frozen=True)
class LumpedRobot:
    """Bodies in tree order, the first one fixed to the world; frames name a body as their link.

    notes: one line each, what a user has to know about the result.
    """

    robot: Robot
    segments: int
    bodies: tuple[Body, ...]
    frames: tuple[Frame, ...]
    chains: dict[str, BeamChain] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def springs(self) -> list[Freedom]:
        """Freedoms that are springs, in tree order."""
        return [freedom for body in self.bodies for freedom in body.freedoms
                if not freedom.driven]


def lump(robot: Robot, segments: int = 8) -> LumpedRobot:
    """Cut every flexible link into rigid segments on springs; split elastic joints.

    Parameters
    ----------
    robot : Robot
        With at least one flexible link or elastic joint.
    segments : int
        Elements of each beam, 1 to 100: as many hinges of up to three rotations, and one piece
        more. The errors fall with its square.

    Returns
    -------
    LumpedRobot
        The segments of link L are L, L_segment1, L_segment2 ...; their rotations
        L_segment1_bend_y, L_segment1_bend_z, L_segment1_twist. A joint J with a spring becomes
        J (the motor, on the link's side of its gear) and J_spring.

    Raises
    ------
    RobotError
        For a rigid robot, and for a number of segments out of range.
    """
    if isinstance(segments, bool) or not isinstance(segments, (int, np.integer)) or not (
            1 <= segments <= MOST_SEGMENTS):
        raise RobotError(f'segments: expected a whole number from 1 to {MOST_SEGMENTS}, found '
                         f'{segments}')
    if robot.constraints:
        raise RobotError(f'robot {quoted(robot.name)}: expected a tree of links, found constraint '
                         f'{quoted(robot.constraints[0].name)}; lump cannot write loops, wheels '
                         'and supports for other programs yet', robot.source)
    elastic = [joint for joint in robot.joints if joint.flexible is not None]
    beams = {link.name: link.flexible for link in robot.links if link.flexible is not None}
    if not beams and not elastic:
        raise RobotError(f'robot {quoted(robot.name)}: expected a flexible link or an elastic '
                         'joint, found none; a rigid robot has nothing to lump, use its URDF as '
                         'it is', robot.source)
    return _Builder(robot, int(segments)).result()


class _Builder:
    """Bodies of a robot, link by link."""

    def __init__(self, robot: Robot, segments: int) -> None:
        self.robot, self.segments = robot, segments
        self.bodies: list[Body] = []
        self.chains: dict[str, BeamChain] = {}
        self.names: dict[str, list[str]] = {}       # bodies of a flexible link
        self.notes: list[str] = []
        self.links = {link.name: link for link in robot.links}
        self.loads = loads_of(robot)
        self.taken = {*self.links, *(joint.name for joint in robot.joints),
                      *(frame.name for frame in robot.frames)}

    def result(self) -> LumpedRobot:
        root = self.robot.links[0]
        self._add(root, Body(root.name, None, np.eye(4), link=root.name))
        for joint in self.robot.joints:
            parent, origin = self._carrier(joint)
            body = Body(joint.child, parent, origin, link=joint.child)
            if joint.type in ('fixed', 'floating', 'planar'):
                freedoms = self._planar(joint) if joint.type == 'planar' else ()
                body = replace(body, joint=joint.name, kind=joint.type, freedoms=freedoms)
            else:
                body = replace(body, freedoms=self._freedoms(joint))
            self._add(self.links[joint.child], body)
        frames = tuple(self._frame(frame) for frame in self.robot.frames)
        return LumpedRobot(self.robot, self.segments, tuple(self.bodies), frames, self.chains,
                           tuple(self.notes))

    def _add(self, link: Link, body: Body) -> None:
        if link.flexible is None:
            self.bodies.append(replace(body, inertia=link.inertia))
        else:
            self._add_beam(link.flexible, body)

    def _add_beam(self, beam: FlexibleLink, first: Body) -> None:
        chain = cut_beam(beam, self.segments, self.loads[beam.link])
        self.chains[beam.link] = chain
        names = [beam.link, *(self._unique(f'{beam.link}_segment{k + 1}')
                              for k in range(self.segments))]
        self.names[beam.link] = names
        bounds = [0.0, *chain.hinges.tolist(), chain.length]
        for k, piece in enumerate(chain.pieces):
            # The first piece keeps the frame of the link; the others have theirs at the hinge.
            frame = beam.origin if k == 0 else pose(np.eye(3), [-bounds[k], 0.0, 0.0])
            body = replace(first, inertia=transformed(piece, frame),
                           outline=_outline(beam, bounds[k], bounds[k + 1], frame))
            if k:
                before = beam.origin if k == 1 else pose(np.eye(3), [-bounds[k - 1], 0.0, 0.0])
                body = replace(
                    body, name=names[k], parent=names[k - 1], link='', joint='', kind='',
                    pose=before @ pose(np.eye(3), [bounds[k], 0.0, 0.0]),
                    freedoms=tuple(self._spring(names[k], spring)
                                   for spring in chain.springs[k - 1]))
            self.bodies.append(body)
        rigid = [kind for kind in ('bend_y', 'bend_z', 'twist') if not getattr(beam, kind).count]
        if rigid:
            self.notes.append(f'link {beam.link}: the robot has no modes of '
                              f'{" and ".join(rigid)}, so the segments have no such springs')
        if beam.pinned:
            self.notes.append(f'link {beam.link}: its basis {beam.basis} measures the joint to a '
                              "chord of the beam; here the joint's angle is that of the beam's "
                              'root')
        if beam.gauges:
            self.notes.append(f'link {beam.link}: strain gauges are not exported')

    def _spring(self, segment: str, spring: Spring) -> Freedom:
        return Freedom(self._unique(f'{segment}_{spring.kind}'), 'revolute', spring.axis,
                       Limits(-FREE, FREE, FREE * spring.stiffness),
                       damping=spring.damping, stiffness=spring.stiffness)

    def _freedoms(self, joint: Joint) -> tuple[Freedom, ...]:
        own = Freedom(joint.name, joint.type, joint.axis, joint.limits, joint.friction,
                      joint.damping, mimic=joint.mimic, driven=True)
        spring = joint.flexible
        if spring is None:
            return (own,)
        slides = joint.type == 'prismatic'
        most = FREE_WAY if slides else FREE
        own = replace(own, reflected_inertia=spring.motor_inertia * spring.gear_ratio**2)
        return own, Freedom(
            self._unique(f'{joint.name}_spring'), 'prismatic' if slides else 'revolute',
            joint.axis, Limits(-most, most, most * spring.stiffness), damping=spring.damping,
            stiffness=spring.stiffness)

    def _planar(self, joint: Joint) -> tuple[Freedom, ...]:
        """x, y and the angle about the plane's normal, in the order and axes of the dynamics."""
        helper = np.eye(3)[0] if abs(joint.axis[0]) < 0.9 else np.eye(3)[1]
        first = helper - joint.axis * (joint.axis @ helper)
        first = first / np.linalg.norm(first)
        return tuple(Freedom(self._unique(f'{joint.name}_{name}'), kind, axis, driven=True)
                     for name, kind, axis in (
                         ('x', 'prismatic', first),
                         ('y', 'prismatic', np.cross(joint.axis, first)),
                         ('angle', 'continuous', joint.axis)))

    def _carrier(self, joint: Joint) -> tuple[str, Array]:
        """The body that carries a joint, and the joint's frame in it."""
        return self._on_piece(joint.parent, joint.origin, joint.section_x)

    def _frame(self, frame: Frame) -> Frame:
        body, place = self._on_piece(frame.link, frame.pose, frame.section_x)
        return replace(frame, link=body, pose=place, section_x=None)

    def _on_piece(self, link: str, place: Array, section_x: float | None) -> tuple[str, Array]:
        beam = self.links[link].flexible
        if beam is None or section_x is None:
            return link, place
        chain = self.chains[link]
        piece = chain.piece_at(section_x)
        if piece == 0:
            return link, place
        in_beam = np.linalg.inv(beam.origin) @ place
        return (self.names[link][piece],
                pose(np.eye(3), [-chain.hinges[piece - 1], 0.0, 0.0]) @ in_beam)

    def _unique(self, name: str) -> str:
        while name in self.taken:
            name += '_'
        self.taken.add(name)
        return name


def _outline(beam: FlexibleLink, start: float, end: float, frame: Array) -> Outline | None:
    at = beam.properties(np.array([0.5 * (start + end)]))
    if at.half_y is None or at.half_z is None:
        return None
    middle = frame @ pose(np.eye(3), [0.5 * (start + end), 0.0, 0.0])
    return Outline(middle, end - start, float(at.half_y[0]), float(at.half_z[0]),
                   beam.section_shape in ROUND)


def one_freedom_each(bodies: Iterable[Body]) -> list[Body]:
    """The same bodies with at most one freedom each.

    A body of several freedoms is preceded by a body for each of the others, at the same place,
    which gets a small share of its inertia.
    """
    result: list[Body] = []
    for body in bodies:
        inner = body.freedoms[:-1]
        parent, place = body.parent, body.pose
        for freedom in inner:
            name = f'{freedom.name}_part'
            result.append(Body(name, parent, place, (freedom,), scaled(body.inertia, SHARE)))
            parent, place = name, np.eye(4)
        result.append(replace(body, parent=parent, pose=place, freedoms=body.freedoms[-1:],
                              inertia=scaled(body.inertia, 1.0 - SHARE * len(inner))))
    return result


def with_mass(bodies: Iterable[Body]) -> list[Body]:
    """The same bodies; moving ones without mass get a small share of the next one outwards."""
    result = list(bodies)
    below: dict[str, list[int]] = {body.name: [] for body in result}
    for k, body in enumerate(result):
        if body.parent is not None:
            below[body.parent].append(k)
    for k in reversed(range(len(result))):
        body = result[k]
        if body.inertia is not None or not (body.freedoms or body.kind == 'floating'):
            continue
        stack = [(number, result[number].pose) for number in below[body.name]]
        while stack:
            number, place = stack.pop(0)
            donor = result[number]
            if donor.inertia is not None:
                given = scaled(donor.inertia, SHARE)
                assert given is not None
                result[k] = replace(body, inertia=transformed(given, place))
                result[number] = replace(donor, inertia=scaled(donor.inertia, 1.0 - SHARE))
                break
            stack += [(inner, place @ result[inner].pose) for inner in below[donor.name]]
    return result


def scaled(body: Inertia | None, share: float) -> Inertia | None:
    """A body of the same shape with a share of the mass."""
    return None if body is None else Inertia(share * body.mass, body.centre, share * body.tensor)
