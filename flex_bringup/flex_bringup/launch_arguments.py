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
"""Arguments of the launch files, checked before any node starts.

A mistake ends the launch with one line; else each node would report it, or launch only warn.
"""
from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration

from flex_description import Robot, RobotError, load_robot, read_group_states, read_pose
from flex_description.suggestion import suggestion
from flex_ros.printable_text import printable

OPTIONS = ('launch-prefix', 'launch-prefix-filter')      # of ros2 launch, which adds them
LARGEST = 2**20      # bytes of a parameter file
TOPIC = re.compile(r'/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*', re.ASCII)
# Parameter of all nodes of a launch but one, which logs the warnings about the robot for all.
QUIET = {'description_warnings': False}


class ArgumentError(ValueError):
    """An argument of a launch file that cannot be used; one line for people."""


def checked_description(file: str, entities: Iterable[Any]) -> LaunchDescription:
    """The description of the launch file `file`, which refuses arguments that it does not have."""
    description = LaunchDescription(list(entities))
    return LaunchDescription([
        OpaqueFunction(function=refuse_unknown_arguments, args=[file, description]), description])


def refuse_unknown_arguments(context: LaunchContext, file: str,
                             description: LaunchDescription) -> None:
    """ArgumentError if the command line names an argument that `description` does not declare.

    launch itself takes any name. Where a launch file of someone else includes `file`, names may be
    that one's arguments, and are left to it.
    """
    if not _named_on_command_line(Path(file)):
        return
    known = [argument.name for argument in description.get_launch_arguments()]
    for word in context.argv:
        name = word.partition(':=')[0]
        if ':=' in word and name not in (*known, *OPTIONS):
            raise ArgumentError(f'{Path(file).name}: expected one of its arguments, found '
                                f'{printable(name)}; {suggestion(name, known)}')


def _named_on_command_line(file: Path) -> bool:
    """Whether this process is `ros2 launch` of that file, by its path or package and name."""
    words = sys.argv[1:]
    return (('flex_bringup', file.name) in zip(words, words[1:])
            or any(Path(word).is_file() and Path(word).samefile(file) for word in words))


def start_arguments() -> list[DeclareLaunchArgument]:
    """The arguments that say where the robot starts."""
    return [
        DeclareLaunchArgument(
            'start', default_value='',
            description="pose at the start: one number a joint ('0 0.5 1', rad or m), joint=value "
                        "pairs ('elbow=0.5 wrist=1') or the name of a pose: a goal in "
                        "params_file or a group state in srdf; empty: start.positions of "
                        'params_file, else zero where the limits allow it and the middle of the '
                        'range elsewhere'),
        DeclareLaunchArgument(
            'srdf', default_value='',
            description='SRDF file of the robot (MoveIt), for its group states; empty: none'),
    ]


def load_robot_once(context: LaunchContext) -> Robot:
    """The robot of the arguments robot and overlay. Its warnings are left to a node, which logs
    them with its name and on /rosout."""
    return load_robot(LaunchConfiguration('robot').perform(context),
                      LaunchConfiguration('overlay').perform(context) or None,
                      log_warnings=False)


def check_beside(context: LaunchContext) -> None:
    """Choose where beside.launch.py takes the robot from, and what joins its frames to the
    driver's; ArgumentError or RobotError if the arguments cannot be used."""
    robot, topic, overlay, prefix, merged = (
        LaunchConfiguration(name).perform(context).strip() for name in (
            'robot', 'robot_description_topic', 'overlay', 'frame_prefix',
            'merged_description_topic'))
    if robot:
        load_robot(robot, overlay or None, log_warnings=False)
    elif not topic:
        raise ArgumentError('robot: expected a robot, or a topic in robot_description_topic, '
                            'found neither')
    elif merged == topic:
        raise ArgumentError('merged_description_topic: expected another topic than '
                            f'robot_description_topic, found {merged} for both')
    elif overlay.endswith(('.yaml', '.yml')) and not Path(overlay).is_file():
        raise ArgumentError(f'overlay: expected a YAML file, found none: {overlay}')
    context.launch_configurations.update(
        robot_source=robot, description_topic='' if robot else topic,
        join_root='true' if prefix else 'false')


def driver(context: LaunchContext) -> str:
    """The simulator's parameter `driver`; ArgumentError if the arguments contradict each other."""
    given, control, sync, in_process = (LaunchConfiguration(name).perform(context) for name in (
        'driver', 'control', 'sync', 'in_process'))
    if control == 'true' or in_process == 'true':
        if given == 'independent':
            raise ArgumentError('driver: expected answering beside the control node, which '
                                'answers each state, found independent; did you mean '
                                'control:=false?')
        return 'answering'
    if given != 'answering' and sync == 'lockstep':
        raise ArgumentError('sync: expected free with control:=false, found lockstep, in which '
                            'each state waits for its command; for a node of your own that '
                            'answers each state: driver:=answering')
    return 'answering' if given == 'answering' else 'independent'


def check_params_file(path: str, argument: str = 'params_file') -> dict[str, Any]:
    """The content of a parameter file; ArgumentError if nodes could not read it. argument: the
    launch argument that names it."""
    expected = f'{argument}: expected a YAML file with parameters of nodes, found'
    file = Path(path)
    try:
        if not file.is_file():
            raise ArgumentError(f'{expected} {"a folder" if file.is_dir() else "no file"}: '
                                f'{path}')
        if file.stat().st_size > LARGEST:
            raise ArgumentError(f'{expected} more than {LARGEST // 2**20} MB: {path}')
        content = yaml.safe_load(file.read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(f'{expected} {path}: {error}') from None
    except yaml.YAMLError as error:
        raise ArgumentError(f'{expected} {path}: {" ".join(str(error).split())}') from None
    if content is not None and not isinstance(content, dict):
        raise ArgumentError(f'{expected} {path}: {type(content).__name__} in place of a mapping')
    return content or {}


def check_topics(context: LaunchContext, *arguments: str) -> None:
    """ArgumentError if one of these arguments is not the name of a topic."""
    for argument in arguments:
        name = LaunchConfiguration(argument).perform(context)
        if not TOPIC.fullmatch(name):
            raise ArgumentError(f'{argument}: expected the name of a topic (letters, digits and '
                                f'_, parted by /), found {name!r}')


def require_packages(packages: Mapping[str, str], what: str) -> None:
    """ArgumentError if one of the ROS packages is not installed; by each of them, the Debian
    package that has it. what: the program that needs them."""
    missing = []
    for package in packages:
        try:
            get_package_share_directory(package)
        except PackageNotFoundError:
            missing.append(package)
    if missing:
        debian = ' '.join(dict.fromkeys(packages[name] for name in missing))
        raise ArgumentError(f'{what} is not installed: no ROS package {", ".join(missing)}; '
                            f'install it with sudo apt install {debian}')


def viewer_goals(context: LaunchContext) -> list[str]:
    """Path of a new file with the parameter goals of the viewer: those of params_file and the
    group states of the argument srdf; none without an SRDF.

    A file, because launch_ros reads each text of a list as YAML, to which `home: 0 1` is a
    mapping.
    """
    srdf = LaunchConfiguration('srdf').perform(context).strip()
    if not srdf:
        return []
    robot = load_robot_once(context)
    content = check_params_file(LaunchConfiguration('params_file').perform(context))
    goals = list(_goals(content))
    states = read_group_states(robot, srdf, log_warnings=False)     # start_positions logs them
    for name, state in states.items():
        if '/' in name and states.get(name.rpartition('/')[2]) == state:
            continue            # the same pose by its short name
        try:
            pose = read_pose(robot, name, {name: state})
        except RobotError:      # beyond the limits: who chooses it as a start is told
            continue
        if state and ':' not in name:
            goals.append(f'{name}: {" ".join(f"{position:g}" for position in pose.values())}')
    if not goals:
        return []
    with tempfile.NamedTemporaryFile('w', prefix='goals_', suffix='.yaml', delete=False,
                                     encoding='utf-8') as file:
        yaml.safe_dump({'/**/viewer': {'ros__parameters': {'goals': goals}}}, file)
    return [file.name]


def start_positions(context: LaunchContext, robot: Robot) -> dict[str, list[float]]:
    """The parameter start.positions of the argument `start`; nothing if it is empty."""
    text = LaunchConfiguration('start').perform(context).strip()
    srdf = LaunchConfiguration('srdf').perform(context).strip()
    named = read_group_states(robot, srdf) if srdf else {}
    if not text:
        return {}
    content = check_params_file(LaunchConfiguration('params_file').perform(context))
    for goal in _goals(content):
        name, colon, numbers = goal.partition(':')
        if colon and name.strip() == text:
            text, named = numbers, {}
            break
        named.setdefault(name.strip(), {})       # for the suggestion in the message
    return {'start.positions': list(read_pose(robot, text, named, 'start').values())}


def _goals(content: Any) -> Iterator[str]:
    """The goal poses, `NAME: numbers`, in a parameter file, whatever the names of its nodes."""
    if not isinstance(content, dict):
        return
    for key, value in content.items():
        if key == 'goals':
            yield from (goal for goal in (value if isinstance(value, list) else [value])
                        if isinstance(goal, str))
        else:
            yield from _goals(value)
