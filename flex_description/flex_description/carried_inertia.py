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
"""Inertia that each joint carries: all links beyond it as one rigid body, at the zero pose."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from flex_description.errors import cut, quoted
from flex_description.rigid_inertia import combined, transformed
from flex_description.robot import Inertia, Joint

MOVING = ('revolute', 'continuous', 'prismatic')
# Of a link that a joint moves although it has none: a ball of 1 g and a radius of 50 mm.
SMALL_MASS, SMALL_MOMENT = 1e-3, 1e-6      # kg, kg m2
LISTED = 5


def carried_inertia(joints: Sequence[Joint], inertias: Mapping[str, Inertia | None],
                    ) -> dict[str, Inertia | None]:
    """For every joint: all that it carries, as one rigid body in the frame of its parent link.

    joints: in tree order. inertias: of every link, undeformed, in its own frame. The value is
    None where nothing that is carried has mass.
    """
    on_link: dict[str, list[Inertia]] = {joint.child: [] for joint in joints}
    result: dict[str, Inertia | None] = {}
    for joint in reversed(joints):
        own = inertias[joint.child]
        body = combined([*([own] if own is not None else []), *on_link[joint.child]])
        result[joint.name] = None if body is None else transformed(body, joint.origin)
        if body is not None and joint.parent in on_link:
            on_link[joint.parent].append(transformed(body, joint.origin))
    return result


def with_small_masses(joints: Sequence[Joint], inertias: Mapping[str, Inertia | None],
                      source: str) -> tuple[dict[str, Inertia | None], list[str]]:
    """The inertias, with a small one for links that joints move although nothing there has mass,
    as fingers, wheels and sensors of many URDFs; and a warning that names them.

    A robot without any mass is left as it is. source: the file, for the warning.
    """
    result, given = dict(inertias), list[Joint]()
    carrying = {name for name, inertia in inertias.items() if inertia is not None}
    if carrying:
        for joint in reversed(joints):
            if joint.type in MOVING and joint.child not in carrying:
                result[joint.child] = Inertia(SMALL_MASS, np.zeros(3), SMALL_MOMENT * np.eye(3))
                given.append(joint)
                carrying.add(joint.child)
            if joint.child in carrying:
                carrying.add(joint.parent)
    if not given:
        return result, []
    named = ', '.join(f'{cut(joint.name)} (link {quoted(joint.child)})'
                      for joint in reversed(given[-LISTED:]))
    more = f' and {len(given) - LISTED} more' if len(given) > LISTED else ''
    return result, [f'{source}: nothing that these joints move has mass: {named}{more}; each link '
                    f'is given {SMALL_MASS:g} kg and {SMALL_MOMENT:g} kg m2; write its '
                    '<inertial>']
