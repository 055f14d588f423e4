"""What all commands about one robot share: how it is named, and how they end."""
from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Callable

from flex_description.errors import RobotError
from flex_description.load import load_robot
from flex_description.reading.source import bundled_robots
from flex_description.robot import Robot


def robot_parser(name: str, description: str) -> argparse.ArgumentParser:
    """A parser with the arguments that say which robot."""
    parser = argparse.ArgumentParser(
        prog=name, description=description,
        epilog=f'Bundled robots: {", ".join(bundled_robots()) or "none"}.')
    parser.add_argument('robot', metavar='ROBOT', help='URDF or xacro file, or a bundled robot')
    parser.add_argument('overlay', nargs='?', help='YAML that makes its links flexible')
    parser.add_argument('--xacro', action='append', default=[], metavar='NAME:=VALUE',
                        help='value of a xacro argument; may be repeated')
    return parser


def robot_from_arguments(options: argparse.Namespace) -> Robot:
    """The robot that the arguments of robot_parser name; commands show its warnings themselves."""
    logger = logging.getLogger('flex_description')
    logger.disabled = True
    try:
        return load_robot(options.robot, options.overlay, dict(map(_pair, options.xacro)))
    finally:
        logger.disabled = False


def _pair(text: str) -> tuple[str, str]:
    name, mark, value = text.partition(':=')
    if not mark or not name:
        raise RobotError(f'--xacro: expected NAME:=VALUE, found "{text}"')
    return name, value


def run_command(work: Callable[[], None],
             refusals: tuple[type[Exception], ...] = (RobotError,)) -> int:
    """Do it; the exit code: 1, with one line, for `refusals`."""
    try:
        work()
    except refusals as error:
        print(f'error: {error}', file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader, `head` say, has seen enough; nothing is left to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
