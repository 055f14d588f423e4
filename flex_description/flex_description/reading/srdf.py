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
"""Group states of an SRDF, the poses with names that MoveIt's files have."""
from __future__ import annotations

import logging
import os

from flex_description.errors import cut, quoted
from flex_description.reading.element import Element
from flex_description.reading.source import read_source
from flex_description.robot import Robot

LOGGER = logging.getLogger('flex_description')
States = dict[str, dict[str, float]]


def read_group_states(robot: Robot, source: str | os.PathLike[str], *,
                      log_warnings: bool = True) -> States:
    """Positions (rad or m) by joint of the <group_state> elements of an SRDF, by their names.

    A state is found as `group/name`, and as `name` together with the states of that name of all
    other groups, unless they disagree about a joint.

    Parameters
    ----------
    robot : Robot
        Joints that it does not have are left out, which is reported to the logger
        `flex_description` unless they are virtual joints of the SRDF.
    source : str or path
        Path of an SRDF or of a xacro of one, or its text.
    log_warnings : bool, optional
        False: nothing is reported to the logger, for a caller that has read the file before.

    Raises
    ------
    RobotError
        With one line: file, line, element, what was expected and what was found.
    """
    root, _, _, _ = read_source(source)
    if root.tag != 'robot':
        raise root.error(f'expected <robot>, as an SRDF has it, found <{cut(root.tag)}>')
    if root.all('link'):
        raise root.all('link')[0].error('expected an SRDF, found an element of a URDF')
    kinds = {joint.name: joint.type for joint in robot.joints}
    strange: dict[str, Element] = {}
    states: States = {}
    alike: dict[str, list[dict[str, float]]] = {}
    for element in root.all('group_state'):
        name = element.text('name')
        # Some files leave the group out, although MoveIt wants it.
        group = element.text('group') if 'group' in element.attributes else ''
        if f'{group}/{name}' in states:
            raise element.error('expected one state of this name and group, found another one')
        state: dict[str, float] = {}
        for joint in element.all('joint'):
            of = joint.text('name')
            if kinds.get(of) in ('revolute', 'continuous', 'prismatic'):
                state[of] = float(joint.numbers('value', 1)[0])
            elif of not in kinds:
                strange.setdefault(of, joint)
        states[f'{group}/{name}'] = state
        alike.setdefault(name, []).append(state)
    for name, found in alike.items():
        merged = {of: position for state in found for of, position in state.items()}
        if all(state.items() <= merged.items() for state in found):
            states.setdefault(name, merged)
    states = {name: state for name, state in states.items() if not name.startswith('/')}
    for element in root.all('virtual_joint'):
        strange.pop(element.text('name'), None)
    for of, joint in strange.items() if log_warnings else ():
        LOGGER.warning(f'{joint.source}:{joint.line}: the robot has no joint {quoted(of)}; '
                       'group states are read without it')
    return states
