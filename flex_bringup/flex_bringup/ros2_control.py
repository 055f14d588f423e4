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
"""A <ros2_control> tag and a controllers' file, checked before the controller manager starts.

It would wait for topics that nobody publishes, or abort with the name of an interface only.
"""
from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import yaml
from ament_index_python.packages import get_package_share_directory

from flex_bringup.launch_arguments import TOPIC, ArgumentError, check_params_file
from flex_description import Robot
from flex_description.suggestion import suggestion
from flex_dynamics import Model, largest_joint_inertia

PLUGIN = 'joint_state_topic_hardware_interface/JointStateTopicSystem'
PLUGINS = (PLUGIN, 'topic_based_ros2_control/TopicBasedSystem')      # the second: its old name
# Where the hardware listens and speaks if its tag does not say it.
DEFAULTS = {'joint_states_topic': '/robot_joint_states',
            'joint_commands_topic': '/robot_joint_commands'}
STATES = ('position', 'velocity', 'effort')      # what the simulator's joint_states have
# Gains of efforts per inertia about a joint; config/ros2_control.yaml says why.
STIFFNESS, INTEGRAL, DAMPING = 225.0, 900.0, 20.0      # 1/s2, 1/s3, 1/s
UNLIMITED = 1e6          # N m or N, the integral of joints without a limit of effort
MACRO = 'write the tag by <xacro:topic_ros2_control> of flex_description/robots/ros2_control.xml'


class HardwareTopics(NamedTuple):
    """Topics between the hardware component and the robot."""

    states: str
    commands: str


def check_hardware(robot: Robot) -> HardwareTopics:
    """The topics of the robot's <ros2_control> tag for topic hardware; ArgumentError if it has
    none, or if the hardware would fail with it."""
    root = ElementTree.fromstring(robot.urdf)
    tags = root.findall('ros2_control')
    plugins = [(tag.findtext('hardware/plugin') or 'none').strip() for tag in tags]
    ours = [tag for tag, plugin in zip(tags, plugins) if plugin in PLUGINS]
    if len(ours) != 1 or len(tags) != 1:
        raise ArgumentError(f'robot: expected one <ros2_control> tag with the plugin {PLUGIN}, '
                            f'found {" and ".join(plugins) if plugins else "no tag"}; {MACRO}')
    tag, = ours
    name = tag.get('name', '')
    given = {param.get('name', ''): (param.text or '').strip()
             for param in tag.findall('hardware/param')}
    topics = {key: given.get(key, default) for key, default in DEFAULTS.items()}
    for key, topic in topics.items():
        if not TOPIC.fullmatch(topic):
            raise ArgumentError(f'<ros2_control name="{name}">, {key}: expected the name of a '
                                f'topic, found {topic!r}')
        if topic.lstrip('/') == 'joint_states':
            raise ArgumentError(f'<ros2_control name="{name}">, {key}: expected another topic '
                                "than joint_states, which is the joint_state_broadcaster's, "
                                f'found {topic!r}; {MACRO}')
    if len(set(topics.values())) < len(topics):
        raise ArgumentError(f'<ros2_control name="{name}">: expected two topics, found '
                            f'{topics["joint_states_topic"]!r} for states and commands')
    for joint in tag.findall('joint'):
        states = [one.get('name') for one in joint.findall('state_interface')]
        missing = [state for state in STATES if state not in states]
        if missing:
            raise ArgumentError(
                f'<ros2_control name="{name}">, joint {joint.get("name")}: expected the state '
                f'interfaces {", ".join(STATES)}, into which the hardware writes what the '
                f'simulator publishes, found no {missing[0]}; {MACRO}')
    return HardwareTopics(topics['joint_states_topic'], topics['joint_commands_topic'])


def check_controllers(path: str, robot: Robot, needed: Iterable[str],
                      known: Iterable[str]) -> list[str]:
    """Those of the controllers `needed` and `known` that a file for ros2_control has, which is
    all of `needed`; ArgumentError if one of them does not fit the robot."""
    content = check_params_file(path, 'controllers_file')
    needed = list(needed)
    manager = _parameters(content, 'controller_manager')
    loaded = [name for name in dict.fromkeys([*needed, *known]) if _parameters(content, name)]
    for name in needed:
        if name not in loaded:
            raise ArgumentError(f'controllers_file: expected the controller {name}, found none of '
                                f'this name: {path}')
    interfaces = {joint.name: joint.command_interfaces for joint in robot.joints}
    for name in loaded:
        own = _parameters(content, name)
        listed = manager.get(name)
        if 'type' not in own and not (isinstance(listed, Mapping) and 'type' in listed):
            raise ArgumentError(f'controllers_file: expected controller_manager: {name}: type, '
                                f'found none: {path}')
        joints = own.get('joints', [])
        for joint in joints if isinstance(joints, list) else [joints]:
            if joint not in interfaces:
                raise ArgumentError(f'controllers_file: {name}, joints: expected joints of '
                                    f'{robot.name}, found {joint!r}; '
                                    f'{suggestion(str(joint), interfaces)}')
            commands = own.get('command_interfaces', [])
            missing = [one for one in commands if one not in interfaces[joint]]
            if missing:
                raise ArgumentError(
                    f'controllers_file: {name} commands the {missing[0]} of {joint}, for which '
                    f'the <ros2_control> tag of {robot.name} lists '
                    f'{", ".join(interfaces[joint]) or "no command interface"}')
    return loaded


def write_controllers(robot: Robot) -> str:
    """Path of a new file: config/ros2_control.yaml with the joints of the robot's <ros2_control>
    tag, and with gains by the rule of that file."""
    template = Path(get_package_share_directory('flex_bringup'), 'config', 'ros2_control.yaml')
    content = yaml.safe_load(template.read_text(encoding='utf-8'))
    model = Model(robot)
    inertia = dict(zip(model.joint_names, largest_joint_inertia(model)))
    joints = [joint for joint in robot.joints if joint.command_interfaces]
    gains = {}
    for joint in joints:
        moment = float(inertia.get(joint.name, 0.0))
        gains[joint.name] = {
            'p': _rounded(STIFFNESS * moment), 'i': _rounded(INTEGRAL * moment), 'd': 0.0,
            'i_clamp': float(min(joint.limits.effort, UNLIMITED)),
            'ff_velocity_scale': _rounded(DAMPING * moment), 'antiwindup_strategy': 'none'}
    for section in content.values():
        own = section['ros__parameters']
        if 'joints' not in own:
            continue
        own['joints'] = [joint.name for joint in joints]
        if 'constraints' in own:
            shared = {key: value for key, value in own['constraints'].items()
                      if not isinstance(value, dict)}
            each = next(value for value in own['constraints'].values() if isinstance(value, dict))
            own['constraints'] = {**shared, **{joint.name: dict(each) for joint in joints}}
        if 'gains' in own:
            own['gains'] = gains
    with tempfile.NamedTemporaryFile('w', prefix='ros2_control_', suffix='.yaml', delete=False,
                                     encoding='utf-8') as file:
        yaml.safe_dump(content, file, sort_keys=False)
    return file.name


def _rounded(value: float) -> float:
    return float(f'{value:.3g}')


def _parameters(content: Mapping[str, Any], node: str) -> Mapping[str, Any]:
    """The parameters of a node in a parameter file, whatever its namespace there."""
    for key, value in content.items():
        if str(key).rpartition('/')[2] == node and isinstance(value, Mapping):
            found = value.get('ros__parameters')
            if isinstance(found, Mapping):
                return found
    return {}
