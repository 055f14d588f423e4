"""The parameter services of a node, and the options of all `ros2 param` commands."""
from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from rcl_interfaces.msg import Parameter, ParameterDescriptor, ParameterValue, SetParametersResult
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    GetParameterTypes,
    ListParameters,
    SetParameters,
)

from ros2cli_standin.graph import LONGEST_DISCOVERY, Graph, add_node_arguments
from ros2cli_standin.number_arguments import positive_float

LONGEST_ANSWER = 10.0      # s: a node that does not answer must not block the others


def add_param_arguments(parser: argparse.ArgumentParser, optional: bool = False) -> None:
    """optional: without a node's name the command is for all nodes."""
    add_node_arguments(parser)
    if optional:
        parser.add_argument('node_name', nargs='?', help='Name of the ROS node')
    else:
        parser.add_argument('node_name', help='Name of the ROS node')
    parser.add_argument('--include-hidden-nodes', action='store_true',
                        help='Consider hidden nodes as well')
    parser.add_argument('--timeout', metavar='N', type=positive_float, default=LONGEST_DISCOVERY,
                        help='Wait for N seconds until node becomes available (default '
                             '%(default)g sec; there is no daemon that knows it already)')


def list_parameters(graph: Graph, node: str, prefixes: Sequence[str] = ()) -> list[str]:
    """Names in order."""
    request = ListParameters.Request(prefixes=list(prefixes))
    return sorted(_call(graph, ListParameters, node, 'list_parameters', request).result.names)


def get_parameters(graph: Graph, node: str, names: list[str]) -> list[ParameterValue]:
    """Their values; none at all if one of them is not declared or has no value."""
    request = GetParameters.Request(names=names)
    return list(_call(graph, GetParameters, node, 'get_parameters', request).values)


def get_types(graph: Graph, node: str, names: list[str]) -> list[int]:
    """Their types; none at all if one of them is not declared."""
    request = GetParameterTypes.Request(names=names)
    return list(_call(graph, GetParameterTypes, node, 'get_parameter_types', request).types)


def describe_parameters(graph: Graph, node: str, names: list[str]) -> list[ParameterDescriptor]:
    request = DescribeParameters.Request(names=names)
    return list(_call(graph, DescribeParameters, node, 'describe_parameters',
                      request).descriptors)


def set_parameters(graph: Graph, node: str, parameters: list[Parameter]) -> list[
        SetParametersResult]:
    """One result for each; each is set by itself."""
    request = SetParameters.Request(parameters=parameters)
    return list(_call(graph, SetParameters, node, 'set_parameters', request).results)


def _call(graph: Graph, kind: Any, node: str, service: str, request: Any) -> Any:
    return graph.call(kind, f'{node}/{service}', request, longest=LONGEST_ANSWER)


def report(result: SetParametersResult, good: str, bad: str, hint: str = '') -> int:
    """Print the result of a setting with its reason; the exit code."""
    reason = f': {result.reason}' if result.reason else ''
    if result.successful:
        print(good + reason)
        return 0
    print(bad + reason + hint, file=sys.stderr)
    return 1
