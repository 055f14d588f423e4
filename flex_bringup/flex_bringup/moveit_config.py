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
"""A folder of MoveIt's configuration files, checked against a robot, as parameters of move_group.

The folder has what MoveIt's setup assistant writes: one SRDF, kinematics.yaml, joint_limits.yaml,
moveit_controllers.yaml, and where they differ from ours *_planning.yaml and
pilz_cartesian_limits.yaml. Mistakes are reported before any node starts: move_group would
begin, and fail at the first motion.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from ament_index_python.packages import get_package_share_directory

from flex_bringup.launch_arguments import ArgumentError, check_params_file
from flex_description import Robot, RobotError, read_group_states, read_pose
from flex_description.suggestion import suggestion

CONTROL = 'control'                  # the node that takes MoveIt's goals
ACTION = 'follow_joint_trajectory'
MANAGER = 'moveit_simple_controller_manager'
PIPELINES = ('ompl', 'pilz_industrial_motion_planner')    # the first by default


class MoveItConfig(NamedTuple):
    """srdf: path; states: names of group states within the joints' limits; parameters: of
    move_group, without the robot's description; display: those of them that RViz needs, too;
    warnings: what does not fit but does not hinder MoveIt, a line each."""

    srdf: str
    states: list[str]
    parameters: dict[str, Any]
    display: dict[str, Any]
    warnings: list[str]


def bundled_folder(robot: str) -> Path:
    """The folder of a bundled robot, whether there is one or not."""
    return Path(get_package_share_directory('flex_bringup'), 'config', 'moveit', robot)


def read_moveit_config(folder: str | Path, robot: Robot) -> MoveItConfig:
    """Read and check the files; ArgumentError, or RobotError of the SRDF, with one line."""
    folder = Path(folder)
    if not folder.is_dir():
        raise ArgumentError(f'moveit_config: expected a folder with an SRDF, kinematics.yaml, '
                            f'joint_limits.yaml and moveit_controllers.yaml, found none: {folder}')
    found = sorted(folder.glob('*.srdf'))
    if len(found) != 1:
        raise ArgumentError(f'moveit_config: expected one .srdf file (a xacro: expand it first), '
                            f'found {len(found)} in {folder}')
    srdf = found[0]
    states = read_group_states(robot, srdf, log_warnings=False)
    root = ElementTree.fromstring(srdf.read_text(encoding='utf-8'))      # read_group_states did
    groups, warnings = check_srdf(root, robot, srdf.name)
    for name in list(states):
        try:
            read_pose(robot, name, {name: states[name]}, f'{srdf.name}, group_state {name}')
        except RobotError as error:
            del states[name]
            if '/' in name:                  # it is there by its short name, too
                warnings.append(str(error))
    kinematics = _read(folder / 'kinematics.yaml')
    for group in kinematics:
        if group not in groups:
            raise ArgumentError(f'kinematics.yaml: expected groups of {srdf.name}, found '
                                f'{group!r}; {suggestion(str(group), groups)}')
    limits = _read(folder / 'joint_limits.yaml')
    warnings += check_limits(limits, robot)
    execution, left_out = control_node_as_controller(
        _read(folder / 'moveit_controllers.yaml'), robot)
    warnings += [f'moveit_controllers.yaml: {name} is left out: the control node takes the place '
                 'of controllers of type FollowJointTrajectory only' for name in left_out]
    planning = {**limits, **_read(_own_or_ours(folder, 'pilz_cartesian_limits.yaml'))}
    pipelines = {name: _read(_own_or_ours(folder, f'{name}_planning.yaml')) for name in PIPELINES}
    planners = list(pipelines['ompl'].get('planner_configs') or ())
    for group in groups if planners else ():         # OMPL wants the planners of each group
        pipelines['ompl'].setdefault(group, {'planner_configs': planners})
    display = {
        'robot_description_semantic': srdf.read_text(encoding='utf-8'),
        'robot_description_kinematics': kinematics,
        'robot_description_planning': planning,
        'planning_pipelines': list(PIPELINES),
        'default_planning_pipeline': PIPELINES[0],
        **pipelines,
    }
    scene = {f'publish_{what}': True for what in (
        'planning_scene', 'geometry_updates', 'state_updates', 'transforms_updates')}
    return MoveItConfig(str(srdf), list(states), {**display, **execution, **scene}, display,
                        warnings)


def check_srdf(root: ElementTree.Element, robot: Robot,
               name: str) -> tuple[dict[str, set[str]], list[str]]:
    """The joints that move, by the groups of an SRDF, and warnings; ArgumentError if it names what
    the robot or the SRDF does not have. Of pairs of links that is a warning: MoveIt ignores them.
    """
    if root.get('name') != robot.name:
        raise ArgumentError(f'{name}: expected the SRDF of {robot.name!r}, found that of '
                            f'{root.get("name")!r}')
    links = {link.name for link in robot.links}
    joints = {joint.name for joint in robot.joints}
    virtual = {str(one.get('name')) for one in root.findall('virtual_joint')}
    groups = {str(group.get('name')): group for group in root.findall('group')}
    known = {'link': links, 'joint': joints | virtual, 'group': set(groups)}
    warnings: dict[str, None] = {}
    for element, kind, attribute in _references(root):
        given = str(element.get(attribute))
        if given not in known[kind]:
            message = (f'{name}: <{element.tag}> {"link" if kind == "link" else attribute}: '
                       f'expected a {kind} of {robot.name}, found {given!r}; '
                       f'{suggestion(given, known[kind])}')
            if element.tag != 'disable_collisions':
                raise ArgumentError(message)
            warnings[message] = None
    above = {joint.child: joint for joint in robot.joints}
    moving = {joint.name for joint in robot.joints if joint.type != 'fixed'}

    def members(group: str, within: tuple[str, ...]) -> set[str]:
        if group in within:
            raise ArgumentError(f'{name}: group {group!r} contains itself')
        element, found = groups[group], set()
        for chain in element.findall('chain'):
            link, base = str(chain.get('tip_link')), chain.get('base_link')
            while link != base:
                if link not in above:
                    raise ArgumentError(f'{name}: group {group!r}, chain: expected a tip_link '
                                        f'below {base!r}, found {chain.get("tip_link")!r}')
                found.add(above[link].name)
                link = above[link].parent
        found |= {str(one.get('name')) for one in element.findall('joint')}
        found |= {above[str(one.get('name'))].name for one in element.findall('link')
                  if one.get('name') in above}
        for one in element.findall('group'):
            found |= members(str(one.get('name')), (*within, group))
        return found & moving

    return {group: members(group, ()) for group in groups}, list(warnings)


def _references(root: ElementTree.Element) -> Iterator[tuple[ElementTree.Element, str, str]]:
    """Elements of an SRDF that name a link, joint or group: the element, what, the attribute."""
    for group in root.findall('group'):
        yield from ((one, kind, 'name') for kind in ('link', 'joint', 'group')
                    for one in group.findall(kind))
        yield from ((one, 'link', attribute) for one in group.findall('chain')
                    for attribute in ('base_link', 'tip_link'))
    yield from ((one, 'group', 'group') for one in root.findall('group_state'))
    yield from ((one, 'joint', 'name') for one in root.findall('group_state/joint'))
    yield from ((one, 'link', attribute) for one in root.findall('disable_collisions')
                for attribute in ('link1', 'link2'))
    yield from ((one, 'link', 'child_link') for one in root.findall('virtual_joint'))
    yield from ((one, 'joint', 'name') for one in root.findall('passive_joint'))
    for one in root.findall('end_effector'):
        yield from ((one, 'link', 'parent_link'), (one, 'group', 'group'))


def check_limits(content: Mapping[str, Any], robot: Robot) -> list[str]:
    """Warnings about velocities in joint_limits.yaml that the control node refuses; ArgumentError
    if it names other joints or no good numbers."""
    warnings = []
    joints = {joint.name: joint.limits for joint in robot.joints if joint.type != 'fixed'}
    limits = content.get('joint_limits')
    if not isinstance(limits, Mapping) or not limits:
        raise ArgumentError('joint_limits.yaml: expected joint_limits with one entry a joint, '
                            'found none')
    for name, own in limits.items():
        if name not in joints:
            raise ArgumentError(f'joint_limits.yaml: expected joints of {robot.name}, found '
                                f'{name!r}; {suggestion(str(name), joints)}')
        if not isinstance(own, Mapping):
            raise ArgumentError(f'joint_limits.yaml: {name}: expected max_velocity and others, '
                                f'found {own!r}')
        for key in ('max_velocity', 'max_acceleration'):
            value = own.get(key, 1.0)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0.0:
                raise ArgumentError(f'joint_limits.yaml: {name}, {key}: expected a positive '
                                    f'number, found {value!r}')
        most = joints[name].velocity
        if own.get('has_velocity_limits') and own.get('max_velocity', 0.0) > most:
            warnings.append(f'joint_limits.yaml: {name}, max_velocity: expected at most {most:g}, '
                            f'the limit of the URDF, found {own["max_velocity"]:g}; the control '
                            'node refuses faster motions')
    return warnings


def control_node_as_controller(content: Mapping[str, Any],
                               robot: Robot) -> tuple[dict[str, Any], list[str]]:
    """The parameters of moveit_controllers.yaml with the control node in the place of all
    controllers of type FollowJointTrajectory, and the names of the controllers left out."""
    given = content.get(MANAGER)
    controllers = {} if not isinstance(given, Mapping) else {
        str(name): given.get(name) for name in given.get('controller_names') or ()}
    joints = {joint.name for joint in robot.joints if joint.type != 'fixed'}
    driven: list[str] = []
    left_out = []
    for name, own in controllers.items():
        if not isinstance(own, Mapping):
            raise ArgumentError(f'moveit_controllers.yaml: expected parameters of the controller '
                                f'{name}, found none')
        if own.get('type') != 'FollowJointTrajectory':
            left_out.append(name)
            continue
        for joint in own.get('joints') or ():
            if joint not in joints:
                raise ArgumentError(f'moveit_controllers.yaml: {name}: expected joints of '
                                    f'{robot.name}, found {joint!r}; '
                                    f'{suggestion(str(joint), joints)}')
            driven.append(str(joint))
    if not driven:
        raise ArgumentError(f'moveit_controllers.yaml: expected {MANAGER} with a controller of '
                            'type FollowJointTrajectory and its joints, found none')
    replaced = {'controller_names': [CONTROL], CONTROL: {
        'type': 'FollowJointTrajectory', 'action_ns': ACTION, 'default': True,
        'joints': list(dict.fromkeys(driven))}}
    return {**content, MANAGER: replaced}, left_out


def _own_or_ours(folder: Path, name: str) -> Path:
    own = folder / name
    return own if own.is_file() else bundled_folder('') / name


def _read(path: Path) -> dict[str, Any]:
    return check_params_file(str(path), f'moveit_config: {path.name}')
