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
"""<identified name="..." .../>: values found from recorded data, in place of those described.

They are those of `flex_dynamics.model_parameters`: of a flexible link its stiffnesses and mass per
length at the root of the beam (all of the beam has the same factor) and the first modal damping
ratio; of a rigid link its mass; of a joint stiffness, damping, friction and motor inertia. Mode
shapes stay those of the description.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from flex_description.errors import quoted
from flex_description.reading.element import Element
from flex_description.robot import FlexibleLink, Joint, Link, ScaledProperties
from flex_description.suggestion import suggestion

BEAM = ('bending_stiffness_y', 'bending_stiffness_z', 'twist_stiffness', 'mass_per_length',
        'damping')
RIGID = ('mass',)
JOINT = ('stiffness', 'damping', 'friction', 'motor_inertia')


def with_identified(links: tuple[Link, ...], joints: tuple[Joint, ...],
                    elements: Mapping[str, Element],
                    ) -> tuple[tuple[Link, ...], tuple[Joint, ...]]:
    """Links and joints with the values of <identified>, by name."""
    changed_links = {link.name: link for link in links}
    changed_joints = {joint.name: joint for joint in joints}
    for name, element in elements.items():
        link, joint = changed_links.get(name), changed_joints.get(name)
        if link is None and joint is None:
            known = [*changed_links, *changed_joints]
            element.fail('name', 'the name of a link or a joint',
                         f'{quoted(name)}; {suggestion(name, known)}')
        of_link = () if link is None else BEAM if link.flexible is not None else (
            RIGID if link.inertia is not None and link.inertia.mass > 0.0 else ())
        of_joint = JOINT if joint is not None and joint.type in (
            'revolute', 'continuous', 'prismatic') else ()
        element.allow({'name', *of_link, *of_joint})
        values = {key: element.number(key, least=0.0) for key in (*of_link, *of_joint)
                  if key in element.attributes}
        for key, value in values.items():
            if value == 0.0 and key not in ('damping', 'friction', 'motor_inertia'):
                element.fail(key, 'a positive number', '0')
        if link is not None and of_link:
            changed_links[name] = _link(link, {key: value for key, value in values.items()
                                               if key in of_link})
        if joint is not None:
            changed_joints[name] = _joint(joint, element, {
                key: value for key, value in values.items()
                if key in of_joint and key not in of_link})
    return tuple(changed_links.values()), tuple(changed_joints.values())


def _link(link: Link, values: Mapping[str, float]) -> Link:
    if not values:
        return link
    if link.flexible is None:
        assert link.inertia is not None
        factor = values['mass'] / link.inertia.mass
        return replace(link, inertia=replace(link.inertia, mass=values['mass'],
                                             tensor=factor * link.inertia.tensor))
    flexible: FlexibleLink = link.flexible
    at = flexible.properties(np.zeros(1))
    now = {'bending_stiffness_y': at.bending_stiffness_y, 'twist_stiffness': at.torsion_stiffness,
           'bending_stiffness_z': at.bending_stiffness_z, 'mass_per_length': at.mass_per_length}
    y, z, twist, mass = (values[key] / float(now[key][0]) if key in values else 1.0 for key in (
        'bending_stiffness_y', 'bending_stiffness_z', 'twist_stiffness', 'mass_per_length'))
    flexible = replace(flexible, properties=ScaledProperties(flexible.properties, y, z, twist,
                                                             mass))
    if 'damping' in values:
        flexible = replace(flexible, damping=flexible.damping.with_first_ratio(
            values['damping']))
    return replace(link, flexible=flexible)


def _joint(joint: Joint, element: Element, values: Mapping[str, float]) -> Joint:
    joint = replace(joint, friction=values.get('friction', joint.friction))
    if joint.flexible is not None:
        spring = joint.flexible
        return replace(joint, flexible=replace(
            spring, stiffness=values.get('stiffness', spring.stiffness),
            damping=values.get('damping', spring.damping),
            motor_inertia=values.get('motor_inertia', spring.motor_inertia)))
    if 'stiffness' in values:
        element.fail('stiffness', 'an elastic joint', f'none in {quoted(joint.name)}; a '
                     '<flexible_joint> makes it one')
    joint = replace(joint, damping=values.get('damping', joint.damping))
    if 'motor_inertia' in values:
        if joint.motor is None:
            element.fail('motor_inertia', 'a joint with a <motor>', 'none in '
                         f'{quoted(joint.name)}')
        else:
            joint = replace(joint, motor=replace(joint.motor, inertia=values['motor_inertia']))
    return joint
