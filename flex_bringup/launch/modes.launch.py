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
"""The natural modes of a robot at a pose, swinging: in RViz where it is installed, else in the
browser. `ros2 param set /modes mode 2` shows the next one."""
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.conditions import IfCondition, UnlessCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from flex_bringup.launch_arguments import QUIET, checked_description, load_robot_once
from flex_bringup.rviz_view import write_view


def rviz_installed() -> bool:
    try:
        get_package_share_directory('rviz2')
    except PackageNotFoundError:
        return False
    return True


def check_robot(context: LaunchContext) -> None:
    """Load the robot before any node does: a mistake in it is told once."""
    robot = load_robot_once(context)
    context.launch_configurations['root_link'] = robot.links[0].name      # RViz' fixed frame
    if LaunchConfiguration('use_rviz').perform(context) == 'true':
        context.launch_configurations['rviz_config'] = write_view(robot)


def generate_launch_description() -> LaunchDescription:
    """The arguments, then the nodes."""
    use_rviz = LaunchConfiguration('use_rviz')
    model = {'robot': ParameterValue(LaunchConfiguration('robot'), value_type=str),
             'overlay': ParameterValue(LaunchConfiguration('overlay'), value_type=str)}
    also = {**model, **QUIET}          # the node modes logs the warnings about the robot for all
    return checked_description(__file__, [
        DeclareLaunchArgument('robot', default_value='cibicik_arm',
                              description='URDF or xacro file, or the name of a bundled robot'),
        DeclareLaunchArgument('overlay', default_value='',
                              description='YAML file that makes links of the robot flexible'),
        DeclareLaunchArgument('pose', default_value='',
                              description="joint positions, rad or m, one a joint: '0 0.5 1 "
                                          "0.5', or joint=value pairs; empty: zero where the "
                                          'limits allow it, else the middle of the range'),
        DeclareLaunchArgument('joints', default_value='locked', choices=['locked', 'free'],
                              description='whether the joints are held or let go'),
        DeclareLaunchArgument('mode', default_value='1', description='which one, from the lowest'),
        DeclareLaunchArgument('swing', default_value='0.1',
                              description='m that the most moved point swings'),
        DeclareLaunchArgument('use_rviz', default_value=str(rviz_installed()).lower(),
                              choices=['true', 'false'],
                              description='RViz; false: a page for the browser'),
        DeclareLaunchArgument('port', default_value='8080', description='of the page'),
        OpaqueFunction(function=check_robot),

        Node(package='flex_viz', executable='modes', name='modes', output='screen',
             parameters=[model, {
                 'pose': ParameterValue(LaunchConfiguration('pose'), value_type=str),
                 'joints': LaunchConfiguration('joints'),
                 'mode': ParameterValue(LaunchConfiguration('mode'), value_type=int),
                 'swing': ParameterValue(LaunchConfiguration('swing'), value_type=float)}]),
        Node(package='flex_viz', executable='markers', name='markers', output='screen',
             parameters=[also, {'tip_path': 0.0}]),
        # The frames that RViz' fixed frame, TF and RobotModel need.
        Node(package='flex_viz', executable='state_publisher', name='state_publisher',
             output='screen', parameters=[also], condition=IfCondition(use_rviz)),
        Node(package='rviz2', executable='rviz2', name='rviz2', output='screen',
             arguments=['-d', LaunchConfiguration('rviz_config'),
                        '-f', LaunchConfiguration('root_link')],
             condition=IfCondition(use_rviz)),
        Node(package='flex_viz', executable='viewer', name='viewer', output='screen',
             parameters=[also, {'port': ParameterValue(LaunchConfiguration('port'),
                                                       value_type=int)}],
             condition=UnlessCondition(use_rviz)),
    ])
