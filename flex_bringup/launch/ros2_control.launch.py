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
"""The simulator as the hardware of ros2_control: controller manager, broadcaster and trajectory
controller drive the flexible robot over topics.

The simulator publishes robot_joint_states and takes robot_joint_commands, as the robot's
<ros2_control> tag says; joint_states is the broadcaster's. Time is simulated.
"""
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
from launch_ros.substitutions import FindPackageShare

from flex_bringup.launch_arguments import (
    checked_description,
    load_robot_once,
    require_packages,
    start_arguments,
)
from flex_bringup.ros2_control import check_controllers, check_hardware, write_controllers

SHARE = FindPackageShare('flex_bringup')
BOOLEANS = ['true', 'false']
CONTROLLERS = {'position': 'joint_trajectory_controller',
               'effort': 'effort_trajectory_controller'}
BROADCASTER = 'joint_state_broadcaster'
PACKAGES = {name: f'ros-jazzy-{name.replace("_", "-")}' for name in (
    'controller_manager', 'joint_state_topic_hardware_interface', 'joint_state_broadcaster',
    'joint_trajectory_controller')}
# Arguments of sim.launch.py that are arguments here too.
PASSED = ('robot', 'overlay', 'order', 'params_file', 'start', 'srdf', 'use_rviz', 'headless',
          'record', 'log_level')


def start_all(context: LaunchContext) -> list[Any]:
    """Check what is installed, the robot's tag and the controllers; then the nodes."""
    require_packages(PACKAGES, 'ros2_control')
    file = LaunchConfiguration('controllers_file').perform(context)
    chosen = CONTROLLERS[LaunchConfiguration('interface').perform(context)]
    robot = load_robot_once(context)
    topics = check_hardware(robot)
    written = not file
    file = file or write_controllers(robot)
    loaded = check_controllers(file, robot, (BROADCASTER, chosen), CONTROLLERS.values())
    passive = [name for name in loaded if name not in (BROADCASTER, chosen)]
    passed = [(name, LaunchConfiguration(name)) for name in PASSED]
    # Without names of their own: parameters then reach all nodes of the process, the hardware's
    # and the controllers' too, which must know that time is simulated.
    manager = {'package': 'controller_manager', 'output': 'screen'}
    return [
        *([LogInfo(msg=f'controllers for {robot.name}: {file}')] if written else ()),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(PathJoinSubstitution([SHARE, 'launch',
                                                                'sim.launch.py'])),
            launch_arguments=[*passed, ('control', 'false'), ('namespace', ''),
                              ('joint_states_topic', topics.states),
                              ('joint_commands_topic', topics.commands)]),
        Node(executable='ros2_control_node', parameters=[file, {'use_sim_time': True}],
             remappings=[('~/robot_description', 'robot_description')],
             on_exit=Shutdown(reason='the controller manager has ended'), **manager),
        Node(executable='spawner', arguments=[BROADCASTER, chosen, '--param-file', file],
             **manager),
        *(Node(executable='spawner', arguments=[name, '--inactive', '--param-file', file],
               **manager) for name in passive),
    ]


def generate_launch_description() -> LaunchDescription:
    """The arguments, then the nodes."""
    return checked_description(__file__, [
        DeclareLaunchArgument(
            'robot', default_value='ur5',
            description='URDF or xacro file with a <ros2_control> tag, or the name of a bundled '
                        'robot'),
        DeclareLaunchArgument(
            'overlay', default_value='',
            description='YAML file that makes links of the robot flexible; empty: none'),
        DeclareLaunchArgument(
            'order', default_value='second', choices=['first', 'second'],
            description='deformation field: second order (with foreshortening) or first'),
        DeclareLaunchArgument(
            'controllers_file', default_value='',
            description='YAML file of ros2_control: controller manager and controllers; empty: '
                        'config/ros2_control.yaml with joints and gains of the robot'),
        DeclareLaunchArgument(
            'interface', default_value='position', choices=sorted(CONTROLLERS),
            description='what the active controller commands: joint_trajectory_controller '
                        'positions, effort_trajectory_controller efforts'),
        DeclareLaunchArgument(
            'params_file', default_value='',
            description='YAML file with further parameters of the simulator and the nodes beside '
                        'it; empty: none'),
        *start_arguments(),
        DeclareLaunchArgument(
            'use_rviz', default_value='false', choices=BOOLEANS,
            description='start RViz, and the node that draws the bent links for it'),
        DeclareLaunchArgument(
            'headless', default_value='false', choices=BOOLEANS,
            description='open no window, whatever use_rviz says'),
        DeclareLaunchArgument(
            'record', default_value='',
            description='folder, not there yet, to record all topics to as a rosbag2; empty: '
                        'none'),
        DeclareLaunchArgument(
            'log_level', default_value='info', choices=['debug', 'info', 'warn', 'error', 'fatal'],
            description='least severity that nodes print'),
        OpaqueFunction(function=start_all),
    ])
