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
"""sim.launch.py, to be seen: in RViz where it is installed, else in the browser."""
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.conditions import UnlessCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from flex_bringup.launch_arguments import (
    QUIET,
    check_params_file,
    checked_description,
    start_arguments,
    viewer_goals,
)

SHARE = FindPackageShare('flex_bringup')
DEFAULTS = PathJoinSubstitution([SHARE, 'config', 'default.yaml'])
# Motions and goals that belong to one bundled robot.
MOTIONS = {'cibicik_arm': 'cibicik_manoeuvre.yaml'}


def rviz_installed() -> bool:
    try:
        get_package_share_directory('rviz2')
    except PackageNotFoundError:
        return False
    return True


def choose_parameters(context: LaunchContext) -> None:
    """Without a params_file: that of the robot's motion if it has one, with pd, whose gains it
    names, else the defaults."""
    robot = LaunchConfiguration('robot').perform(context)
    given = LaunchConfiguration('params_file').perform(context)
    if not given and robot in MOTIONS:
        context.launch_configurations.setdefault('controller', 'pd')
    chosen = given or PathJoinSubstitution(
        [SHARE, 'config', MOTIONS.get(robot, 'default.yaml')]).perform(context)
    check_params_file(chosen)
    context.launch_configurations['params_file'] = chosen


def start_viewer(context: LaunchContext) -> list[Node]:
    """The page, with the goals of params_file and of the SRDF."""
    parameters = {
        'robot': ParameterValue(LaunchConfiguration('robot'), value_type=str),
        'overlay': ParameterValue(LaunchConfiguration('overlay'), value_type=str),
        'host': ParameterValue(LaunchConfiguration('host'), value_type=str),
        'port': ParameterValue(LaunchConfiguration('port'), value_type=int)}
    return [Node(package='flex_viz', executable='viewer', name='viewer', output='screen',
                 namespace=LaunchConfiguration('namespace'), remappings=[('/clock', 'clock')],
                 parameters=[DEFAULTS, LaunchConfiguration('params_file'),
                             *viewer_goals(context), parameters, QUIET])]


def generate_launch_description() -> LaunchDescription:
    """The arguments of sim.launch.py that matter here, and those of the viewer."""
    names = ('robot', 'overlay', 'params_file', 'start', 'srdf', 'namespace', 'sync', 'in_process',
             'use_rviz')
    return checked_description(__file__, [
        DeclareLaunchArgument('robot', default_value='cibicik_arm',
                              description='URDF or xacro file, or the name of a bundled robot'),
        DeclareLaunchArgument('overlay', default_value='',
                              description='YAML file that makes links of the robot flexible'),
        DeclareLaunchArgument(
            'params_file', default_value='',
            description='YAML file with further parameters of the nodes, which win over those of '
                        'config/default.yaml; empty: the motion of config/cibicik_manoeuvre.yaml '
                        'for cibicik_arm, none for other robots'),
        *start_arguments(),
        DeclareLaunchArgument('namespace', default_value='',
                              description='namespace of the robot; empty: none'),
        DeclareLaunchArgument('sync', default_value='free', choices=['free', 'lockstep'],
                              description='paced by the wall clock, or by the commands'),
        # A picture, a browser and several nodes keep a small machine busy: without a topic between
        # them, simulator and controller do not wait for each other.
        DeclareLaunchArgument('in_process', default_value='true', choices=['true', 'false'],
                              description='simulator and control node in one process, no topic '
                                          'between them; false: a process each, and the topic '
                                          'joint_commands'),
        DeclareLaunchArgument('use_rviz', default_value=str(rviz_installed()).lower(),
                              choices=['true', 'false'],
                              description='RViz; false: a page for the browser'),
        DeclareLaunchArgument('host', default_value='127.0.0.1',
                              description='address that serves the page: this machine alone, or '
                                          '0.0.0.0 for others too'),
        DeclareLaunchArgument('port', default_value='8080',
                              description='of the page; the next free one if it is taken'),
        OpaqueFunction(function=choose_parameters),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(PathJoinSubstitution([SHARE, 'launch',
                                                                'sim.launch.py'])),
            launch_arguments=[(name, LaunchConfiguration(name)) for name in names]),
        OpaqueFunction(function=start_viewer,
                       condition=UnlessCondition(LaunchConfiguration('use_rviz'))),
    ])
