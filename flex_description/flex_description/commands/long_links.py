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
"""Links of a rigid robot that are long enough to bend, and a beam estimated for each."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_description.carried_inertia import carried_inertia
from flex_description.errors import cut
from flex_description.math import Array, rotation_with_x_along, rpy_from_rotation
from flex_description.robot import Joint, Link, Robot
from flex_description.visuals.mesh_limits import MeshError
from flex_description.visuals.shapes import read_visuals, visual_corners

LONG = 0.1              # share of the robot's reach from which a link is long
SLENDER = 1.5           # length over width from which it is a beam
STATIONS = np.linspace(0.25, 0.75, 5)   # of the length, where the geometry is cut
WALL = 0.05             # wall over the smaller width: nothing in a URDF says it
ROUND = 0.6             # corner of the outline over its width: 0.5 for a circle, 0.71 for a square
# Rad, and share of the width: an axis so near to the line from joint to joint is that line.
TILT, ASIDE = np.radians(3.0), 0.25
MOST_TILT = np.radians(20.0)            # rad, of the axis of the geometry from the line of joints
FLAT = 1e-6             # m: a width that is none


@dataclass(frozen=True)
class Estimate:
    """A beam for a link: its place in the link's frame, its section, and where they are from.

    joint: the next joint. along: whether the beam runs from the link's origin to that joint.
    width, height: outline along the beam's y and z, m. notes: one line each.
    """

    link: str
    joint: Joint
    along: bool
    start: Array
    rpy: Array
    length: float
    width: float
    height: float
    round: bool
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Survey:
    """Long links of a robot in tree order, and a reason for each of the others that is not
    short."""

    found: list[Estimate]
    others: list[str]
    reach: float        # m, the longest way along joints
    longest: float      # m, the longest distance between two joints of a link


def survey(robot: Robot) -> Survey:
    """Look for long links among those that a joint carries and that carry a joint."""
    bodies = carried_inertia(robot.joints, {link.name: link.inertia for link in robot.links})
    reach = {robot.links[0].name: 0.0}
    for joint in robot.joints:
        reach[joint.child] = reach[joint.parent] + float(np.linalg.norm(joint.origin[:3, 3]))
    most = max(reach.values())
    base = {robot.links[0].name}    # and what is fixed to it
    for joint in robot.joints:
        if joint.type == 'fixed' and joint.parent in base:
            base.add(joint.child)
    found: list[Estimate] = []
    others: list[str] = []
    longest = 0.0
    for link in robot.links[1:]:
        children = [joint for joint in robot.joints if joint.parent == link.name]
        if not children:
            continue
        joint = max(children, key=lambda joint: (
            body.mass if (body := bodies[joint.name]) is not None else 0.0,
            float(np.linalg.norm(joint.origin[:3, 3]))))
        length = float(np.linalg.norm(joint.origin[:3, 3]))
        if link.name not in base:
            longest = max(longest, length)
        if length < max(LONG * most, FLAT):
            continue
        if link.name in base:
            others.append(f'{cut(link.name)}: {length:.3g} m, fixed to the base')
            continue
        if link.flexible is not None:
            others.append(f'{cut(link.name)}: flexible already')
            continue
        estimate = _estimate(robot, link, joint)
        width = max(estimate.width, estimate.height)
        if estimate.length < SLENDER * width:
            others.append(f'{cut(link.name)}: {estimate.length:.3g} m long, but {width:.3g} m '
                          'wide: no beam')
            continue
        found.append(estimate)
    return Survey(found, others, most, longest)


def _estimate(robot: Robot, link: Link, joint: Joint) -> Estimate:
    start, end = np.zeros(3), joint.origin[:3, 3]
    triangles, notes = _triangles(robot, link.name)
    along = True
    outline = None
    if len(triangles):
        axis = _axis_of_geometry(triangles, start, end)
        if axis is not None:
            along, start, end = False, *axis
        outline = _outline(triangles, start, end)
    frame = rotation_with_x_along(end - start)
    length = float(np.linalg.norm(end - start))
    if outline is None:
        width, source = _gyration(link, frame, length)
        height, is_round = width, True
        notes.append(source)
    else:
        width, height, is_round, _ = outline
        notes.append('outline of the section measured on the geometry of the link')
    if not along:
        notes.append('the axis of the geometry, which is not the line from joint to joint')
    return Estimate(link.name, joint, along, start, rpy_from_rotation(frame), length, width,
                    height, is_round, tuple(notes))


def _triangles(robot: Robot, link: str) -> tuple[Array, list[str]]:
    """Triangles (f, 3, 3), m, of a link's visuals, or else of its collision geometry."""
    notes = []
    for tag in ('visual', 'collision'):
        pieces = []
        for shape in read_visuals(robot, tag).get(link, []):
            try:
                corners = visual_corners(shape, robot)
            except MeshError as error:
                notes.append(f'not measured: {error}')
                continue
            pieces.append(corners @ shape.pose[:3, :3].T + shape.pose[:3, 3])
        if pieces:
            return np.concatenate(pieces).reshape(-1, 3, 3), notes
    return np.zeros((0, 3, 3)), notes


def _cuts(triangles: Array, start: Array, end: Array) -> list[Array]:
    """Outline points (k, 3), in beam axes from start to end, at each station that has any."""
    frame = rotation_with_x_along(end - start)
    local = (triangles - start) @ frame
    result = []
    for x in STATIONS * np.linalg.norm(end - start):
        points = []
        for one, two in ((0, 1), (1, 2), (2, 0)):
            a, b = local[:, one], local[:, two]
            crossing = (a[:, 0] < x) != (b[:, 0] < x)
            a, b = a[crossing], b[crossing]
            share = ((x - a[:, 0]) / (b[:, 0] - a[:, 0]))[:, None]
            points.append(a + share * (b - a))
        joined = np.concatenate(points)
        if len(joined) and np.ptp(joined[:, 1]) > FLAT and np.ptp(joined[:, 2]) > FLAT:
            result.append(joined)
    return result


def _outline(triangles: Array, start: Array,
             end: Array) -> tuple[float, float, bool, float] | None:
    """Width along y, height along z, whether it is round, and the distance of its centre from
    the axis: medians of the cuts."""
    rows = []
    for points in _cuts(triangles, start, end):
        low, high = points[:, 1:].min(axis=0), points[:, 1:].max(axis=0)
        centre, size = 0.5 * (low + high), high - low
        corner = np.linalg.norm(points[:, 1:] - centre, axis=1).max()
        rows.append((*size, corner / size.mean(), np.linalg.norm(centre)))
    if not rows:
        return None
    width, height, corner, aside = np.median(np.array(rows), axis=0)
    is_round = bool(corner < ROUND and abs(width - height) < 0.2 * max(width, height))
    return float(width), float(height), is_round, float(aside)


def _axis_of_geometry(triangles: Array, start: Array, end: Array) -> tuple[Array, Array] | None:
    """Start and end of the line through the centres of the cuts; None if it is (nearly) the line
    from joint to joint, or none can be told."""
    outline, cuts = _outline(triangles, start, end), _cuts(triangles, start, end)
    if outline is None or len(cuts) < 3:
        return None
    frame = rotation_with_x_along(end - start)
    centres = np.array([np.r_[points[0, 0], 0.5 * (points[:, 1:].min(axis=0)
                                                   + points[:, 1:].max(axis=0))]
                        for points in cuts]) @ frame.T + start
    middle = centres.mean(axis=0)
    direction = np.linalg.svd(centres - middle)[2][0]
    towards = (end - start) / np.linalg.norm(end - start)
    direction *= 1.0 if direction @ towards > 0.0 else -1.0
    tilt = float(np.arccos(np.clip(direction @ towards, -1.0, 1.0)))
    if tilt > MOST_TILT:
        direction, tilt = towards, 0.0
    if tilt < TILT and outline[3] < ASIDE * max(outline[:2]):
        return None
    return (middle + direction * (direction @ (start - middle)),
            middle + direction * (direction @ (end - middle)))


def _gyration(link: Link, frame: Array, length: float) -> tuple[float, str]:
    """Width of a thin tube with the inertia of the link about the beam, and a note."""
    if link.inertia is not None:
        about = float(frame[:, 0] @ link.inertia.tensor @ frame[:, 0])
        radius = float(np.sqrt(max(about, 0.0) / link.inertia.mass))
        if FLAT < radius < length:
            return 2.0 * radius, ('no geometry: the diameter is that of a thin tube with the '
                                  'inertia of <inertial> about the beam')
    return 0.1 * length, 'no geometry and no inertia: the diameter is a tenth of the length'
