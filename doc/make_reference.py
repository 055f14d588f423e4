"""Writes doc/reference/: the API, and what nodes, launch files and messages say of themselves.

`make docs` runs it. Each node is started on the default robot and asked, through ROS, for its
topics, services, actions and parameters, so that these pages cannot differ from the nodes.
"""
from __future__ import annotations

import importlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import rclpy
from rcl_interfaces.msg import ParameterDescriptor, ParameterType
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters
from rclpy.action import get_action_server_names_and_types_by_node
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / 'doc' / 'reference'
LIBRARIES = ('flex_description', 'flex_dynamics', 'flex_dynamics.symbolic', 'flex_control',
             'flex_viz', 'flex_identification', 'flex_study')
# Package, executable, name of the node, and its arguments beside the robot.
ROBOT = ('-p', 'robot:=cibicik_arm')
NODES = (
    ('flex_dynamics', 'simulator', 'simulator', ROBOT),
    ('flex_dynamics', 'dynamics', 'dynamics', ROBOT),
    ('flex_control', 'control', 'control', ROBOT),
    ('flex_control', 'observer', 'observer', ROBOT),
    ('flex_control', 'shaping_proxy', 'shaping_proxy', ROBOT),
    ('flex_viz', 'state_publisher', 'state_publisher', ROBOT),
    ('flex_viz', 'markers', 'markers', ROBOT),
    ('flex_viz', 'viewer', 'viewer', (*ROBOT, '-p', 'port:=18080')),      # 8080 may be taken
    ('flex_viz', 'modes', 'modes', ROBOT),
)
START = 60.0             # s in which a node has to appear
QUIET = 1.5              # s without news in the graph: the node has made all it makes
COMMON = re.compile(r'/(rosout|parameter_events)$|/(describe|get|list|set)_parameter'
                    r'|/set_parameters_atomically$|/get_type_description$|/_action/')


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    _write('api', _api())
    _write('launch_arguments', _launch_arguments())
    _write('messages', _messages())
    _write('nodes', _nodes())
    return 0


def _write(name: str, text: str) -> None:
    (FOLDER / f'{name}.md').write_text(text.rstrip() + '\n', encoding='utf-8')
    print(f'doc/reference/{name}.md', flush=True)


def _cell(text: object) -> str:
    """Text that stays in one cell of a table."""
    return ' '.join(str(text).split()).replace('|', r'\|').replace('<', '&lt;')


# Libraries ------------------------------------------------------------------------------------


def _api() -> str:
    parts = ['# Python API', '', 'All that the packages export. Units are SI, angles radians.', '']
    for name in LIBRARIES:
        module = importlib.import_module(name)
        parts += [f'## {name}', '', (module.__doc__ or '').split('\n\n')[0], '']
        for public in sorted(module.__all__, key=str.lower):
            thing = getattr(module, public)
            kind = ('autoclass' if isinstance(thing, type) else
                    'autofunction' if callable(thing) else 'py:data')
            parts += ['```{eval-rst}', f'.. {kind}:: {name}.{public}', '```', '']
            if kind == 'py:data':
                parts += [', '.join(f'`{one}`' for one in thing), '']
    return '\n'.join(parts)


# Launch files and messages --------------------------------------------------------------------


def _launch_arguments() -> str:
    parts = ['# Launch arguments', '', 'What `ros2 launch flex_bringup FILE --show-args` prints.',
             '']
    for path in sorted((ROOT / 'flex_bringup' / 'launch').glob('*.launch.py')):
        shown = subprocess.run(['ros2', 'launch', 'flex_bringup', path.name, '--show-args'],
                               check=True, capture_output=True, text=True).stdout
        found = re.findall(r"^ +'([^']+)':\n +(.*)\n +\((?:default: (.*)|required)\)$", shown,
                           re.MULTILINE)
        if not found:
            raise SystemExit(f'{path.name}: expected arguments in the output of --show-args, '
                             f'found {shown!r}')
        parts += [f'## {path.name}', '', '| argument | what it does | default |', '|---|---|---|']
        parts += [f'| `{name}` | {_cell(what)} | {_code(default)} |'
                  for name, what, default in found]
        parts.append('')
    return '\n'.join(parts)


def _code(text: str) -> str:
    text = _cell(text).strip('\'"')
    return f'`{text}`' if text else ''


def _messages() -> str:
    parts = ['# Messages, services and actions', '', 'Of `flex_msgs`; all others are those of '
             'ROS.', '']
    for path in sorted(path for kind in ('msg', 'srv', 'action')
                       for path in (ROOT / 'flex_msgs' / kind).glob(f'*.{kind}')):
        parts += [f'## {path.parent.name}/{path.stem}', '', '```text',
                  path.read_text(encoding='utf-8').rstrip(), '```', '']
    return '\n'.join(parts)


# Nodes ----------------------------------------------------------------------------------------


def _nodes() -> str:
    parts = ['# Topics, services and parameters', '', 'Each node as it is with the bundled robot '
             '`cibicik_arm`; with gauges, IMUs, wheels or constraints a robot adds topics. Names '
             'are relative: a namespace goes before them.', '']
    # Not among the nodes of a user who works in the default domain.
    os.environ.update(ROS_DOMAIN_ID='231', ROS_AUTOMATIC_DISCOVERY_RANGE='LOCALHOST')
    rclpy.init()
    asking = rclpy.create_node('reference')
    try:
        for package, program, name, arguments in NODES:
            with _running(package, program, arguments) as process:
                _wait(asking, name, process)
                parts += [f'## {package}: {program}', '', *_graph(asking, name),
                          *_parameters(asking, name)]
            _wait_for_end(asking, name)
    finally:
        asking.destroy_node()
        rclpy.shutdown()
    return '\n'.join(parts)


@contextmanager
def _running(package: str, program: str,
             arguments: tuple[str, ...]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(['ros2', 'run', package, program, '--ros-args', *arguments],
                               stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def _names(asking: Node) -> set[str]:
    return {name for name, _ in asking.get_node_names_and_namespaces()}


def _wait(asking: Node, name: str, process: subprocess.Popen[bytes]) -> None:
    """Until the node is there and its graph has not changed for a while."""
    end, before, still = time.monotonic() + START, None, time.monotonic()
    while time.monotonic() < end:
        rclpy.spin_once(asking, timeout_sec=0.1)
        if process.poll() is not None:
            raise SystemExit(f'{name}: expected a running node, found that it ended with '
                             f'{process.returncode}')
        if name not in _names(asking):
            still = time.monotonic()
            continue
        now = _endpoints(asking, name)
        if now != before:
            before, still = now, time.monotonic()
        elif time.monotonic() > still + QUIET:
            return
    raise SystemExit(f'{name}: expected this node within {START:g} s, found {_names(asking)}')


def _wait_for_end(asking: Node, name: str) -> None:
    end = time.monotonic() + START
    while name in _names(asking) and time.monotonic() < end:
        rclpy.spin_once(asking, timeout_sec=0.1)


def _endpoints(asking: Node, name: str) -> dict[str, list[tuple[str, str]]]:
    """Name and type of all that is the node's own, by kind."""
    kinds = {
        'publishes': asking.get_publisher_names_and_types_by_node,
        'subscribes to': asking.get_subscriber_names_and_types_by_node,
        'services': asking.get_service_names_and_types_by_node,
        'actions': lambda node, space: get_action_server_names_and_types_by_node(
            asking, node, space)}
    return {kind: sorted((full, types[0]) for full, types in ask(name, '/')
                         if not COMMON.search(full)) for kind, ask in kinds.items()}


def _graph(asking: Node, name: str) -> list[str]:
    lines = ['| | name | type |', '|---|---|---|']
    for kind, found in _endpoints(asking, name).items():
        for full, kind_of in found:
            own = full.replace(f'/{name}/', '~/', 1) if full.startswith(f'/{name}/') else full[1:]
            lines.append(f'| {kind} | `{own}` | `{kind_of}` |')
    return [*lines, '']


def _parameters(asking: Node, name: str) -> list[str]:
    names = sorted(one for one in _call(asking, ListParameters, f'/{name}/list_parameters',
                                        ListParameters.Request()).result.names
                   if not one.startswith(('qos_overrides.', 'start_type_description_service')))
    descriptors = _call(asking, DescribeParameters, f'/{name}/describe_parameters',
                        DescribeParameters.Request(names=names)).descriptors
    values = _call(asking, GetParameters, f'/{name}/get_parameters',
                   GetParameters.Request(names=names)).values
    lines = ['| parameter | what it is | range | value here |', '|---|---|---|---|']
    for one, value in zip(descriptors, values, strict=True):
        shown = '' if value.type == ParameterType.PARAMETER_NOT_SET else _value(
            parameter_value_to_python(value))
        lines.append(f'| `{one.name}` | {_cell(one.description)}'
                     f'{" (read at the start)" if one.read_only else ""} | '
                     f'{_cell(_range(one))} | {shown} |')
    return [*lines, '']


def _value(value: object) -> str:
    if not isinstance(value, (str, bool, int)) and hasattr(value, '__len__'):
        value = list(value)
    text = f'{value:g}' if isinstance(value, float) else str(value)
    return _code(text if len(text) <= 40 else f'{text[:37]}...')


def _range(one: ParameterDescriptor) -> str:
    for limits in (*one.floating_point_range, *one.integer_range):
        low, high = (f'{end:g}' if abs(end) < 1e300 else ''
                     for end in (limits.from_value, limits.to_value))
        return f'{low} to {high}' if low and high else f'from {low}' if low else f'up to {high}'
    return one.additional_constraints


def _call(asking: Node, kind: type, name: str, request: object) -> object:
    client = asking.create_client(kind, name)
    try:
        if not client.wait_for_service(START):
            raise SystemExit(f'{name}: expected this service, found none')
        future = client.call_async(request)
        rclpy.spin_until_future_complete(asking, future, timeout_sec=START)
        if future.result() is None:
            raise SystemExit(f'{name}: no answer within {START:g} s')
        return future.result()
    finally:
        asking.destroy_client(client)


if __name__ == '__main__':
    sys.exit(main())
