"""What the programs themselves say of their options, arguments, parameters and topics."""
from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from documentation_pages import ROOT, Command

sys.path.insert(0, str(ROOT / 'bare' / 'launch_standin'))

from ros2cli_standin.commands import ABSENT_GROUPS, ABSENT_VERBS, GROUPS  # noqa: E402
from ros2cli_standin.errors import CommandError  # noqa: E402
from ros2cli_standin.message_values import read_yaml, set_fields  # noqa: E402
from ros2cli_standin.parameter_values import parameter_value  # noqa: E402

# Packages of others that pages name; whether they are installed is not ours to test.
FOREIGN = {'plotjuggler', 'foxglove_bridge', 'controller_manager', 'robot_state_publisher',
           'rviz2'}
# Nodes have no --help: they would start.
NODES = {name for path in ROOT.glob('flex_*/setup.py') for name in re.findall(
    r"'(\w+) = '?\s*'?flex_ros\.start:main_of", path.read_text(encoding='utf-8'))} | {
        'payload_estimator'}
# Programs of others whose options are not tested.
OTHERS = {'pip', 'colcon', 'rosdep', 'sudo', 'git', 'ssh', 'dask', 'cd', 'jupyter', 'mkdir', 'cat',
          'cp', 'export', 'xacro', 'apt'}
# Topics and services of other people's nodes.
THEIRS = {'/joint_trajectory_controller/joint_trajectory'}
# Topics of robots with wheels or constraints, which test_mobile_platform.py and
# test_constrained_robot.py look at.
SPECIAL = {'/cmd_vel': 'geometry_msgs/msg/TwistStamped', '/odom': 'nav_msgs/msg/Odometry',
           '/reactions/lift_eye': 'geometry_msgs/msg/WrenchStamped'}
# Parameters of robots on wheels, and rows for any link or joint.
SPECIAL_PARAMETER = re.compile(r'platform\.|model\.[A-Z]|[._]')
CONTROLLER_OF_A_PAGE = 'gentle'      # which write_your_own_controller.md writes
PLACEHOLDER = re.compile(r'[A-Z][A-Z_0-9]*$|\.\.\.$|\[|<')
PATIENCE = 300.0     # s


def _run(*words: str) -> str:
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, f'{" ".join(words)}: {done.stdout}{done.stderr}'
    return done.stdout


class Programs:
    """Asks each program once; all that the commands need at the same time.

    ask_nodes: start the nodes, too; without it, names of parameters, topics, services and actions
    are not looked at.
    """

    def __init__(self, commands: list[Command], ask_nodes: bool) -> None:
        self.asked = ask_nodes
        launched = {one.words[3] for one in commands
                    if one.words[:3] == ('ros2', 'launch', 'flex_bringup') and len(one.words) > 3
                    and (ROOT / 'flex_bringup' / 'launch' / one.words[3]).is_file()}
        run = {one.words[2:4] for one in commands
               if one.words[:2] == ('ros2', 'run') and len(one.words) > 3}
        with ThreadPoolExecutor(3) as pool:
            nodes = pool.submit(_run, sys.executable, 'doc/ask_nodes.py') if ask_nodes else None
            arguments = {name: pool.submit(_run, 'ros2', 'launch', 'flex_bringup', name,
                                           '--show-args') for name in sorted(launched)}
            helped = {name: pool.submit(_run, 'ros2', 'run', *name, '--help')
                      for name in sorted(run) if name[0] not in FOREIGN
                      and name[1] not in NODES and self.installed(*name)}
            self.interfaces: list[dict[str, Any]] = json.loads(nodes.result()) if nodes else []
            self.launch_arguments = {
                name: set(re.findall(r"^ +'([^']+)':$", text.result(), re.MULTILINE))
                for name, text in arguments.items()}
            self.help = {name: text.result() for name, text in helped.items()}

    @staticmethod
    def installed(package: str, executable: str) -> bool:
        try:
            return Path(get_package_prefix(package), 'lib', package, executable).exists()
        except PackageNotFoundError:
            return False

    def parameters(self, node: str) -> dict[str, int]:
        """Declared parameters of a node, by its name or executable, with their types."""
        return {one['name']: one['type'] for interface in self.interfaces
                if node in (interface['name'], interface['executable'])
                for one in interface['parameters']}

    @cached_property
    def names(self) -> set[str]:
        return {one['name'] for one in self.interfaces}

    def endpoints(self, *kinds: str) -> set[tuple[str, str]]:
        """(name, type) of all that nodes offer of these kinds."""
        return {(name, kind) for interface in self.interfaces for what in kinds
                for name, kind in interface['endpoints'][what]}

    # Commands ---------------------------------------------------------------------------------

    def problem(self, command: Command) -> str:
        """What is wrong with a command of a page; '' if nothing is."""
        words = [re.sub(r'^\[+(?=[-A-Za-z])|(?<=[\w.])\]+$', '', word) if ',' not in word else word
                 for word in command.words]
        if '>' in words:
            words = words[:words.index('>')]
        first = words[0]
        if first in OTHERS:
            return ''
        check = {'make': self._make, 'ros2': self._ros2, 'source': self._source,
                 'python3': self._python, 'python': self._python}.get(first)
        return check(words[1:]) if check else f'expected a known program, found {first}'

    @staticmethod
    def _make(words: list[str]) -> str:
        text = (ROOT / 'Makefile').read_text()
        for word in words:
            name, _, value = word.partition('=')
            pattern = rf'^{name}\b.*=' if value else rf'^{name}:'
            if not word.startswith('-') and not re.search(pattern, text, re.MULTILINE):
                return f'expected a target or variable of the Makefile, found {word}'
        return ''

    @staticmethod
    def _source(words: list[str]) -> str:
        known = words[0].endswith('install/setup.bash') or words[0].startswith('/opt/ros/') or (
            ROOT / words[0]).is_file()
        return '' if known else f'expected a file, found {words[0]}'

    @staticmethod
    def _python(words: list[str]) -> str:
        if words[0] == '-m':
            if words[1] in ('venv', 'pip', 'jupyter'):
                return ''
            found = importlib.util.find_spec(words[1])
            if found is None:
                return f'expected a module, found {words[1]}'
            text = Path(found.origin or '').read_text()
        elif words[0] == '-c':
            return ''
        elif (ROOT / words[0]).is_file():
            text = (ROOT / words[0]).read_text()
        else:
            return f'expected a script of the checkout, found {words[0]}'
        options = {word.split('=')[0] for word in words[1:] if word.startswith('--')}
        missing = {one for one in options if f"'{one}'" not in text}
        if words[:2] == ['-m', 'pytest']:
            missing |= {one for one in words[2:] if '/' in one and not (ROOT / one).exists()}
        return f'expected options of {words[:2]}, found {sorted(missing)}' if missing else ''

    def _ros2(self, words: list[str]) -> str:
        if words[0].startswith('-') or len(words) == 1:
            return ''
        group, verb, *rest = words
        if group == 'launch':
            return self._launch(words[1:])
        if group == 'run':
            return self._run_node(words[1:])
        if group in ABSENT_GROUPS or verb in ABSENT_VERBS.get(group, ()):
            return ''
        if group not in GROUPS:
            return f'expected a command of ros2, found {group}'
        verbs = importlib.import_module(f'ros2cli_standin.{group}').VERBS
        if verb not in verbs:
            return f'expected a command of ros2 {group}, found {verb}'
        if not rest:
            return ''
        parser = argparse.ArgumentParser(exit_on_error=False)
        verbs[verb].add_arguments(parser)
        try:
            given = parser.parse_args(rest)
        except (argparse.ArgumentError, SystemExit):
            return f'expected arguments of ros2 {group} {verb}, found {rest}'
        if not self.asked or any(PLACEHOLDER.match(word) for word in rest):
            return ''
        try:
            return {'param': self._param, 'topic': self._topic, 'service': self._service,
                    'action': self._action}.get(group, lambda *_: '')(verb, given, rest)
        except (CommandError, ValueError, AttributeError, ModuleNotFoundError) as error:
            return f'{error}'

    def _launch(self, words: list[str]) -> str:
        if words[0] in FOREIGN or len(words) > 1 and PLACEHOLDER.match(words[1]):
            return ''
        if words[0] != 'flex_bringup' or words[1] not in self.launch_arguments:
            return f'expected a launch file of flex_bringup, found {words}'
        known = self.launch_arguments[words[1]]
        for word in words[2:]:
            name, found, _ = word.partition(':=')
            if found and name not in known or not found and word not in ('--show-args',):
                return f'expected an argument of {words[1]}, found {word}'
        return ''

    def _run_node(self, words: list[str]) -> str:
        package, executable, *rest = words
        if package in FOREIGN:
            return ''
        if not self.installed(package, executable):
            return f'expected a program of {package}, found {executable}'
        own, _, ros = ' '.join(rest).partition('--ros-args')
        options = {word.split('=')[0] for word in own.split() if word.startswith('-')
                   and not re.match(r'-[\d.]', word)}
        text = self.help.get((package, executable), '')
        missing = {one for one in options
                   if not re.search(rf'(?<![\w-]){one}(?![\w-])', text)}
        if missing:
            return f'expected options of {executable}, found {sorted(missing)}'
        if not self.asked:
            return ''
        declared = self.parameters(executable)
        for name in re.findall(r'-p (\S+?):=', ros):
            if name not in declared and name != 'use_sim_time':
                return f'expected a parameter of {executable}, found {name}'
        topics = {name.lstrip('/') for interface in self.interfaces
                  if interface['executable'] == executable
                  for kind in ('publishes', 'subscribes to')
                  for name, _ in interface['endpoints'][kind]}
        for name in re.findall(r'-r (\S+?):=', ros):
            if not name.startswith('__') and name.lstrip('/') not in topics:
                return f'expected a topic of {executable}, found {name}'
        return ''

    def _param(self, verb: str, given: argparse.Namespace, rest: list[str]) -> str:
        plain = [word for word in rest if not word.startswith('-')]
        node = plain[0].lstrip('/')
        if node not in self.names:
            return f'expected a node, found {node}'
        if len(plain) == 1 or verb in ('dump', 'load'):
            return ''
        declared = self.parameters(node)
        if plain[1] not in declared:
            return '' if plain[1].startswith(f'{CONTROLLER_OF_A_PAGE}.') else \
                f'expected a parameter of {node}, found {plain[1]}'
        if verb == 'set':
            kind = declared[plain[1]]
            found = parameter_value(yaml.safe_load(plain[2]) if plain[2] else '', kind, plain[2])
            if found.type != kind:
                return f'{plain[1]}: expected type {kind}, found {plain[2]}'
        return ''

    def _topic(self, verb: str, given: argparse.Namespace, rest: list[str]) -> str:
        name = getattr(given, 'topic_name', '')
        if verb != 'pub':
            known = {*SPECIAL, *(one for one, _ in self.endpoints('publishes'))}
            return '' if not name or _absolute(name) in known else \
                f'expected a topic of a node, found {name}'
        kind = _full(given.message_type, 'msg')
        set_fields(_class(kind)(), read_yaml(given.values, 'message'), expand_time=True)
        known_pairs = self.endpoints('subscribes to') | set(SPECIAL.items())
        return '' if (_absolute(name), kind) in known_pairs or name in THEIRS else \
            f'expected a topic that a node reads, of its type, found {name} {kind}'

    def _service(self, verb: str, given: argparse.Namespace, rest: list[str]) -> str:
        if verb != 'call':
            return ''
        kind = _full(given.service_type, 'srv')
        set_fields(_class(kind).Request(), read_yaml(given.values or '{}', 'request'))
        return '' if (_absolute(given.service_name), kind) in self.endpoints('services') else \
            f'expected a service of a node, of its type, found {given.service_name} {kind}'

    def _action(self, verb: str, given: argparse.Namespace, rest: list[str]) -> str:
        if verb != 'send_goal':
            return ''
        kind = _full(given.action_type, 'action')
        set_fields(_class(kind).Goal(), read_yaml(given.goal, 'goal'))
        return '' if (_absolute(given.action_name), kind) in self.endpoints('actions') else \
            f'expected an action of a node, of its type, found {given.action_name} {kind}'


def _class(kind: str) -> Any:
    package, what, name = kind.split('/')
    return getattr(importlib.import_module(f'{package}.{what}'), name)


def _absolute(name: str) -> str:
    return name if name.startswith('/') else f'/{name}'


def _full(kind: str, what: str) -> str:
    package, *_, name = kind.split('/')
    return f'{package}/{what}/{name}'
