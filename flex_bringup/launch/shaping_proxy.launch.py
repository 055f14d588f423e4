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
"""The shaping proxy beside a robot that is already running: send trajectories to
shaping_proxy/follow_joint_trajectory, and the robot's own controller gets them shaped.

Arguments win over `params_file`, which is for everything that is not an argument.
"""
from typing import Any

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction, Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from flex_bringup.launch_arguments import check_params_file, checked_description, load_robot_once


def start_proxy(context: LaunchContext, parameters: dict[str, Any], **common: Any) -> list[Node]:
    """Check robot and params_file before the node does; then the node."""
    given = LaunchConfiguration('params_file').perform(context)
    if given:
        check_params_file(given)
    load_robot_once(context)
    return [Node(package='flex_control', executable='shaping_proxy', name='shaping_proxy',
                 parameters=[*([given] if given else []), parameters], **common)]


def generate_launch_description() -> LaunchDescription:
    """The arguments, then the node."""
    def typed(name: str, kind: type) -> ParameterValue:
        return ParameterValue(LaunchConfiguration(name), value_type=kind)

    parameters = {
        'robot': typed('robot', str), 'overlay': typed('overlay', str),
        'controller_action': typed('controller_action', str),
        'shaper': typed('shaper', str), 'shaper_modes': typed('shaper_modes', int),
        'payload.mass': typed('payload', float), 'payload.link': typed('payload_link', str),
        'use_sim_time': typed('use_sim_time', bool)}
    return checked_description(__file__, [
        DeclareLaunchArgument(
            'robot', description='URDF or xacro file of the robot, or the name of a bundled one'),
        DeclareLaunchArgument(
            'overlay', default_value='',
            description='YAML file that makes links of the robot flexible; empty: none'),
        DeclareLaunchArgument(
            'controller_action',
            default_value='/joint_trajectory_controller/follow_joint_trajectory',
            description="action of the robot's own controller (FollowJointTrajectory)"),
        DeclareLaunchArgument(
            'shaper', default_value='zvd', choices=['none', 'zv', 'zvd', 'zvdd', 'ei'],
            description='input shaper; none passes motions on as they are'),
        DeclareLaunchArgument(
            'shaper_modes', default_value='3', choices=['1', '2', '3', '4'],
            description='how many modes are shaped, the lowest first'),
        DeclareLaunchArgument(
            'payload', default_value='0.0', description='kg that the robot carries'),
        DeclareLaunchArgument(
            'payload_link', default_value='',
            description='link that carries the payload; empty: the last one'),
        DeclareLaunchArgument(
            'params_file', default_value='',
            description='YAML file with further parameters of the node; empty: none'),
        DeclareLaunchArgument(
            'namespace', default_value='', description='namespace of the robot; empty: none'),
        DeclareLaunchArgument(
            'use_sim_time', default_value='false', choices=['true', 'false'],
            description='take the time from /clock: as the robot does'),
        DeclareLaunchArgument(
            'log_level', default_value='info', choices=['debug', 'info', 'warn', 'error', 'fatal'],
            description='least severity that the node prints'),
        OpaqueFunction(function=start_proxy, args=[parameters], kwargs={
            'namespace': LaunchConfiguration('namespace'), 'output': 'screen',
            'remappings': [('/clock', 'clock')],
            'ros_arguments': ['--log-level', LaunchConfiguration('log_level')],
            'on_exit': Shutdown(reason='the shaping proxy has ended')}),
    ])
