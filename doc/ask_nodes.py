"""Starts every node and asks it, through ROS, for its topics, services, actions and parameters.

`python3 doc/ask_nodes.py` prints all of it as JSON; make_reference.py and the tests of the pages
use it, so that they cannot differ from the nodes.
"""
from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass

import rclpy
from rcl_interfaces.msg import ParameterDescriptor, ParameterType
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters
from rclpy.action import get_action_server_names_and_types_by_node
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python

START = 300.0            # s in which all nodes have to appear
QUIET = 1.5              # s without news in the graph: the nodes have made all they make
COMMON = re.compile(r'/(rosout|parameter_events)$|/(describe|get|list|set)_parameter'
                    r'|/set_parameters_atomically$|/get_type_description$|/_action/')


@dataclass(frozen=True)
class Program:
    """A node as it is started: package, executable, its name, and parameters `name:=value`."""

    package: str
    executable: str
    name: str
    parameters: tuple[str, ...] = ('robot:=cibicik_arm',)
    namespace: str = ''


PROGRAMS = (
    Program('flex_dynamics', 'simulator', 'simulator'),
    Program('flex_dynamics', 'dynamics', 'dynamics'),
    Program('flex_control', 'control', 'control'),
    Program('flex_control', 'observer', 'observer', namespace='beside'),
    Program('flex_control', 'shaping_proxy', 'shaping_proxy'),
    Program('flex_viz', 'state_publisher', 'state_publisher'),
    Program('flex_viz', 'markers', 'markers'),
    Program('flex_viz', 'viewer', 'viewer',
            ('robot:=cibicik_arm', 'port:=18080')),      # 8080 may be taken
    Program('flex_viz', 'modes', 'modes', namespace='animated'),
)


@dataclass(frozen=True)
class Parameter:
    """A declared parameter: what the node says of it, and the value that it has."""

    name: str
    description: str
    range: str
    read_only: bool
    type: int
    value: object


@dataclass(frozen=True)
class Interface:
    """What a node offers: (name, type) by kind, names without the namespace; parameters."""

    package: str
    executable: str
    name: str
    endpoints: dict[str, list[tuple[str, str]]]
    parameters: list[Parameter]


def ask_nodes(programs: Sequence[Program]) -> list[Interface]:
    """Start all programs at once and return what each of them offers."""
    # Not among the nodes of a user who works in the default domain.
    os.environ.setdefault('ROS_DOMAIN_ID', '231')
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    rclpy.init()
    asking = rclpy.create_node('reference')
    try:
        with ExitStack() as stack:
            processes = [stack.enter_context(_running(program)) for program in programs]
            _wait(asking, programs, processes)
            return [_interface(asking, program) for program in programs]
    finally:
        asking.destroy_node()
        rclpy.shutdown()


@contextmanager
def _running(program: Program) -> Iterator[subprocess.Popen[bytes]]:
    arguments = [word for one in program.parameters for word in ('-p', one)]
    process = subprocess.Popen(
        ['ros2', 'run', program.package, program.executable, '--ros-args', *arguments,
         '-r', f'__ns:=/{program.namespace}'],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def _wait(asking: Node, programs: Sequence[Program],
          processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Until all nodes are there and the graph has not changed for a while."""
    end, before, still = time.monotonic() + START, None, time.monotonic()
    missing: list[str] = []
    while time.monotonic() < end:
        rclpy.spin_once(asking, timeout_sec=0.1)
        for program, process in zip(programs, processes):
            if process.poll() is not None:
                raise SystemExit(f'{program.name}: expected a running node, found that it ended '
                                 f'with {process.returncode}')
        there = set(asking.get_node_names_and_namespaces())
        missing = [one.name for one in programs if (one.name, f'/{one.namespace}') not in there]
        if missing:
            still = time.monotonic()
            continue
        now = [_endpoints(asking, one) for one in programs]
        if now != before:
            before, still = now, time.monotonic()
        elif time.monotonic() > still + QUIET:
            return
    raise SystemExit(f'expected all nodes within {START:g} s, found none of the name '
                     f'{", ".join(missing) or "that stays the same"}')


def _endpoints(asking: Node, program: Program) -> dict[str, list[tuple[str, str]]]:
    """Name and type of all that is the node's own, by kind."""
    kinds = {
        'publishes': asking.get_publisher_names_and_types_by_node,
        'subscribes to': asking.get_subscriber_names_and_types_by_node,
        'services': asking.get_service_names_and_types_by_node,
        'actions': lambda node, space: get_action_server_names_and_types_by_node(
            asking, node, space)}
    space = f'/{program.namespace}'
    cut = len(space.rstrip('/'))
    return {kind: sorted((full[cut:] if full.startswith(space) else full, types[0])
                         for full, types in ask(program.name, space) if not COMMON.search(full))
            for kind, ask in kinds.items()}


def _interface(asking: Node, program: Program) -> Interface:
    node = f'/{program.namespace}/{program.name}'.replace('//', '/')
    names = sorted(one for one in _call(asking, ListParameters, f'{node}/list_parameters',
                                        ListParameters.Request()).result.names
                   if not one.startswith(('qos_overrides.', 'start_type_description_service')))
    descriptors = _call(asking, DescribeParameters, f'{node}/describe_parameters',
                        DescribeParameters.Request(names=names)).descriptors
    values = _call(asking, GetParameters, f'{node}/get_parameters',
                   GetParameters.Request(names=names)).values
    parameters = []
    for one, value in zip(descriptors, values, strict=True):
        python = None if value.type == ParameterType.PARAMETER_NOT_SET else \
            parameter_value_to_python(value)
        if not isinstance(python, (str, bool, int, float, type(None))):
            python = list(python)
        parameters.append(Parameter(one.name, one.description, _range(one), one.read_only,
                                    one.type, python))
    return Interface(program.package, program.executable, program.name,
                     _endpoints(asking, program), parameters)


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
    json.dump([asdict(one) for one in ask_nodes(PROGRAMS)], sys.stdout)
