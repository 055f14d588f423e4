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
"""<loop>, <wheel> and <support>: constraints between links, and between links and the ground."""
from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from flex_description.errors import quoted
from flex_description.math import Array, pose
from flex_description.reading.element import Element, read_origin
from flex_description.reading.urdf import UrdfTree
from flex_description.robot import Attachment, Frame, Loop, Support, Wheel
from flex_description.suggestion import suggestion

MOST_CONSTRAINTS = 500      # the solution takes the third power of their number
LOOPS = ('revolute', 'prismatic', 'ball', 'universal', 'weld', 'distance')
WITH_AXIS = ('revolute', 'prismatic', 'universal')
WHEELS = ('rolling', 'castor', 'knife_edge')
SUPPORTS = ('point', 'flat')
PLACE = {'frame', 'x', 'xyz', 'rpy', 'quat_xyzw'}
SHORTEST = 1e-6       # m of a distance: of points that coincide it has no direction
YES_NO = {'true': True, 'false': False}

Beams = Mapping[str, tuple[Array, float]]     # pose (4, 4) in the link's frame, and length (m)
Constraints = tuple[tuple[Loop, ...], tuple[Wheel, ...], tuple[Support, ...]]


def read_constraints(elements: Mapping[str, Mapping[str, Element]], tree: UrdfTree,
                     frames: tuple[Frame, ...], beams: Beams) -> Constraints:
    """Loops, wheels and supports, by tag and name; beams: of flexible links, by name."""
    found = [element for tag in ('loop', 'wheel', 'support') for element in elements[tag].values()]
    seen: dict[str, Element] = {}
    for number, element in enumerate(found):
        name = element.text('name')
        if name in seen:
            other = seen[name]
            element.fail('name', 'a name of its own for every constraint',
                         f'{quoted(name)}, which the <{other.tag}> on line {other.line} has')
        seen[name] = element
        if number >= MOST_CONSTRAINTS:
            raise element.error(f'expected at most {MOST_CONSTRAINTS} constraints, found '
                                f'{len(found)}')
    places = _Places(tree, frames, beams)
    loops = tuple(_loop(element, places) for element in elements['loop'].values())
    _refuse_twins(loops, elements['loop'])
    return (loops, tuple(_wheel(element, places) for element in elements['wheel'].values()),
            tuple(_support(element, places) for element in elements['support'].values()))


class _Places:
    """The links and frames that constraints may name, and which of them move together."""

    def __init__(self, tree: UrdfTree, frames: tuple[Frame, ...], beams: Beams) -> None:
        self._beams = beams
        self._frames = {frame.name: frame for frame in frames}
        self.names = [*tree.links, *self._frames]
        # A link fixed to a rigid one moves with it; the root is the world.
        self._body = {next(iter(tree.links)): next(iter(tree.links))}
        for joint in tree.joints:
            together = (joint.type == 'fixed' and joint.parent not in beams
                        and joint.child not in beams)
            self._body[joint.child] = self._body[joint.parent] if together else joint.child
        self.world = next(iter(tree.links))

    def read(self, element: Element) -> Attachment:
        """The frame that an element names, with its offset and its place along a beam."""
        frame = element.text('frame')
        if frame not in self.names:
            element.fail('frame', 'the name of a link or frame',
                         f'{quoted(frame)}; {suggestion(frame, self.names)}')
        offset = read_origin(element)
        x = None
        if 'x' in element.attributes:
            if frame not in self._beams:
                element.fail('x', 'none, because the frame is not a flexible link',
                             f'{quoted(element.attributes["x"])} beside frame {quoted(frame)}')
            x = element.number('x', least=0.0, most=self._beams[frame][1],
                               unit='m along the beam')
        elif frame in self._beams:
            # As a joint: carried by the section nearest to its origin.
            origin, length = self._beams[frame]
            offset = np.linalg.inv(origin) @ offset
            x = float(np.clip(offset[0, 3], 0.0, length))
            offset[0, 3] -= x
        return Attachment(frame, offset, x)

    def body(self, place: Attachment) -> str:
        """What the frame is rigidly fixed in: a link, or a section of a beam."""
        if place.frame in self._frames:
            frame = self._frames[place.frame]
            return f'{frame.link}@{frame.section_x}'
        if place.x is not None:
            return f'{place.frame}@{place.x}'
        return self._body[place.frame]

    def refuse_world(self, element: Element, place: Attachment) -> None:
        if self.body(place) == self._body[self.world] and self.world not in self._beams:
            element.fail('frame', 'a link that moves', f'{quoted(place.frame)}, which is fixed in '
                         f'the root {quoted(self.world)}')


def _loop(element: Element, places: _Places) -> Loop:
    kind = element.choice('type', LOOPS)
    element.allow({'name', 'type', 'axis', 'axis2', 'length'}, {'first', 'second'})
    ends = []
    for tag in ('first', 'second'):
        end = element.one(tag)
        if end is None:
            raise element.error(f'expected a <{tag}>, found none; a loop joins <first> and '
                                '<second>')
        end.allow(PLACE)
        ends.append(places.read(end))
    first, second = ends
    if places.body(first) == places.body(second):
        raise element.error(
            f'expected two frames that move against each other, found {quoted(first.frame)} and '
            f'{quoted(second.frame)}, which are fixed to each other')
    axis = axis2 = length = None
    if kind in WITH_AXIS:
        axis = _direction(element, 'axis')
    elif 'axis' in element.attributes:
        element.fail('axis', f'none for type {kind}')
    if kind == 'universal':
        axis2 = _direction(element, 'axis2')
    elif 'axis2' in element.attributes:
        element.fail('axis2', f'none for type {kind}; a universal joint has two axes')
    if kind == 'distance':
        length = element.number('length', above=0.0, unit='m')
        if length < SHORTEST:
            element.fail('length', f'at least {SHORTEST:g} m; type ball joins points')
    elif 'length' in element.attributes:
        element.fail('length', f'none for type {kind}; type distance has one')
    return Loop(element.text('name'), kind, first, second, axis, axis2, length)


def _refuse_twins(loops: tuple[Loop, ...], elements: Mapping[str, Element]) -> None:
    """Refuse two loops between the same points: they repeat or contradict each other."""
    seen: dict[tuple[object, ...], Loop] = {}
    for loop in loops:
        ends = [(end.frame, end.x, tuple(end.pose.ravel())) for end in (loop.first, loop.second)]
        key = tuple(sorted(ends, key=repr))
        other = seen.setdefault(key, loop)
        if other is loop:
            continue
        element = elements[loop.name]
        if loop.type == other.type == 'distance' and loop.length != other.length:
            raise element.error(f'expected length {other.length:g} m as loop {quoted(other.name)} '
                                f'has between the same points, found {loop.length:g} m: they '
                                'contradict each other')
        if {'distance', 'ball'} == {loop.type, other.type}:
            raise element.error(f'expected no distance between points that a ball joins, found '
                                f'loop {quoted(other.name)} between the same points: they '
                                'contradict each other')
        raise element.error(f'expected one loop between two points, found loop '
                            f'{quoted(other.name)} between the same; one joint has to say all')


def _wheel(element: Element, places: _Places) -> Wheel:
    kind = element.choice('type', WHEELS, 'rolling')
    element.allow({'name', 'type', 'axis', 'radius', 'normal', 'ground'} | PLACE)
    centre = places.read(element)
    places.refuse_world(element, centre)
    if kind == 'rolling':
        radius = element.number('radius', above=0.0, unit='m')
    elif kind == 'castor':
        radius = element.number('radius', 0.0, least=0.0, unit='m')
    else:
        if 'radius' in element.attributes:
            element.fail('radius', 'none for type knife_edge')
        radius = 0.0
    if kind == 'castor' and radius == 0.0:
        if 'axis' in element.attributes:
            element.fail('axis', 'none for a castor without radius, which is a sliding point')
        axis = np.array([0.0, 1.0, 0.0])
    else:
        axis = _direction(element, 'axis', '1 0 0' if kind == 'knife_edge' else '0 1 0')
    return Wheel(element.text('name'), kind, centre, axis, radius,
                 _direction(element, 'normal', '0 0 1'), element.number('ground', 0.0, unit='m'))


def _support(element: Element, places: _Places) -> Support:
    kind = element.choice('type', SUPPORTS, 'point')
    element.allow({'name', 'type', 'at', 'active'} | PLACE)
    point = places.read(element)
    places.refuse_world(element, point)
    if kind == 'flat' and 'at' in element.attributes:
        element.fail('at', 'none for type flat, which stays where it is at q = 0')
    at = None
    if 'at' in element.attributes:
        at = pose(np.eye(3), element.numbers('at', 3))
    return Support(element.text('name'), kind, point, at,
                   YES_NO[element.choice('active', YES_NO, 'true')])


def _direction(element: Element, name: str, default: str | None = None) -> Array:
    """A unit vector of three numbers."""
    if default is None and name not in element.attributes:
        element.fail(name, 'a direction such as "0 1 0"', 'no such attribute')
    vector = element.numbers(name, 3, default)
    length = float(np.linalg.norm(vector))
    if not length > 1e-9:
        element.fail(name, 'a direction, not all zero')
    return vector / length
