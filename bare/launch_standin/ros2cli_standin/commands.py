"""Which commands there are, and which only the real ros2 has."""
from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ros2cli_standin.errors import CommandError

if TYPE_CHECKING:
    from ros2cli_standin.graph import Graph

# Groups of commands, each a module of this package with a table VERBS.
GROUPS = {
    'action': 'Various action related sub-commands',
    'bag': 'Various rosbag related sub-commands',
    'interface': 'Show information about ROS interfaces',
    'node': 'Various node related sub-commands',
    'param': 'Various param related sub-commands',
    'service': 'Various service related sub-commands',
    'topic': 'Various topic related sub-commands',
}
LAUNCHING = {'launch': 'Run a launch file', 'run': 'Run a package specific executable'}
# What the real ros2 of Jazzy has besides: verbs of the groups above, and other groups.
ABSENT_VERBS = {
    'action': ('find', 'info', 'type'),
    'bag': ('burst', 'convert', 'list', 'play', 'record', 'reindex'),
    'interface': ('list', 'package', 'packages', 'proto'),
    'node': (),
    'param': ('delete',),
    'service': ('echo', 'find', 'info', 'type'),
    'topic': ('bw', 'delay', 'find', 'type'),
}
ABSENT_GROUPS = ('component', 'control', 'daemon', 'doctor', 'lifecycle', 'multicast', 'pkg',
                 'plugin', 'security', 'test', 'trace', 'wtf')


@dataclass(frozen=True)
class Verb:
    """One command, as `list` of `ros2 topic list`.

    add_arguments: declares its options; run: does it and returns the exit code.
    """

    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Graph], int]


def absent(words: list[str], what: str) -> CommandError:
    """The refusal of something that only the real ros2 does."""
    return CommandError(f'ros2: this small ros2 has no {what}; where ROS 2 Jazzy is installed, '
                        f'run: ros2 {shlex.join(words)}', code=2)
