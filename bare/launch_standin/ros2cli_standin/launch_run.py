"""`ros2 launch` and `ros2 run` for machines that have no `ros2` command."""
from __future__ import annotations

import os
import sys
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from launch import LaunchContext, LaunchDescription, LaunchService
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.core import describe
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.substitutions import ExecutableInPackage

USAGE = """usage: ros2 launch [--show-args] [--debug] PACKAGE FILE [name:=value ...]
       ros2 launch [--show-args] [--debug] PATH [name:=value ...]
       ros2 run PACKAGE EXECUTABLE [argument ...]"""


def launch_file(package: str, name: str) -> Path:
    """The one file of that name in the package's share directory."""
    share = Path(get_package_share_directory(package))
    found = sorted(share.rglob(name))
    if len(found) != 1:
        there = sorted(path.name for path in share.rglob('*.launch.py'))
        raise LookupError(f"expected one file '{name}' in {share}, found {len(found)}; "
                          f'launch files there: {there}')
    return found[0]


def show(arguments: dict[str, DeclareLaunchArgument]) -> None:
    print("Arguments (pass arguments as '<name>:=<value>'):")
    for name, argument in arguments.items():
        print(f"\n    '{name}':\n        {argument.description}")
        if argument.default_value is not None:
            print(f'        (default: {describe(argument.default_value)})')
    if not arguments:
        print('\n  No arguments.')


def launch(words: list[str]) -> int:
    options = {word for word in words if word in ('--show-args', '-s', '--debug', '-d')}
    words = [word for word in words if word not in options]
    if not words:
        raise ValueError(USAGE)
    if Path(words[0]).is_file():
        path, rest = Path(words[0]), words[1:]
    elif len(words) > 1:
        path, rest = launch_file(words[0], words[1]), words[2:]
    else:
        raise ValueError(f"no launch file '{words[0]}'\n{USAGE}")
    given = {}
    for word in rest:
        name, separator, value = word.partition(':=')
        if not (name and separator and value):
            raise ValueError(f"malformed launch argument '{word}', expected '<name>:=<value>'")
        given[name] = value
    source = PythonLaunchDescriptionSource(str(path))
    description = source.get_launch_description(LaunchContext())
    known = {argument.name: argument for argument in description.get_launch_arguments()}
    if options & {'--show-args', '-s'}:
        show(known)
        return 0
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ValueError(f'unknown launch arguments {unknown}; {path.name} has {sorted(known)}')
    service = LaunchService(argv=rest, debug=bool(options & {'--debug', '-d'}))
    service.include_launch_description(LaunchDescription([
        IncludeLaunchDescription(source, launch_arguments=given.items())]))
    return service.run()


def main(words: list[str]) -> int:
    """Run `ros2 launch ...` or `ros2 run ...` and return the exit code."""
    try:
        if {'-h', '--help'} & set(words[:2]):
            print(USAGE)
            return 0
        if words[:1] == ['launch']:
            return launch(words[1:])
        if words[:1] == ['run'] and len(words) >= 3:
            program = ExecutableInPackage(words[2], words[1]).perform(LaunchContext())
            os.execv(program, [program, *words[3:]])
        print(USAGE, file=sys.stderr)
        return 2
    except (PackageNotFoundError, ImportError, LookupError, OSError, TypeError,
            ValueError) as error:
        print(f'ros2: {error}', file=sys.stderr)
        return 1
