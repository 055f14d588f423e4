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
"""What moves a joint: its motor, behind a spring or not, or another joint that it follows.

<mimic> of joints: which joint each one follows in the end, checked. <flexible_joint> has a spring
and a rotor, <motor> a rotor alone.
"""
from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from flex_description.errors import quoted
from flex_description.reading.element import Element
from flex_description.robot import FlexibleJoint, Joint, Limits, Mimic, Motor
from flex_description.suggestion import suggestion

MOVING = ('revolute', 'continuous', 'prismatic')


def read_mimics(joints: dict[str, Element], warnings: list[str]) -> dict[str, Mimic]:
    """What each joint follows, by its name. A joint that follows a follower follows what that one
    follows. <mimic> of a fixed joint says nothing, and is left out."""
    elements = {name: found for name, element in joints.items()
                if (found := element.one('mimic')) is not None
                and element.text('type') != 'fixed'}
    written: dict[str, Mimic] = {}
    for name, element in elements.items():
        leader = element.text('joint')
        if leader == name:
            element.fail('joint', 'another joint', f'{quoted(leader)} itself')
        mimic = Mimic(leader, element.number('multiplier', 1.0), element.number('offset', 0.0))
        if wrong := _problem(name, leader, joints):
            warnings.append(f'{element.source}:{element.line}: {element.label}: {wrong}; joint '
                            f'{quoted(name)} follows none')
        else:
            written[name] = mimic
    return {name: _resolved(name, written, elements[name]) for name in written}


def _problem(name: str, leader: str, joints: dict[str, Element]) -> str:
    """Why a joint cannot follow another one; empty if it can."""
    if leader not in joints:
        return (f'joint: expected the name of a joint, found {quoted(leader)}; '
                f'{suggestion(leader, joints)}')
    for joint in (name, leader):
        kind = joints[joint].text('type')
        if kind not in MOVING:
            return (f'expected joints that are {", ".join(MOVING)}, found {quoted(joint)}, which '
                    f'is {kind}')
    return ''


def _resolved(name: str, written: dict[str, Mimic], element: Element) -> Mimic:
    """What the joint follows in the end."""
    mimic, chain = written[name], [name]
    while mimic.joint in written:
        if mimic.joint in chain:
            circle = ' follows '.join(map(quoted, [*chain, mimic.joint]))
            raise element.error(f'joint: expected a joint that follows none, found a circle: '
                                f'{circle}')
        chain.append(mimic.joint)
        other = written[mimic.joint]
        mimic = Mimic(other.joint, mimic.multiplier * other.multiplier,
                      mimic.multiplier * other.offset + mimic.offset)
    return mimic


def limited_by_followers(ordered: Iterable[Joint], elements: dict[str, Element],
                         warnings: list[str]) -> tuple[Joint, ...]:
    """The joints, with the limits of leaders such that their followers keep to their own."""
    joints = {joint.name: joint for joint in ordered}
    for name, joint in joints.items():
        if joint.mimic is not None:
            leader = joints[joint.mimic.joint]
            joints[leader.name] = replace(leader, limits=_room(
                joint, joint.mimic, leader, elements[name], warnings))
    return tuple(joints.values())


def _room(follower: Joint, mimic: Mimic, leader: Joint, element: Element,
          warnings: list[str]) -> Limits:
    """Limits of a leader that a follower leaves it."""
    own, limits, size = follower.limits, leader.limits, abs(mimic.multiplier)
    spoken = (f'{own.lower:g} to {own.upper:g} for {quoted(follower.name)}, which follows '
              f'{quoted(leader.name)} with multiplier {mimic.multiplier:g} and offset '
              f'{mimic.offset:g}')
    if size == 0.0:
        if not own.lower <= mimic.offset <= own.upper:
            raise element.error(f'<limit>: expected the offset of <mimic> within it, found '
                                f'{spoken}')
        return limits
    ends = sorted((end - mimic.offset) / mimic.multiplier for end in (own.lower, own.upper))
    lower, upper = max(limits.lower, ends[0]), min(limits.upper, ends[1])
    if lower > upper:
        raise element.error(
            f'<limit>: expected a range that leaves {quoted(leader.name)} some of its own, '
            f'{limits.lower:g} to {limits.upper:g}, found {spoken}: that is {ends[0]:g} to '
            f'{ends[1]:g} of {quoted(leader.name)}')
    where = f'{element.source}:{element.line}: {element.label}'
    if lower == upper and limits.lower < limits.upper:
        warnings.append(f'{where}: its limits leave {quoted(leader.name)}, which it follows, one '
                        f'position only, {lower:g}; check the sign of its multiplier')
    rates = {}
    for rate in ('velocity', 'acceleration', 'deceleration', 'jerk'):
        most = getattr(own, rate) / size
        if most == 0.0:
            warnings.append(f'{where}: {rate} of its <limit> is 0, which would hold '
                            f'{quoted(leader.name)}; it is not used')
            most = math.inf
        rates[rate] = min(getattr(limits, rate), most)
    return replace(limits, lower=lower, upper=upper, **rates)


def read_drives(ordered: Iterable[Joint], springs: dict[str, Element],
                motors: dict[str, Element]) -> dict[str, FlexibleJoint | Motor]:
    """By joint, from the elements by joint; a joint has one of both at most."""
    joints = {joint.name: joint for joint in ordered}
    found: dict[str, FlexibleJoint | Motor] = {
        name: _spring(element, joints) for name, element in springs.items()}
    for name, element in motors.items():
        motor = _motor(element, joints)
        if name in found:
            element.fail('joint', 'a joint without <flexible_joint>',
                         f'{quoted(name)}, whose <flexible_joint> has the inertia of its motor '
                         'already; leave <motor> out')
        found[name] = motor
    return found


def _moving(element: Element, joints: dict[str, Joint]) -> Joint:
    """The joint of an element, which can have a motor."""
    name = element.text('joint')
    if name not in joints:
        element.fail('joint', 'the name of a joint', f'{quoted(name)}; '
                                                     f'{suggestion(name, joints)}')
    joint = joints[name]
    if joint.type not in MOVING:
        element.fail('joint', 'a revolute, continuous or prismatic joint',
                     f'{quoted(name)}, which is {joint.type}')
    return joint


def _spring(element: Element, joints: dict[str, Joint]) -> FlexibleJoint:
    element.allow({'joint', 'stiffness', 'damping', 'motor_inertia', 'gear_ratio'})
    joint = _moving(element, joints)
    if joint.mimic is not None:
        element.fail('joint', 'a joint that follows none',
                     f'{quoted(joint.name)}, which follows {quoted(joint.mimic.joint)} '
                     '(<mimic>) rigidly; make that one elastic')
    slides = joint.type == 'prismatic'
    return FlexibleJoint(
        stiffness=element.number('stiffness', above=0.0, unit='N/m' if slides else 'N m/rad'),
        motor_inertia=element.number('motor_inertia', above=0.0, unit='kg m2'),
        damping=element.number('damping', 0.0, least=0.0,
                               unit='N s/m' if slides else 'N m s/rad'),
        gear_ratio=_ratio(element, 'gear_ratio', slides))


def _motor(element: Element, joints: dict[str, Joint]) -> Motor:
    element.allow({'joint', 'inertia', 'ratio'})
    joint = _moving(element, joints)
    return Motor(inertia=element.number('inertia', least=0.0, unit='kg m2'),
                 ratio=_ratio(element, 'ratio', joint.type == 'prismatic'))


def _ratio(element: Element, name: str, slides: bool) -> float:
    # A default of 1 rad/m would fit no spindle, rack or rope drive.
    return element.number(name, None if slides else 1.0, above=0.0,
                          unit='rad of the motor per m' if slides else 'rad/rad')


def read_passive(joints: Iterable[Joint], elements: dict[str, Element],
                 drives: dict[str, FlexibleJoint | Motor]) -> set[str]:
    """Names of joints that <passive_joint> says have no motor."""
    known = {joint.name: joint for joint in joints}
    for name, element in elements.items():
        element.allow({'name'})
        if name not in known:
            element.fail('name', 'the name of a joint',
                         f'{quoted(name)}; {suggestion(name, known)}')
        if known[name].type not in MOVING:
            element.fail('name', f'a joint that is {", ".join(MOVING)}',
                         f'{quoted(name)}, which is {known[name].type}')
        if name in drives:
            element.fail('name', 'a joint without <motor> and <flexible_joint>',
                         f'{quoted(name)}, which has a motor')
        if known[name].mimic is not None:
            element.fail('name', 'a joint that moves freely',
                         f'{quoted(name)}, which follows another one')
    return set(elements)
