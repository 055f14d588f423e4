"""`ros2 param`: list, get, set and describe here, dump and load in `param_file.py`."""
from __future__ import annotations

import argparse
import re
import sys
from typing import Any

from rcl_interfaces.msg import Parameter, ParameterDescriptor, ParameterType

from ros2cli_standin.commands import Verb
from ros2cli_standin.errors import CommandError, suggestion
from ros2cli_standin.graph import Graph, absolute, wait_for_node
from ros2cli_standin.param_file import dump, dump_arguments, load, load_arguments
from ros2cli_standin.parameter_services import (
    add_param_arguments,
    describe_parameters,
    get_parameters,
    get_types,
    list_parameters,
    report,
    set_parameters,
)
from ros2cli_standin.parameter_values import (
    LABELS,
    TYPE_NAMES,
    parameter_value,
    parse_value,
    python_value,
)


def list_arguments(parser: argparse.ArgumentParser) -> None:
    add_param_arguments(parser, optional=True)
    parser.add_argument('--filter', nargs=1,
                        help='Only parameters matching the regex expression will be showed. '
                             'Supports `re` regex syntax.')
    parser.add_argument('--param-prefixes', nargs='+', default=[],
                        help='Only list parameters with the provided prefixes')
    parser.add_argument('--param-type', action='store_true',
                        help='Print parameter types with parameter names')


def list_all(args: argparse.Namespace, graph: Graph) -> int:
    try:
        wanted = re.compile(args.filter[0] if args.filter else '')
    except re.error as error:
        raise CommandError(f"--filter '{args.filter[0]}' is not a regular expression: {error}"
                           ) from None
    if args.node_name:
        graph.open(args)
        names = [absolute(args.node_name)]
        wait_for_node(graph, names[0], args.include_hidden_nodes, args.timeout)
    else:
        graph.discover(args)
        names = list(dict.fromkeys(graph.node_names(args.include_hidden_nodes)))
    for node in names:
        try:
            parameters = list_parameters(graph, node, args.param_prefixes)
        except CommandError as error:
            if args.node_name:
                raise
            # A node without parameter services must not hide the others.
            print(f'Wait for service timed out waiting for parameter services for node {node}: '
                  f'{error}', file=sys.stderr)
            continue
        parameters = [name for name in parameters if wanted.match(name)]
        if parameters and not args.node_name:
            print(f'{node}:')
        kinds = (get_types(graph, node, parameters)
                 if args.param_type and parameters else [])
        for index, name in enumerate(parameters):
            print(f'  {name} (type: {TYPE_NAMES[kinds[index]]})' if kinds else f'  {name}')
    return 0


def get_arguments(parser: argparse.ArgumentParser) -> None:
    add_param_arguments(parser)
    parser.add_argument('parameter_name', help='Name of the parameter')
    parser.add_argument('--hide-type', action='store_true', help='Hide the type information')


def get(args: argparse.Namespace, graph: Graph) -> int:
    node = _open(args, graph)
    values = get_parameters(graph, node, [args.parameter_name])
    if not values:
        known = suggestion(args.parameter_name, list_parameters(graph, node), 'parameters')
        raise CommandError(f"Parameter not set: {node} has no parameter "
                           f"'{args.parameter_name}'{known}")
    kind = values[0].type
    if kind == ParameterType.PARAMETER_NOT_SET:
        print('None' if args.hide_type else 'Parameter not set.')
    else:
        value = python_value(values[0])
        print(value if args.hide_type else f'{LABELS[kind]} {value}')
    return 0


def set_arguments(parser: argparse.ArgumentParser) -> None:
    add_param_arguments(parser)
    parser.add_argument('parameter_name', help='Name of the parameter')
    parser.add_argument('value', help='Value of the parameter')


def set_one(args: argparse.Namespace, graph: Graph) -> int:
    node = _open(args, graph)
    name = args.parameter_name
    value = parse_value(args.value)
    kinds = get_types(graph, node, [name])
    declared = kinds[0] if kinds else ParameterType.PARAMETER_NOT_SET
    try:
        message = parameter_value(value, declared, args.value)
    except ValueError as error:
        raise CommandError(f'Setting parameter failed: {error}') from None
    result = set_parameters(graph, node, [Parameter(name=name, value=message)])[0]
    hint = ''
    if not result.successful and not kinds:
        known = list_parameters(graph, node)
        if name not in known:
            hint = suggestion(name, known, 'parameters')
    return report(result, 'Set parameter successful', 'Setting parameter failed', hint)


def describe_arguments(parser: argparse.ArgumentParser) -> None:
    add_param_arguments(parser)
    parser.add_argument('parameter_names', nargs='+', help='Names of the parameters')


def describe(args: argparse.Namespace, graph: Graph) -> int:
    node = _open(args, graph)
    known = list_parameters(graph, node)
    for name in args.parameter_names:
        if name not in known:
            raise CommandError(f"{node} has no parameter '{name}'"
                               + suggestion(name, known, 'parameters'))
    for descriptor in describe_parameters(graph, node, args.parameter_names):
        print('\n'.join(_description(descriptor)))
    return 0


def _description(descriptor: ParameterDescriptor) -> list[str]:
    lines = [f'Parameter name: {descriptor.name}', f'  Type: {TYPE_NAMES[descriptor.type]}']
    if descriptor.description:
        lines.append(f'  Description: {descriptor.description}')
    lines.append('  Constraints:')
    if descriptor.read_only:
        lines.append('    Read only: true')
    ranges: list[Any] = [*descriptor.floating_point_range, *descriptor.integer_range]
    if ranges:
        lines += [f'    Min value: {ranges[0].from_value}', f'    Max value: {ranges[0].to_value}']
        if ranges[0].step:
            lines.append(f'    Step: {ranges[0].step}')
    if descriptor.additional_constraints:
        lines.append(f'    Additional constraints: {descriptor.additional_constraints}')
    return lines


def _open(args: argparse.Namespace, graph: Graph) -> str:
    """Opens the graph and waits for the node; returns its full name."""
    graph.open(args)
    name = absolute(args.node_name)
    wait_for_node(graph, name, args.include_hidden_nodes, args.timeout)
    return name


VERBS = {
    'describe': Verb('Show descriptive information about declared parameters.',
                     describe_arguments, describe),
    'dump': Verb('Show all of the parameters of a node in a YAML file format.', dump_arguments,
                 dump),
    'get': Verb('Get parameter.', get_arguments, get),
    'list': Verb('Output a list of available parameters.', list_arguments, list_all),
    'load': Verb('Load parameter file for a node.', load_arguments, load),
    'set': Verb('Set parameter.', set_arguments, set_one),
}
