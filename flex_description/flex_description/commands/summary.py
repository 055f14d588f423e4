"""Figures of a robot as plain values, for JSON."""
from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from flex_description.errors import RobotError
from flex_description.link_modes import link_modes, loads_of
from flex_description.math import gauss_stations
from flex_description.rigid_inertia import link_inertia
from flex_description.robot import (
    FlexibleJoint,
    FlexibleLink,
    Joint,
    Limits,
    LumpedMass,
    Robot,
)

FREEDOM = {'fixed': 0, 'planar': 3, 'floating': 6}


def summary(robot: Robot) -> dict[str, Any]:
    """Tree, masses, stiffness and frequencies; SI units, frequencies in Hz."""
    loads = loads_of(robot)
    motors = sum(joint.flexible is not None for joint in robot.joints)
    joints = sum(FREEDOM.get(joint.type, 1) for joint in robot.joints)
    modes = sum(link.flexible.n_modes for link in robot.links if link.flexible is not None)
    return {
        'name': robot.name, 'source': robot.source,
        'coordinates': {'joints': joints, 'motors': motors, 'modes': modes,
                        'total': joints + motors + modes},
        'gravity': robot.gravity.tolist(),
        'links': [{'name': link.name,
                   'mass': link.inertia.mass if link.inertia is not None else
                   _beam_mass(link.flexible),
                   'flexible': None if link.flexible is None else
                   _flexible(link.flexible, loads[link.name], robot.source)}
                  for link in robot.links],
        'joints': [_joint(joint) for joint in robot.joints],
        'frames': [{'name': frame.name, 'link': frame.link} for frame in robot.frames],
        'imus': [asdict(imu) for imu in robot.imus],
        'warnings': list(robot.warnings),
    }


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
        'end_stiffness': _end_stiffness(link),
        'modes': [asdict(mode) for mode in modes],
        'gauges': [asdict(gauge) for gauge in link.gauges],
    }


def _end_stiffness(link: FlexibleLink) -> dict[str, float]:
    """Force per deflection (N/m) and torque per twist (N m/rad) at the end of the clamped beam:
    the inverse of the integral of (L - x)^2 / (E I), and of 1 / (G J)."""
    x, weight = gauss_stations(link.breakpoints, 16)
    at = link.properties(x)
    arm = weight * (link.length - x)**2
    return {'y': float(1 / np.sum(arm / at.bending_stiffness_z)),
            'z': float(1 / np.sum(arm / at.bending_stiffness_y)),
            'twist': float(1 / np.sum(weight / at.torsion_stiffness))}


def _joint(joint: Joint) -> dict[str, Any]:
    return {'name': joint.name, 'type': joint.type, 'parent': joint.parent, 'child': joint.child,
            'axis': joint.axis.tolist(), 'section_x': joint.section_x,
            'limits': _limits(joint.limits),
            'flexible': None if joint.flexible is None else _spring(joint, joint.flexible)}


def _spring(joint: Joint, spring: FlexibleJoint) -> dict[str, Any]:
    """The spring with the rotor inertia reflected to the joint, and the units of all figures."""
    force, way, inertia = (('N', 'm', 'kg') if joint.type == 'prismatic'
                           else ('N m', 'rad', 'kg m2'))
    return {**asdict(spring), 'reflected_inertia': spring.motor_inertia * spring.gear_ratio**2,
            'units': {'stiffness': f'{force}/{way}', 'damping': f'{force} s/{way}',
                      'motor_inertia': 'kg m2', 'gear_ratio': f'rad/{way}',
                      'reflected_inertia': inertia}}


def _limits(limits: Limits) -> dict[str, float | None]:
    """JSON has no infinity: null stands for no limit."""
    return {name: value if np.isfinite(value) else None
            for name, value in asdict(limits).items()}
