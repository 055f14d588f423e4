"""`ros2 param dump` and `ros2 param load`."""
from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import yaml
from rcl_interfaces.msg import Parameter, ParameterType

from ros2cli_standin.errors import CommandError
from ros2cli_standin.graph import Graph, absolute, wait_for_node
from ros2cli_standin.parameter_services import (
    add_param_arguments,
    get_parameters,
    get_types,
    list_parameters,
    report,
    set_parameters,
)
from ros2cli_standin.parameter_values import flatten, nest, parameter_value, python_value

SECTION = 'ros__parameters'
ALL_NODES = '/**'


def dump_arguments(parser: argparse.ArgumentParser) -> None:
    add_param_arguments(parser)


def dump(args: argparse.Namespace, graph: Graph) -> int:
    node = absolute(args.node_name)
    graph.open(args)
    wait_for_node(graph, node, args.include_hidden_nodes, args.timeout)
    names = list_parameters(graph, node)
    values = get_parameters(graph, node, names) if names else []
    if len(values) != len(names):      # one without a value hides all others from the service
        values = [value for name in names
                  for value in get_parameters(graph, node, [name]) or [None]]
    known = {name: None if value is None else python_value(value)
             for name, value in zip(names, values)}
    print(yaml.dump({node: {SECTION: nest(known)}}, default_flow_style=False))
    return 0


def load_arguments(parser: argparse.ArgumentParser) -> None:
    add_param_arguments(parser)
    parser.add_argument('parameter_file', help='Parameter file')
    parser.add_argument('--no-use-wildcard', action='store_true',
                        help="Do not load parameters in the '/**' namespace into the node")


def load(args: argparse.Namespace, graph: Graph) -> int:
    node = absolute(args.node_name)
    values = file_parameters(Path(args.parameter_file), node, not args.no_use_wildcard)
    graph.open(args)
    wait_for_node(graph, node, args.include_hidden_nodes, args.timeout)
    declared = set(list_parameters(graph, node))
    known = [name for name in values if name in declared]
    types = dict(zip(known, get_types(graph, node, known) if known else []))
    parameters = []
    for name, value in values.items():
        try:
            message = parameter_value(value, types.get(name, ParameterType.PARAMETER_NOT_SET))
        except ValueError as error:
            raise CommandError(f'{args.parameter_file}: {name}: {error}') from None
        parameters.append(Parameter(name=name, value=message))
    code = 0
    for one, result in zip(parameters, set_parameters(graph, node, parameters)):
        code |= report(result, f'Set parameter {one.name} successful',
                       f'Set parameter {one.name} failed')
    return code


def file_parameters(path: Path, node: str, wildcard: bool) -> dict[str, Any]:
    """The parameters that the file has for the node, by dotted names.

    As in the real ros2, sections of other nodes are taken if there is none for this one: a dump
    of one node can be loaded into another.
    """
    try:
        content = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        reason = ' '.join(str(error).split())
        raise CommandError(f'{path} is not valid YAML: {reason}') from None
    except UnicodeDecodeError as error:
        raise CommandError(f'{path} is not a text file: {error}') from None
    if not isinstance(content, dict):
        raise CommandError(f'{path}: expected a mapping from nodes to {SECTION}, found '
                           f'{type(content).__name__}')
    own = [name for name in content if absolute(str(name)) == node]
    sections = own or [name for name in content if name != ALL_NODES]
    if wildcard and ALL_NODES in content:
        sections.insert(0, ALL_NODES)
    found: dict[str, Any] = {}
    for name in sections:
        section = content[name]
        if not isinstance(section, dict) or not isinstance(section.get(SECTION), dict):
            raise CommandError(f'YAML file is not a valid ROS parameter file for node {name}: '
                               f"{path}: expected a mapping '{SECTION}' in '{name}'")
        found.update(flatten(section[SECTION]))
    if not found:
        raise CommandError(f'Param file does not contain selected parameters: {path} has nothing '
                           f'for {node}')
    return found
