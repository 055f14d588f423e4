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
"""A lumped robot as MJCF, for MuJoCo: springs as `stiffness` of the joints."""
from __future__ import annotations

import numpy as np

from flex_description.lumping.geometry import Shape, shapes_of
from flex_description.lumping.lumped_robot import Body, Freedom, LumpedRobot, with_mass
from flex_description.lumping.xml_text import Element, add, document, number, numbers
from flex_description.math import Array, is_possible, principal_moments, quaternion_from_rotation
from flex_description.robot import Inertia

LARGEST_STEP = 0.002    # s, MuJoCo's own


def mjcf_text(lumped: LumpedRobot, highest: float = 0.0) -> str:
    """The MJCF of a lumped robot, with a motor for each joint of the robot.

    highest: frequency of its segments, Hz, that the time step has to resolve.
    """
    robot = lumped.robot
    bodies = with_mass(lumped.bodies)
    root = Element('mujoco', {'model': robot.name})
    add(root, 'compiler', angle='radian', inertiafromgeom='false',
        balanceinertia='true' if _impossible(bodies) else 'false')
    add(root, 'option', gravity=numbers(robot.gravity), integrator='implicitfast',
        timestep=number(time_step(highest)))
    world = add(root, 'worldbody')
    shapes = shapes_of(lumped)
    # A free joint is for bodies of the world only, whose own name is taken.
    on_world = bodies[0].name == 'world' or any(body.kind == 'floating' for body in bodies)
    places: dict[str, Element] = {}
    for body in bodies:
        if body.parent is None and on_world:
            element = places[body.name] = world
        else:
            element = places[body.name] = add(
                world if body.parent is None else places[body.parent], 'body', name=body.name,
                **_place(body.pose))
            if body.kind == 'floating':
                add(element, 'freejoint', name=body.joint)
            for freedom in body.freedoms:
                _joint(element, freedom)
            if body.inertia is not None:
                _inertial(element, body.inertia)
        for shape in shapes.get(body.name, []):
            _geom(element, shape)
    for frame in lumped.frames:
        add(places[frame.link], 'site', name=frame.name, **_place(frame.pose))
    freedoms = [freedom for body in bodies for freedom in body.freedoms]
    _equality(root, freedoms)
    actuator = add(root, 'actuator')
    for freedom in freedoms:
        if freedom.driven and freedom.mimic is None:
            most = freedom.limits.effort
            add(actuator, 'motor', name=freedom.name, joint=freedom.name, **(
                {'ctrlrange': numbers((-most, most)), 'ctrllimited': 'true'}
                if np.isfinite(most) and most > 0.0 else {}))
    return document(root, f'{robot.name}, each beam cut into {lumped.segments} elements by '
                          'flex_description lump')


def mjcf_notes(lumped: LumpedRobot) -> list[str]:
    """What the MJCF leaves out or says otherwise, one line each."""
    notes = []
    meshes = sum(shape.kind == 'mesh' for each in shapes_of(lumped).values() for shape in each)
    if meshes:
        notes.append(f'{meshes} meshes are left out: MuJoCo finds no packages and reads no '
                     'Collada; add them as <asset> where you need them')
    if names := _impossible(with_mass(lumped.bodies)):
        notes.append(f'link {", ".join(names)}: no body has this inertia, and MuJoCo refuses it; '
                     'balanceinertia="true" makes all its moments their mean')
    return notes


def time_step(highest: float) -> float:
    """A step, s, with one significant digit, that resolves a frequency (Hz): 1/omega or less."""
    most = LARGEST_STEP if highest <= 0.0 else min(LARGEST_STEP, 1.0 / (2.0 * np.pi * highest))
    power = 10.0**np.floor(np.log10(most))
    return float(f'{np.floor(most / power * (1.0 + 1e-9)) * power:.1g}')


def _impossible(bodies: list[Body]) -> list[str]:
    return [body.name for body in bodies
            if body.inertia is not None
            and not is_possible(principal_moments(body.inertia.tensor), 1e-9)]


def _place(place: Array) -> dict[str, str]:
    x, y, z, w = quaternion_from_rotation(place[:3, :3])
    return {'pos': numbers(place[:3, 3]), 'quat': numbers((w, x, y, z))}


def _joint(body: Element, freedom: Freedom) -> None:
    limits = freedom.limits
    ends = (limits.lower, limits.upper)
    # A spring needs no stops, and a stop of MuJoCo acts before it is reached.
    stopped = freedom.driven and freedom.type != 'continuous' and bool(np.isfinite(ends).all())
    add(body, 'joint', name=freedom.name,
        type='slide' if freedom.type == 'prismatic' else 'hinge', axis=numbers(freedom.axis),
        **({'limited': 'true', 'range': numbers(ends)} if stopped else {'limited': 'false'}),
        **{name: number(value) for name, value in (
            ('stiffness', freedom.stiffness), ('damping', freedom.damping),
            ('frictionloss', freedom.friction), ('armature', freedom.reflected_inertia)) if value})


def _equality(root: Element, freedoms: list[Freedom]) -> None:
    followers = [freedom for freedom in freedoms if freedom.mimic is not None]
    if not followers:
        return
    equality = add(root, 'equality')
    for freedom in followers:
        assert freedom.mimic is not None
        add(equality, 'joint', joint1=freedom.name, joint2=freedom.mimic.joint,
            polycoef=numbers((freedom.mimic.offset, freedom.mimic.multiplier, 0.0, 0.0, 0.0)))


def _inertial(body: Element, inertia: Inertia) -> None:
    six = inertia.tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    add(body, 'inertial', pos=numbers(inertia.centre), mass=number(inertia.mass),
        fullinertia=numbers(six))


def _geom(body: Element, shape: Shape) -> None:
    if shape.kind == 'mesh':
        return
    size = (np.array(shape.size) / 2 if shape.kind == 'box' else
            np.array([shape.size[0], *(length / 2 for length in shape.size[1:])]))
    # Shapes of the robot touch others, but not one another: segments of a bent beam overlap.
    contact = {'contype': '1' if shape.use == 'collision' else '0', 'conaffinity': '0',
               'group': '3' if shape.use == 'collision' else '2'}
    add(body, 'geom', type=shape.kind, size=numbers(size), rgba=numbers(shape.colour),
        **_place(shape.pose), **contact)
