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
"""A flexible robot, simulated: simulator, dynamics, control and state publisher, each a process.

Names are relative, so that `namespace` holds a robot: under one, tf and the clock are its own too
(/tf, /tf_static and /clock become relative names); only /diagnostics is shared, as ROS has it.
Arguments win over `params_file`, which is for everything that is not an argument and wins over
config/default.yaml.
"""
from importlib.metadata import entry_points
from typing import Any

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction, Shutdown
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution, PythonExpression
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from flex_bringup.launch_arguments import (
    QUIET,
    check_params_file,
    check_topics,
    checked_description,
    driver,
    load_robot_once,
    start_arguments,
    start_positions,
)
from flex_bringup.rviz_view import write_view

DEFAULTS = PathJoinSubstitution([FindPackageShare('flex_bringup'), 'config', 'default.yaml'])
BOOLEANS = ['true', 'false']
TOPICS = ('joint_states', 'joint_commands')       # whose names are arguments
CONTROLLERS = sorted({point.name for point in entry_points(group='flex_control.controllers')})


def start_simulator(context: LaunchContext, parameters: list[Any],
                    controlled: dict[str, Any], **required: Any) -> list[Node]:
    """Check robot, params_file and start once before any node does; then the simulator, alone or
    with the control node in its process."""
    defaults = DEFAULTS.perform(context)
    given = LaunchConfiguration('params_file').perform(context)
    context.launch_configurations['params_file'] = given or defaults
    check_params_file(given or defaults)
    check_topics(context, *(f'{name}_topic' for name in TOPICS))
    robot = load_robot_once(context)
    context.launch_configurations['root_link'] = robot.links[0].name      # RViz' fixed frame
    if (LaunchConfiguration('use_rviz').perform(context),
            LaunchConfiguration('headless').perform(context)) == ('true', 'false'):
        context.launch_configurations['rviz_config'] = write_view(robot)
    start = start_positions(context, robot)
    parameters = [*parameters, {'driver': driver(context)}, *([start] if start else [])]
    if LaunchConfiguration('in_process').perform(context) == 'true':
        # Two nodes, simulator and control: one name would be given to both.
        return [Node(package='flex_control', executable='controlled_simulator',
                     parameters=[*parameters, controlled], **required)]
    return [Node(package='flex_dynamics', executable='simulator', name='simulator',
                 parameters=parameters, **required)]


def generate_launch_description() -> LaunchDescription:
    """The arguments, then the nodes."""
    model = {
        'robot': ParameterValue(LaunchConfiguration('robot'), value_type=str),
        'overlay': ParameterValue(LaunchConfiguration('overlay'), value_type=str),
        'order': LaunchConfiguration('order'),
    }
    also = {**model, **QUIET}          # the simulator logs the warnings about the robot for all
    sim_time = {'use_sim_time': ParameterValue(LaunchConfiguration('use_sim_time'),
                                               value_type=bool)}
    simulated = {
        'sync': LaunchConfiguration('sync'),
        'record': ParameterValue(LaunchConfiguration('record'), value_type=str),
        'start_paused': ParameterValue(LaunchConfiguration('paused'), value_type=bool),
    }
    controlled = {
        'sync': LaunchConfiguration('sync'),
        'controller': ParameterValue(LaunchConfiguration('controller'), value_type=str),
        'drive_node': 'simulator',
        'payload.source': ParameterValue(PythonExpression([
            "'topic' if '", LaunchConfiguration('payload_estimator'), "' == 'true' else 'none'"]),
            value_type=str),
    }
    files = [DEFAULTS, LaunchConfiguration('params_file')]      # the latter wins
    common = {
        'namespace': LaunchConfiguration('namespace'),
        'output': 'screen',
        'remappings': [('/tf', 'tf'), ('/tf_static', 'tf_static'), ('/clock', 'clock'),
                       *((name, LaunchConfiguration(f'{name}_topic')) for name in TOPICS)],
        'ros_arguments': ['--log-level', LaunchConfiguration('log_level')],
    }
    windows = IfCondition(PythonExpression([
        "'", LaunchConfiguration('use_rviz'), "' == 'true' and '",
        LaunchConfiguration('headless'), "' == 'false'"]))
    # A robot without one of these is no robot: when one ends, all do.
    required = {**common, 'on_exit': Shutdown(reason='a node of the robot has ended')}
    return checked_description(__file__, [
        DeclareLaunchArgument(
            'robot', default_value='cibicik_arm',
            description='URDF or xacro file, or the name of a bundled robot'),
        DeclareLaunchArgument(
            'overlay', default_value='',
            description='YAML file that makes links of the robot flexible; empty: none'),
        DeclareLaunchArgument(
            'order', default_value='second', choices=['first', 'second'],
            description='deformation field: second order (with foreshortening) or first'),
        DeclareLaunchArgument(
            'controller', default_value='pid', choices=CONTROLLERS,
            description='name of an installed controller'),
        DeclareLaunchArgument(
            'control', default_value='true', choices=BOOLEANS,
            description='start the control node; false: joint_commands come from elsewhere (see '
                        'driver)'),
        DeclareLaunchArgument(
            'driver', default_value='auto', choices=['auto', 'answering', 'independent'],
            description='what sends joint_commands: a node that answers each state, as the '
                        'control node does, or one with its own schedule, such as ros2_control; '
                        'auto: independent with control:=false'),
        DeclareLaunchArgument(
            'joint_states_topic', default_value='joint_states',
            description='topic of the simulated encoders; another one where a driver publishes '
                        'joint_states, as ros2_control does'),
        DeclareLaunchArgument(
            'joint_commands_topic', default_value='joint_commands',
            description='topic of the commands to the simulator'),
        DeclareLaunchArgument(
            'in_process', default_value='false', choices=BOOLEANS,
            description='simulator and control node in one process, no topic between them: the '
                        'same motion, faster; with sync:=lockstep as fast as it can'),
        DeclareLaunchArgument(
            'payload_estimator', default_value='false', choices=BOOLEANS,
            description='estimate mass and centre of a payload from efforts and gauges, and let '
                        'the control node take it over (pd and pid)'),
        DeclareLaunchArgument(
            'payload_frame', default_value='',
            description='link or frame that carries the payload; empty: the last link'),
        DeclareLaunchArgument(
            'params_file', default_value='',
            description='YAML file with further parameters of the nodes, which win over those of '
                        'config/default.yaml; empty: none'),
        *start_arguments(),
        DeclareLaunchArgument(
            'namespace', default_value='', description='namespace of the robot; empty: none'),
        DeclareLaunchArgument(
            'use_sim_time', default_value='true', choices=BOOLEANS,
            description='nodes take the time from the simulator'),
        DeclareLaunchArgument(
            'use_rviz', default_value='false', choices=BOOLEANS,
            description='start RViz, and the node that draws the bent links for it'),
        DeclareLaunchArgument(
            'sync', default_value='free', choices=['free', 'lockstep'],
            description='free: paced by the wall clock; lockstep: every state waits for its '
                        'command, the same to the last bit in every run'),
        DeclareLaunchArgument(
            'paused', default_value='false', choices=BOOLEANS,
            description='start paused, until simulator/set_simulation_state says to play'),
        DeclareLaunchArgument(
            'record', default_value='',
            description='folder, not there yet, to record all topics to as a rosbag2; empty: '
                        'none'),
        DeclareLaunchArgument(
            'headless', default_value='false', choices=BOOLEANS,
            description='open no window, whatever use_rviz says'),
        DeclareLaunchArgument(
            'log_level', default_value='info', choices=['debug', 'info', 'warn', 'error', 'fatal'],
            description='least severity that nodes print'),
        OpaqueFunction(function=start_simulator, args=[[*files, model, simulated], controlled],
                       kwargs=required),
        Node(package='flex_dynamics', executable='dynamics', name='dynamics', **required,
             parameters=[*files, also, sim_time]),
        Node(package='flex_control', executable='control', name='control', **required,
             condition=IfCondition(PythonExpression([
                 "'", LaunchConfiguration('control'), "' == 'true' and '",
                 LaunchConfiguration('in_process'), "' == 'false'"])),
             parameters=[*files, also, sim_time, controlled]),
        Node(package='flex_identification', executable='payload_estimator',
             name='payload_estimator', **common, parameters=[*files, also, {
                 'frame': ParameterValue(LaunchConfiguration('payload_frame'), value_type=str)}],
             condition=IfCondition(LaunchConfiguration('payload_estimator'))),
        # Stamps are those of the states: the clock, which would wake them often, is not needed.
        Node(package='flex_viz', executable='state_publisher', name='state_publisher', **required,
             parameters=[*files, also]),
        Node(package='flex_viz', executable='markers', name='markers', **common,
             parameters=[*files, also], condition=windows),
        Node(package='rviz2', executable='rviz2', name='rviz2', **common,
             arguments=['-d', LaunchConfiguration('rviz_config'),
                        '-f', LaunchConfiguration('root_link')],
             parameters=[sim_time], condition=windows),
    ])
