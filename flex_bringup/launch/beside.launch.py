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
"""A flexible model beside a robot that runs already: no simulator, no controller.

The robot's driver publishes joint_states, and its robot_state_publisher robot_description and tf.
Observer, dynamics, state publisher and markers join them: flex_state is estimated, frames have a
prefix, the description with the overlay in it goes to a topic of its own. Arguments win over
`params_file`.
"""
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction, Shutdown
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from flex_bringup.launch_arguments import (
    QUIET,
    check_beside,
    check_params_file,
    checked_description,
)

DEFAULTS = PathJoinSubstitution([FindPackageShare('flex_bringup'), 'config', 'default.yaml'])
BOOLEANS = ['true', 'false']


def check_arguments(context: LaunchContext) -> None:
    """Check robot, overlay and params_file before any node does: a mistake is told once."""
    given = LaunchConfiguration('params_file').perform(context)
    context.launch_configurations['params_file'] = given or DEFAULTS.perform(context)
    check_params_file(context.launch_configurations['params_file'])
    check_beside(context)


def generate_launch_description() -> LaunchDescription:
    """The arguments, then the nodes."""
    model = {
        'robot': ParameterValue(LaunchConfiguration('robot_source'), value_type=str),
        'robot_description_topic': ParameterValue(LaunchConfiguration('description_topic'),
                                                  value_type=str),
        'robot_description_timeout': ParameterValue(LaunchConfiguration('timeout'),
                                                    value_type=float),
        'overlay': ParameterValue(LaunchConfiguration('overlay'), value_type=str),
        'order': LaunchConfiguration('order'),
    }
    also = {**model, **QUIET}          # the observer logs the warnings about the robot for all
    sim_time = {'use_sim_time': ParameterValue(LaunchConfiguration('use_sim_time'),
                                               value_type=bool)}
    prefix = {'frame_prefix': ParameterValue(LaunchConfiguration('frame_prefix'),
                                             value_type=str)}
    files = [DEFAULTS, LaunchConfiguration('params_file')]      # the latter wins
    common = {
        'namespace': LaunchConfiguration('namespace'),
        'output': 'screen',
        'remappings': [('/tf', 'tf'), ('/tf_static', 'tf_static'), ('/clock', 'clock')],
        'ros_arguments': ['--log-level', LaunchConfiguration('log_level')],
    }
    # The others have nothing to do without a state.
    required = {**common, 'on_exit': Shutdown(reason='a node of the model has ended')}
    return checked_description(__file__, [
        DeclareLaunchArgument(
            'robot', default_value='',
            description='URDF or xacro file, or the name of a bundled robot; empty: the '
                        'description on robot_description_topic'),
        DeclareLaunchArgument(
            'robot_description_topic', default_value='robot_description',
            description='where the driver publishes its URDF, if robot is empty'),
        DeclareLaunchArgument(
            'timeout', default_value='30.0', description='s to wait for that description'),
        DeclareLaunchArgument(
            'overlay', default_value='',
            description='YAML file that makes links of the robot flexible; empty: none'),
        DeclareLaunchArgument(
            'order', default_value='second', choices=['first', 'second'],
            description='deformation field: second order (with foreshortening) or first'),
        DeclareLaunchArgument(
            'frame_prefix', default_value='flex/',
            description='before the names of our frames, since those of the driver stay'),
        DeclareLaunchArgument(
            'merged_description_topic', default_value='flex/robot_description',
            description='where the URDF goes with the overlay in it'),
        DeclareLaunchArgument(
            'use_markers', default_value='true', choices=BOOLEANS,
            description='start the node that draws the bent links for RViz'),
        DeclareLaunchArgument(
            'params_file', default_value='',
            description='YAML file with further parameters of the nodes, such as the noise of the '
                        'sensors; empty: none'),
        DeclareLaunchArgument(
            'namespace', default_value='', description='namespace of the robot; empty: none'),
        DeclareLaunchArgument(
            'use_sim_time', default_value='false', choices=BOOLEANS,
            description='nodes take the time from /clock, for a driver that is simulated'),
        DeclareLaunchArgument(
            'log_level', default_value='info', choices=['debug', 'info', 'warn', 'error', 'fatal'],
            description='least severity that nodes print'),
        OpaqueFunction(function=check_arguments),
        Node(package='flex_control', executable='observer', name='observer', **required,
             parameters=[*files, model, sim_time]),
        Node(package='flex_dynamics', executable='dynamics', name='dynamics', **common,
             parameters=[*files, also, sim_time]),
        # Stamps are those of the states: the clock, which would wake them often, is not needed.
        Node(package='flex_viz', executable='state_publisher', name='flex_state_publisher',
             **common, parameters=[*files, also, prefix, {
                 'join_root': ParameterValue(LaunchConfiguration('join_root'), value_type=bool),
                 'merged_description_topic': ParameterValue(
                     LaunchConfiguration('merged_description_topic'), value_type=str)}]),
        Node(package='flex_viz', executable='markers', name='markers', **common,
             parameters=[*files, also, prefix],
             condition=IfCondition(LaunchConfiguration('use_markers'))),
    ])
