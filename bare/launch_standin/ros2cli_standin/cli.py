"""From the words of a command line to an exit code."""
from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from typing import Any

import yaml

from ros2cli_standin.clean_exit import exit_after
from ros2cli_standin.commands import (
    ABSENT_GROUPS,
    ABSENT_VERBS,
    GROUPS,
    LAUNCHING,
    Verb,
    absent,
)
from ros2cli_standin.errors import CommandError, suggestion
from ros2cli_standin.graph import Graph, Interrupted

LONGEST_SHUTDOWN = 3.0      # s, then the process ends without the middleware


def run(words: list[str]) -> int:
    """The command as a program: it ends even if the middleware blocks."""
    return main(words, bounded=True)


def main(words: list[str], bounded: bool = False) -> int:
    """Run one command and return its exit code.

    bounded: end the process if the shutdown of the middleware blocks.
    """
    if words[:1] and words[0] in LAUNCHING:
        from ros2cli_standin.launch_run import main as launch_or_run
        return launch_or_run(words)
    reconfigure: Any = getattr(sys.stdout, 'reconfigure', None)
    if reconfigure:
        reconfigure(line_buffering=True)      # a reader behind a pipe sees each message at once
    graph = Graph()
    try:
        code = _dispatch(words, graph)
    except CommandError as error:
        print(error, file=sys.stderr)
        code = error.code
    except Interrupted as signal:
        code = signal.number
    except KeyboardInterrupt:
        code = 2
    except BrokenPipeError:
        # Python writes what is left at its exit: to nobody, not into an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except (OSError, yaml.YAMLError) as error:
        print(f'ros2: {error}', file=sys.stderr)
        code = 1
    except Exception as error:      # rclpy raises many types; a user needs the reason only
        print(f'ros2: {type(error).__name__}: {error}', file=sys.stderr)
        code = 1
    sys.stdout.flush()
    if bounded and graph.is_open:
        exit_after(LONGEST_SHUTDOWN, code)
    graph.close()
    return code


def _dispatch(words: list[str], graph: Graph) -> int:
    if not words or words[0] in ('-h', '--help'):
        print(_overview())
        return 0
    group = words[0]
    if group in ABSENT_GROUPS:
        raise absent(words, f"command '{group}'")
    if group not in GROUPS:
        known = suggestion(group, [*GROUPS, *LAUNCHING], 'commands')
        raise CommandError(f"ros2: unknown command '{group}'{known}", code=2)
    verb = next((word for word in words[1:] if not word.startswith('-')), None)
    if verb in ABSENT_VERBS[group]:
        raise absent(words, f"command '{group} {verb}'")
    verbs: dict[str, Verb] = importlib.import_module(f'ros2cli_standin.{group}').VERBS
    if verb is not None and verb not in verbs:
        known = suggestion(verb, verbs, f'commands of ros2 {group}')
        raise CommandError(f"ros2: unknown command '{group} {verb}'{known}", code=2)
    parser, options = _parser(group, verbs)
    try:
        arguments = parser.parse_args(words[1:])
    except SystemExit as leaving:        # argparse has printed the help or the error
        return int(leaving.code or 0)
    if verb is None:
        parser.print_help()
        return 0
    arguments.words = words
    arguments.parser = options[verb]
    return verbs[verb].run(arguments, graph)


def _overview() -> str:
    commands = sorted({**GROUPS, **LAUNCHING}.items())
    return '\n'.join([
        'usage: ros2 [-h] Call `ros2 <command> -h` for more detailed usage. ...', '',
        'The small ros2 of a machine without ROS 2: commands, options and output of Jazzy.', '',
        'Commands:', *(f'  {name:<9}  {summary}' for name, summary in commands), '',
        'Only with ROS 2 installed: ' + ', '.join(ABSENT_GROUPS)])


def _parser(group: str, verbs: dict[str, Verb]) -> tuple[argparse.ArgumentParser,
                                                         dict[str, argparse.ArgumentParser]]:
    formatter = argparse.RawDescriptionHelpFormatter
    lines = '\n'.join(f'{name:<9}  {verb.summary}' for name, verb in verbs.items())
    missing = ', '.join(ABSENT_VERBS[group])
    parser = argparse.ArgumentParser(
        prog=f'ros2 {group}', description=GROUPS[group], formatter_class=formatter,
        epilog=f'Only with ROS 2 installed: {missing}' if missing else None)
    if group in ('topic', 'service'):
        parser.add_argument(f'--include-hidden-{group}s', action='store_true',
                            help=f'Consider hidden {group}s as well')
    choice = parser.add_subparsers(
        title='Commands', description=lines, required=False,
        metavar=f'Call `ros2 {group} <command> -h` for more detailed usage.')
    options = {}
    for name, verb in verbs.items():
        options[name] = choice.add_parser(name, description=verb.summary,
                                          formatter_class=formatter)
        # argparse takes -1e-6 for an option; there is no public way to tell it otherwise.
        vars(options[name])['_negative_number_matcher'] = re.compile(
            r'-(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$')
        verb.add_arguments(options[name])
    return parser, options
