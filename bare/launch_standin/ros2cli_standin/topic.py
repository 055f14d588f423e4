"""`ros2 topic`: list and info here, echo, hz and pub in files of their own."""
from __future__ import annotations

import argparse

from ros2cli_standin.commands import Verb
from ros2cli_standin.errors import CommandError, suggestion
from ros2cli_standin.graph import LONGEST_DISCOVERY, Graph, add_node_arguments
from ros2cli_standin.node import is_hidden
from ros2cli_standin.topic_echo import echo, echo_arguments
from ros2cli_standin.topic_hz import hz, hz_arguments
from ros2cli_standin.topic_pub import pub, pub_arguments


def list_arguments(parser: argparse.ArgumentParser) -> None:
    add_node_arguments(parser)
    parser.add_argument('-t', '--show-types', action='store_true',
                        help='Additionally show the topic type')
    parser.add_argument('-c', '--count-topics', action='store_true',
                        help='Only display the number of topics discovered')
    parser.add_argument('--include-hidden-topics', action='store_true',
                        default=argparse.SUPPRESS, help='Consider hidden topics as well')
    parser.add_argument('-v', '--verbose', action='store_true',
                        help='List full details about each topic')


def list_topics(args: argparse.Namespace, graph: Graph) -> int:
    graph.discover(args)
    found = [(name, ', '.join(types)) for name, types in graph.node.get_topic_names_and_types()
             if args.include_hidden_topics or not is_hidden(name)]
    if args.count_topics:
        print(len(found))
    elif args.verbose:
        for title, noun, count in (
                ('Published', 'publisher', graph.node.count_publishers),
                ('Subscribed', 'subscriber', graph.node.count_subscribers)):
            print(f'{title} topics:')
            for name, types in found:
                number = count(name)
                if number:
                    print(f' * {name} [{types}] {number} {noun}{"s" if number > 1 else ""}')
            print()
    else:
        for name, types in found:
            print(f'{name} [{types}]' if args.show_types else name)
    return 0


def info_arguments(parser: argparse.ArgumentParser) -> None:
    add_node_arguments(parser)
    parser.add_argument('topic_name', help="Name of the ROS topic to get info (e.g. '/chatter')")
    parser.add_argument(
        '-v', '--verbose', action='store_true',
        help='Prints detailed information like the node name, node namespace, topic type, topic '
             'type hash, GUID, and QoS Profile of the publishers and subscribers to this topic')


def info(args: argparse.Namespace, graph: Graph) -> int:
    graph.discover(args)
    name = graph.full_name(args.topic_name)
    node = graph.node
    if not graph.wait_for(lambda: name in dict(node.get_topic_names_and_types()),
                          LONGEST_DISCOVERY):
        names = [one for one, _ in node.get_topic_names_and_types() if not is_hidden(one)]
        raise CommandError(f"Unknown topic '{name}'" + suggestion(name, names, 'topics'))
    types = dict(node.get_topic_names_and_types())[name]
    end = '\n\n' if args.verbose else '\n'
    print(f'Type: {types[0] if len(types) == 1 else types}', end=end)
    for noun, number, endpoints in (
            ('Publisher', node.count_publishers(name), node.get_publishers_info_by_topic),
            ('Subscription', node.count_subscribers(name), node.get_subscriptions_info_by_topic)):
        print(f'{noun} count: {number}', end=end)
        for endpoint in endpoints(name) if args.verbose else ():
            print(endpoint, end=end)
    return 0


VERBS = {
    'echo': Verb('Output messages from a topic.', echo_arguments, echo),
    'hz': Verb('Print the average publishing rate to screen.', hz_arguments, hz),
    'info': Verb('Print information about a topic.', info_arguments, info),
    'list': Verb('Output a list of available topics.', list_arguments, list_topics),
    'pub': Verb('Publish a message to a topic.', pub_arguments, pub),
}
