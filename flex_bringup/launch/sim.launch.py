"""A flexible robot, simulated: simulator, dynamics, control and state publisher, each a process.

Names are relative, so that `namespace` holds a robot: under one, tf and the clock are its own too
(/tf, /tf_static and /clock become relative names); only /diagnostics is shared, as ROS has it.
Arguments win over `params_file`, which is for everything that is not an argument.
"""
from importlib.metadata import entry_points

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction, Shutdown
from launch.conditions import IfCondition, UnlessCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution, PythonExpression
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from flex_bringup.rviz_view import write_view
from flex_description import load_robot

SHARE = FindPackageShare('flex_bringup')
BOOLEANS = ['true', 'false']
CONTROLLERS = sorted({point.name for point in entry_points(group='flex_control.controllers')})


def check_robot(context: LaunchContext) -> None:
    """Load the robot once before any node does: a mistake in it is then told once."""
    robot = load_robot(LaunchConfiguration('robot').perform(context),
                       LaunchConfiguration('overlay').perform(context) or None)
    context.launch_configurations['root_link'] = robot.links[0].name      # RViz' fixed frame
    if (LaunchConfiguration('use_rviz').perform(context),
            LaunchConfiguration('headless').perform(context)) == ('true', 'false'):
        context.launch_configurations['rviz_config'] = write_view(robot)


def generate_launch_description() -> LaunchDescription:
    """The arguments, then the nodes."""
    model = {
        'robot': ParameterValue(LaunchConfiguration('robot'), value_type=str),
        'overlay': ParameterValue(LaunchConfiguration('overlay'), value_type=str),
        'order': LaunchConfiguration('order'),
    }
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
    }
    params_file = LaunchConfiguration('params_file')
    common = {
        'namespace': LaunchConfiguration('namespace'),
        'output': 'screen',
        'remappings': [('/tf', 'tf'), ('/tf_static', 'tf_static'), ('/clock', 'clock')],
        'ros_arguments': ['--log-level', LaunchConfiguration('log_level')],
    }
    windows = IfCondition(PythonExpression([
        "'", LaunchConfiguration('use_rviz'), "' == 'true' and '",
        LaunchConfiguration('headless'), "' == 'false'"]))
    # A robot without one of these is no robot: when one ends, all do.
    required = {**common, 'on_exit': Shutdown(reason='a node of the robot has ended')}
    return LaunchDescription([
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
            'controller', default_value='pd', choices=CONTROLLERS,
            description='name of an installed controller'),
        DeclareLaunchArgument(
            'control', default_value='true', choices=BOOLEANS,
            description='start the control node; false: joint_commands come from elsewhere'),
        DeclareLaunchArgument(
            'in_process', default_value='false', choices=BOOLEANS,
            description='simulator and control node in one process, no topic between them: the '
                        'same motion, faster; with sync:=lockstep as fast as it can'),
        DeclareLaunchArgument(
            'params_file', default_value=PathJoinSubstitution([SHARE, 'config', 'default.yaml']),
            description='YAML file with further parameters of the nodes'),
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
        OpaqueFunction(function=check_robot),

        Node(package='flex_dynamics', executable='simulator', name='simulator', **required,
             condition=UnlessCondition(LaunchConfiguration('in_process')),
             parameters=[params_file, model, simulated]),
        # Two nodes, simulator and control: one name would be given to both.
        Node(package='flex_control', executable='controlled_simulator', **required,
             condition=IfCondition(LaunchConfiguration('in_process')),
             parameters=[params_file, model, simulated, controlled]),
        Node(package='flex_dynamics', executable='dynamics', name='dynamics', **required,
             parameters=[params_file, model, sim_time]),
        Node(package='flex_control', executable='control', name='control', **required,
             condition=IfCondition(PythonExpression([
                 "'", LaunchConfiguration('control'), "' == 'true' and '",
                 LaunchConfiguration('in_process'), "' == 'false'"])),
             parameters=[params_file, model, sim_time, controlled]),
        # Stamps are those of the states: the clock, which would wake them often, is not needed.
        Node(package='flex_viz', executable='state_publisher', name='state_publisher', **required,
             parameters=[params_file, model]),
        Node(package='flex_viz', executable='markers', name='markers', **common,
             parameters=[params_file, model], condition=windows),
        Node(package='rviz2', executable='rviz2', name='rviz2', **common,
             arguments=['-d', LaunchConfiguration('rviz_config'),
                        '-f', LaunchConfiguration('root_link')],
             parameters=[sim_time], condition=windows),
    ])
