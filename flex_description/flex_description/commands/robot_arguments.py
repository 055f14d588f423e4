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
"""Arguments, loading and exit codes of commands about one robot."""
from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

from flex_description.errors import RobotError
from flex_description.load import load_robot
from flex_description.reading.source import bundled_robots
from flex_description.robot import Robot


def robot_parser(name: str, description: str, overlay: bool = True) -> argparse.ArgumentParser:
    """A parser of the arguments ROBOT, overlay and --xacro, which name a robot.

    name: of the command; overlay: whether it takes one. A command adds its own arguments to the
    parser.
    """
    parser = argparse.ArgumentParser(
        prog=name, description=description,
        epilog=f'Bundled robots: {", ".join(bundled_robots()) or "none"}.')
    parser.add_argument('robot', metavar='ROBOT', help='URDF or xacro file, or a bundled robot')
    if overlay:
        parser.add_argument('overlay', nargs='?', help='YAML that makes its links flexible')
    parser.add_argument('--xacro', action='append', default=[], metavar='NAME:=VALUE',
                        help='value of a xacro argument; may be repeated')
    return parser


def robot_from_arguments(options: argparse.Namespace) -> Robot:
    """The robot named by parsed arguments of `robot_parser`; RobotError if it cannot be loaded.

    Its warnings are not logged: the command prints those of `Robot.warnings`.
    """
    return load_robot(options.robot, getattr(options, 'overlay', None), xacro_arguments(options),
                      log_warnings=False)


def xacro_arguments(options: argparse.Namespace) -> dict[str, str]:
    """Values of xacro arguments by name; RobotError for text that has no such pair."""
    return dict(map(_pair, options.xacro))


def _pair(text: str) -> tuple[str, str]:
    name, mark, value = text.partition(':=')
    if not mark or not name:
        raise RobotError(f'--xacro: expected NAME:=VALUE, found "{text}"')
    return name, value


def run_command(work: Callable[[], None],
                refusals: tuple[type[Exception], ...] = (RobotError,)) -> int:
    """Call `work` and return the exit code of the process.

    An exception of the types in `refusals` is printed as one line; the exit code is then 1.
    """
    try:
        work()
    except refusals as error:
        print(f'error: {error}', file=sys.stderr)
        return 1
    except BrokenPipeError:  # closed by `head`, say; nothing is left to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
