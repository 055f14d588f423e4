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
"""MoveIt plans for the flexible robot: simulator and control node on simulated time, state
publisher, move_group, and RViz with its panel for planning if it is asked for."""
from typing import Any

from launch import LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    LogInfo,
    OpaqueFunction,
    Shutdown,
)
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from flex_bringup.launch_arguments import (
    QUIET,
    checked_description,
    load_robot_once,
    require_packages,
)
from flex_bringup.moveit_config import bundled_folder, read_moveit_config
from flex_bringup.rviz_view import write_view
from flex_description import published_description

SHARE = FindPackageShare('flex_bringup')
BOOLEANS = ['true', 'false']
PACKAGES = dict.fromkeys((
    'moveit_ros_move_group', 'moveit_simple_controller_manager', 'moveit_planners_ompl',
    'pilz_industrial_motion_planner', 'moveit_kinematics'), 'ros-jazzy-moveit')
DISPLAY_PACKAGES = {'rviz2': 'ros-jazzy-rviz2', 'moveit_ros_visualization': 'ros-jazzy-moveit'}
HOME = 'home'
# Arguments of sim.launch.py that are arguments here too.
PASSED = ('robot', 'overlay', 'order', 'controller', 'params_file', 'in_process', 'namespace',
          'headless', 'record', 'log_level')


def start_all(context: LaunchContext) -> list[Any]:
    """Check what is installed and the configuration; then the nodes."""
    given = {name: LaunchConfiguration(name).perform(context) for name in (
        *PASSED, 'moveit_config', 'start', 'use_rviz')}
    windows = given['use_rviz'] == 'true' and given['headless'] == 'false'
    require_packages({**PACKAGES, **(DISPLAY_PACKAGES if windows else {})}, 'MoveIt')
    robot = load_robot_once(context)
    config = read_moveit_config(given['moveit_config'] or bundled_folder(given['robot']), robot)
    start = given['start'] or (HOME if HOME in config.states else '')
    description = {'robot_description': ParameterValue(published_description(robot),
                                                       value_type=str)}
    sim_time = {'use_sim_time': True}
    # Without names of their own: parameters then reach all nodes of the process, also that of the
    # controller manager in move_group.
    common = {'namespace': given['namespace'], 'output': 'screen', 'remappings': [
        ('/tf', 'tf'), ('/tf_static', 'tf_static'), ('/clock', 'clock')]}
    return [
        *(LogInfo(msg=f'warning: {warning}') for warning in config.warnings),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(PathJoinSubstitution([SHARE, 'launch',
                                                                'sim.launch.py'])),
            launch_arguments=[*((name, given[name]) for name in PASSED), ('start', start),
                              ('srdf', config.srdf), ('use_rviz', 'false')]),
        Node(package='moveit_ros_move_group', executable='move_group', **common,
             parameters=[description, _texts(config.parameters), sim_time],
             on_exit=Shutdown(reason='move_group has ended')),
        *(_windows(given, robot, [description, _texts(config.display), sim_time], common)
          if windows else ()),
    ]


def _windows(given: dict[str, str], robot: Any, parameters: list[Any],
             common: dict[str, Any]) -> list[Node]:
    """RViz with MoveIt's panel, and the node that draws the bent links for it."""
    drawn = {name: ParameterValue(given[name], value_type=str) for name in ('robot', 'overlay')}
    return [
        Node(package='flex_viz', executable='markers', name='markers', **common,
             parameters=[drawn, QUIET]),
        Node(package='rviz2', executable='rviz2', **common, parameters=parameters,
             arguments=['-d', write_view(robot, 'moveit.rviz'), '-f', robot.links[0].name])]


def _texts(parameters: dict[str, Any]) -> dict[str, Any]:
    """The same, with texts that launch does not take for YAML."""
    return {name: _texts(value) if isinstance(value, dict) else
            ParameterValue(value, value_type=str) if isinstance(value, str) else value
            for name, value in parameters.items()}


def generate_launch_description() -> LaunchDescription:
    """The arguments, then the nodes."""
    return checked_description(__file__, [
        DeclareLaunchArgument(
            'robot', default_value='ur5',
            description='ur5, panda, or with moveit_config any URDF or xacro file or bundled '
                        'robot'),
        DeclareLaunchArgument(
            'moveit_config', default_value='',
            description="folder with the robot's SRDF, kinematics.yaml, joint_limits.yaml and "
                        'moveit_controllers.yaml, as the setup assistant writes them; empty: '
                        'that of the bundled robot'),
        DeclareLaunchArgument(
            'overlay', default_value='',
            description='YAML file that makes links of the robot flexible (ur5_flexible for the '
                        'UR5); empty: none'),
        DeclareLaunchArgument(
            'order', default_value='second', choices=['first', 'second'],
            description='deformation field: second order (with foreshortening) or first'),
        DeclareLaunchArgument(
            'controller', default_value='pid',
            description='name of an installed controller'),
        DeclareLaunchArgument(
            'params_file', default_value='',
            description='YAML file with further parameters of our nodes; empty: none'),
        DeclareLaunchArgument(
            'start', default_value='',
            description='pose at the start: numbers, joint=value pairs, or a group state of the '
                        f'SRDF; empty: its state {HOME}, if it has one'),
        DeclareLaunchArgument(
            'in_process', default_value='false', choices=BOOLEANS,
            description='simulator and control node in one process, no topic between them'),
        DeclareLaunchArgument(
            'namespace', default_value='', description='namespace of the robot; empty: none'),
        DeclareLaunchArgument(
            'use_rviz', default_value='false', choices=BOOLEANS,
            description="start RViz with MoveIt's panel and the bent links"),
        DeclareLaunchArgument(
            'headless', default_value='false', choices=BOOLEANS,
            description='open no window, whatever use_rviz says'),
        DeclareLaunchArgument(
            'record', default_value='',
            description='folder, not there yet, to record all topics to as a rosbag2; empty: '
                        'none'),
        DeclareLaunchArgument(
            'log_level', default_value='info', choices=['debug', 'info', 'warn', 'error', 'fatal'],
            description='least severity that our nodes print'),
        OpaqueFunction(function=start_all),
    ])
