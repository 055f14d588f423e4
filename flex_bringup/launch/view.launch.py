"""sim.launch.py, to be seen: in RViz where it is installed, else in the browser."""
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.conditions import UnlessCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare


def rviz_installed() -> bool:
    try:
        get_package_share_directory('rviz2')
    except PackageNotFoundError:
        return False
    return True


def generate_launch_description() -> LaunchDescription:
    """The arguments of sim.launch.py that matter here, and those of the viewer."""
    share = FindPackageShare('flex_bringup')
    names = ('robot', 'overlay', 'params_file', 'namespace', 'sync', 'use_rviz')
    return LaunchDescription([
        DeclareLaunchArgument('robot', default_value='cibicik_arm',
                              description='URDF or xacro file, or the name of a bundled robot'),
        DeclareLaunchArgument('overlay', default_value='',
                              description='YAML file that makes links of the robot flexible'),
        DeclareLaunchArgument(
            'params_file',
            default_value=PathJoinSubstitution([share, 'config', 'cibicik_manoeuvre.yaml']),
            description='YAML file with parameters; for another robot config/default.yaml'),
        DeclareLaunchArgument('namespace', default_value='',
                              description='namespace of the robot; empty: none'),
        DeclareLaunchArgument('sync', default_value='free', choices=['free', 'lockstep'],
                              description='paced by the wall clock, or by the commands'),
        DeclareLaunchArgument('use_rviz', default_value=str(rviz_installed()).lower(),
                              choices=['true', 'false'],
                              description='RViz; false: a page for the browser'),
        DeclareLaunchArgument('host', default_value='127.0.0.1',
                              description='address that serves the page: this machine alone, or '
                                          '0.0.0.0 for others too'),
        DeclareLaunchArgument('port', default_value='8080',
                              description='of the page; the next free one if it is taken'),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(PathJoinSubstitution([share, 'launch',
                                                                'sim.launch.py'])),
            launch_arguments=[(name, LaunchConfiguration(name)) for name in names]),
        Node(package='flex_viz', executable='viewer', name='viewer', output='screen',
             namespace=LaunchConfiguration('namespace'),
             condition=UnlessCondition(LaunchConfiguration('use_rviz')),
             remappings=[('/clock', 'clock')],
             parameters=[LaunchConfiguration('params_file'), {
                 'robot': ParameterValue(LaunchConfiguration('robot'), value_type=str),
                 'overlay': ParameterValue(LaunchConfiguration('overlay'), value_type=str),
                 'host': ParameterValue(LaunchConfiguration('host'), value_type=str),
                 'port': ParameterValue(LaunchConfiguration('port'), value_type=int)}]),
    ])
