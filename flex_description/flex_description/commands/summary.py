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
"""Figures of a robot as plain values, for JSON."""
from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from flex_description.errors import RobotError
from flex_description.fit.mass import ROOT_BODY
from flex_description.fit.stiffness import end_stiffness
from flex_description.link_modes import link_modes, loads_of
from flex_description.rigid_inertia import beam_inertia, link_inertia
from flex_description.robot import (
    Attachment,
    FlexibleJoint,
    FlexibleLink,
    Joint,
    Limits,
    Loop,
    LumpedMass,
    Motor,
    Robot,
    Support,
    Wheel,
)

# Of the numbers in the summary; those of elastic joints are with each joint, whose type they have.
UNITS = {'mass': 'kg', 'carried_mass': 'kg', 'length': 'm', 'x': 'm', 'y': 'm', 'z': 'm',
         'section_x': 'm', 'gravity': 'm/s2', 'frequency': 'Hz',
         'end_stiffness': {'y': 'N/m', 'z': 'N/m', 'twist': 'N m/rad'},
         'limits': {'lower, upper': 'rad or m', 'velocity': 'rad/s or m/s', 'effort': 'N m or N',
                    'acceleration, deceleration': 'rad/s2 or m/s2', 'jerk': 'rad/s3 or m/s3'}}
FREEDOM = {'fixed': 0, 'planar': 3, 'floating': 6}


def summary(robot: Robot) -> dict[str, Any]:
    """Tree, masses, stiffness and frequencies; SI units, frequencies in Hz."""
    loads = loads_of(robot)
    motors = sum(joint.flexible is not None for joint in robot.joints)
    joints = sum(FREEDOM.get(joint.type, 1) for joint in robot.joints if joint.mimic is None)
    modes = sum(link.flexible.n_modes for link in robot.links if link.flexible is not None)
    return {
        'name': robot.name, 'source': robot.source,
        'coordinates': {'joints': joints, 'motors': motors, 'modes': modes,
                        'total': joints + motors + modes},
        'units': UNITS, 'gravity': robot.gravity.tolist(),
        'links': [{'name': link.name,
                   'mass': link.inertia.mass if link.inertia is not None else
                   _beam_mass(link.flexible),
                   'flexible': None if link.flexible is None else
                   _flexible(link.flexible, loads[link.name], robot.source)}
                  for link in robot.links],
        'joints': [_joint(joint) for joint in robot.joints],
        'frames': [{'name': frame.name, 'link': frame.link} for frame in robot.frames],
        'imus': [asdict(imu) for imu in robot.imus],
        'constraints': [_constraint(one) for one in robot.constraints],
        'warnings': list(robot.warnings),
    }


def _constraint(one: Loop | Wheel | Support) -> dict[str, Any]:
    """A loop, wheel or support: its frames, and in words what else it has."""
    if isinstance(one, Loop):
        return {'kind': 'loop', 'name': one.name, 'type': one.type,
                'at': [_place(one.first), _place(one.second)],
                'more': '' if one.length is None else f', {one.length:g} m apart'}
    if isinstance(one, Wheel):
        return {'kind': 'wheel', 'name': one.name, 'type': one.type, 'at': [_place(one.centre)],
                'more': f', radius {one.radius:g} m' if one.radius else ''}
    return {'kind': 'support', 'name': one.name, 'type': one.type, 'at': [_place(one.point)],
            'more': '' if one.active else ', not active at the start'}


def _place(place: Attachment) -> str:
    return place.frame if place.x is None else f'{place.frame} at x = {place.x:g} m'


def _beam_mass(link: FlexibleLink | None) -> float:
    return 0.0 if link is None else link_inertia(link.origin, link, link.masses).mass


def _flexible(link: FlexibleLink, loads: list[LumpedMass], source: str) -> dict[str, Any]:
    try:
        modes = link_modes(link, loads)
    except RobotError as error:
        raise RobotError(str(error), source) from None
    return {
        'length': link.length, 'basis': link.basis, 'section': link.section_shape,
        'shapes': {'bend_y': link.bend_y.count, 'bend_z': link.bend_z.count,
                   'twist': link.twist.count},
        'lumped_masses': [{'x': mass.x, 'mass': mass.mass} for mass in link.masses],
        'carried_mass': sum(load.mass for load in loads),
        'end_stiffness': dict(zip(('y', 'z', 'twist'), end_stiffness(link))),
        'fit': _fit(link),
        'modes': [asdict(mode) for mode in modes],
        'gauges': [asdict(gauge) for gauge in link.gauges],
    }


def _fit(link: FlexibleLink) -> dict[str, Any]:
    """What was asked for beside sections and materials, and what follows."""
    last = link.masses[-1] if link.masses and link.fit.mass == 'keep' else None
    root = last.mass if last is not None and last.name == ROOT_BODY else 0.0
    return {**asdict(link.fit), 'beam_mass': beam_inertia(link).mass, 'root_mass': root}


def _joint(joint: Joint) -> dict[str, Any]:
    return {'name': joint.name, 'type': joint.type, 'parent': joint.parent, 'child': joint.child,
            'axis': joint.axis.tolist(), 'section_x': joint.section_x,
            'limits': _limits(joint.limits),
            'passive': joint.passive,
            'mimic': None if joint.mimic is None else asdict(joint.mimic),
            'flexible': None if joint.flexible is None else _spring(joint, joint.flexible),
            'motor': None if joint.motor is None else _motor(joint, joint.motor)}


def _spring(joint: Joint, spring: FlexibleJoint) -> dict[str, Any]:
    """The spring with the rotor inertia reflected to the joint, and the units of all figures."""
    force, way, inertia = (('N', 'm', 'kg') if joint.type == 'prismatic'
                           else ('N m', 'rad', 'kg m2'))
    return {**asdict(spring), 'reflected_inertia': spring.motor_inertia * spring.gear_ratio**2,
            'units': {'stiffness': f'{force}/{way}', 'damping': f'{force} s/{way}',
                      'motor_inertia': 'kg m2', 'gear_ratio': f'rad/{way}',
                      'reflected_inertia': inertia}}


def _motor(joint: Joint, motor: Motor) -> dict[str, Any]:
    way, inertia = ('m', 'kg') if joint.type == 'prismatic' else ('rad', 'kg m2')
    return {**asdict(motor), 'reflected_inertia': motor.reflected_inertia,
            'units': {'inertia': 'kg m2', 'ratio': f'rad/{way}', 'reflected_inertia': inertia}}


def _limits(limits: Limits) -> dict[str, float | None]:
    """JSON has no infinity: null stands for no limit."""
    return {name: value if np.isfinite(value) else None
            for name, value in asdict(limits).items()}
