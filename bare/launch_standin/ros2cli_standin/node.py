"""`ros2 node list` and `ros2 node info`."""
from __future__ import annotations

import argparse
import sys

from ros2cli_standin.commands import Verb
from ros2cli_standin.errors import CommandError, suggestion
from ros2cli_standin.graph import LONGEST_DISCOVERY, Graph, absolute, add_node_arguments


def list_arguments(parser: argparse.ArgumentParser) -> None:
    add_node_arguments(parser)
    parser.add_argument('-a', '--all', action='store_true',
                        help='Display all nodes even hidden ones')
    parser.add_argument('-c', '--count-nodes', action='store_true',
                        help='Only display the number of nodes discovered')


def list_nodes(args: argparse.Namespace, graph: Graph) -> int:
    graph.discover(args)
    names = graph.node_names(args.all)
    if args.count_nodes:
        print(len(names))
    elif names:
        if len(set(names)) < len(names):
            print('WARNING: Be aware that there are nodes in the graph that share an exact name, '
                  'which can have unintended side effects.', file=sys.stderr)
        print('\n'.join(names))
    return 0


def info_arguments(parser: argparse.ArgumentParser) -> None:
    add_node_arguments(parser)
    parser.add_argument('node_name', help='Node name to request information')
    parser.add_argument('--include-hidden', action='store_true',
                        help='Display hidden topics, services, and actions as well')


def info(args: argparse.Namespace, graph: Graph) -> int:
    import rclpy.action
    graph.discover(args)
    name = absolute(args.node_name)
    hidden = args.include_hidden
    graph.wait_for(lambda: name in graph.node_names(hidden), LONGEST_DISCOVERY)
    count = graph.node_names(hidden).count(name)
    if count == 0:
        raise CommandError(f"Unable to find node '{name}' within {LONGEST_DISCOVERY:g} s"
                           + suggestion(name, graph.node_names(hidden), 'nodes'))
    if count > 1:
        print(f'There are {count} nodes in the graph with the exact name "{name}". You are '
              'seeing information about only one of them.', file=sys.stderr)
    namespace, base = name.rsplit('/', 1)
    namespace = namespace or '/'
    node = graph.node
    action = rclpy.action
    print(name)
    for title, found in (
            ('Subscribers', node.get_subscriber_names_and_types_by_node(base, namespace)),
            ('Publishers', node.get_publisher_names_and_types_by_node(base, namespace)),
            ('Service Servers', node.get_service_names_and_types_by_node(base, namespace)),
            ('Service Clients', node.get_client_names_and_types_by_node(base, namespace)),
            ('Action Servers', action.get_action_server_names_and_types_by_node(
                node, base, namespace)),
            ('Action Clients', action.get_action_client_names_and_types_by_node(
                node, base, namespace))):
        print(f'  {title}:')
        print('\n'.join(f'    {topic}: {", ".join(types)}' for topic, types in found
                        if hidden or not is_hidden(topic)))
    return 0


def is_hidden(name: str) -> bool:
    """A part of the name starts with an underscore: topics and services of actions, say."""
    return any(part.startswith('_') for part in name.split('/'))


VERBS = {
    'info': Verb('Output information about a node.', info_arguments, info),
    'list': Verb('Output a list of available nodes.', list_arguments, list_nodes),
}
