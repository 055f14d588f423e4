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
"""Limits of a tree: rigid, without gravity, one shape a direction; identities for property tests.

Each limit is a robot of its own, made of the records of the first, and its model must be the part
of the first model that the limit leaves.
"""
from __future__ import annotations

from dataclasses import replace

import numpy as np

from flex_description.robot import FlexibleLink, Inertia, Robot
from flex_description.shapes.base import ModeShapes
from flex_dynamics import Model


def share(error, size) -> float:
    """Largest error by the largest of the numbers that it is an error of."""
    return float(np.abs(error).max(initial=0.0) / max(np.abs(size).max(initial=0.0), 1e-6))


def limits_hold(model: Model, q: np.ndarray, v: np.ndarray) -> None:
    small = one_shape(model)
    compare(model, small, q, v)
    kept = [model.names.index(name) for name in small.names]
    without_gravity(small, q[kept], v[kept])
    if any(joint.type != 'fixed' for joint in model.robot.joints):
        compare(model, rigid(model), q, v)


def without_gravity(model: Model, q: np.ndarray, v: np.ndarray) -> None:
    """No weight; M and C as before."""
    terms = model.terms(q, v)
    other = Model(replace(model.robot, gravity=np.zeros(3)), model.order).terms(q, v)
    assert share(other.g, terms.M) < 1e-14
    assert share(other.M - terms.M, terms.M) < 1e-12
    assert share(other.C - terms.C, inertia_at_speed(terms, v)) < 1e-12


def inertia_at_speed(terms, v: np.ndarray) -> np.ndarray:
    """What C is small or large against: it is zero where a joint alone turns."""
    return np.abs(v).max() * terms.M


class First(ModeShapes):
    """The first of some shapes, if there is one."""

    def __init__(self, shapes: ModeShapes) -> None:
        self._shapes, self.length, self.count = shapes, shapes.length, min(shapes.count, 1)

    def __call__(self, x: np.ndarray, derivative: int = 0) -> np.ndarray:
        return self._shapes(x, derivative)[:self.count]


def with_beams(robot: Robot, change) -> Robot:
    return replace(robot, links=tuple(
        change(link) if link.flexible is not None else link for link in robot.links))


def one_shape(model: Model) -> Model:
    """Where all other amplitudes rest, its terms are a block of those of many."""
    def fewer(link):
        beam = link.flexible
        return replace(link, flexible=replace(beam, bend_y=First(beam.bend_y), bend_z=First(
            beam.bend_z), twist=First(beam.twist)))

    return Model(with_beams(model.robot, fewer), model.order)


def rigid(model: Model) -> Model:
    """Beams as rigid bodies: joints and motors move as those of the tree at rest in its shape."""
    robot = with_beams(model.robot, lambda link: replace(
        link, flexible=None, inertia=rigid_body(link.flexible)))
    joints = tuple(replace(joint, section_x=None) for joint in robot.joints)
    return Model(replace(robot, joints=joints), model.order)


def rigid_body(beam: FlexibleLink) -> Inertia:
    """A straight uniform beam and its lumps, in the link's frame."""
    p, L = beam.properties(np.array([beam.length / 2.0])), beam.length
    rod, turn_y, turn_z = (L * value[0] for value in (p.mass_per_length, p.inertia_y,
                                                      p.inertia_z))
    parts = [(rod, np.array([L / 2.0, 0.0, 0.0]), np.diag([
        turn_y + turn_z, turn_y + rod * L**2 / 12.0, turn_z + rod * L**2 / 12.0]))]
    parts += [(lump.mass, np.array([lump.x, 0.0, 0.0]) + lump.centre, lump.tensor)
              for lump in beam.masses]
    mass = sum(part[0] for part in parts)
    centre = sum(part[0] * part[1] for part in parts) / mass
    tensor = sum(own + m * ((at - centre) @ (at - centre) * np.eye(3)
                            - np.outer(at - centre, at - centre)) for m, at, own in parts)
    R = beam.origin[:3, :3]
    return Inertia(mass, beam.origin[:3, 3] + R @ centre, R @ tensor @ R.T)


def compare(large: Model, small: Model, q: np.ndarray, v: np.ndarray) -> None:
    """Terms and frames of the small model at q, v against the large one's, other coordinates 0."""
    kept = [large.names.index(name) for name in small.names]
    whole_q, whole_v = np.zeros((2, large.n))
    whole_q[kept], whole_v[kept] = q[kept], v[kept]
    ours = small.terms(q[kept], v[kept])
    theirs = large.terms(whole_q, whole_v)
    for name, size in (('M', ours.M), ('C', inertia_at_speed(ours, v[kept])), ('K', ours.K)):
        block = getattr(theirs, name)[np.ix_(kept, kept)]
        assert share(getattr(ours, name) - block, size) < 1e-10
    assert share(ours.g - theirs.g[kept], theirs.g) < 1e-10
    assert share(small.bias_force(q[kept], v[kept]) - large.bias_force(whole_q, whole_v)[kept],
                 large.bias_force(whole_q, whole_v)) < 1e-10
    frame = large.robot.links[-1].name
    assert np.abs(small.pose(q[kept], frame) - large.pose(whole_q, frame)).max() < 1e-11
