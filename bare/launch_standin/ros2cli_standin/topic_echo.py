"""`ros2 topic echo`."""
from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import yaml

from ros2cli_standin.errors import CommandError, suggestion
from ros2cli_standin.graph import LONGEST_DISCOVERY, PERIOD, Graph, add_node_arguments
from ros2cli_standin.interfaces import find_interface
from ros2cli_standin.message_text import Style, fields, to_csv, to_yaml
from ros2cli_standin.node import is_hidden
from ros2cli_standin.number_arguments import non_negative_int, positive_float
from ros2cli_standin.qos_options import add_qos_arguments, matching_profile
from ros2cli_standin.topic_types import filter_function, running_types, the_type

TRUNCATE_LENGTH = 128


def echo_arguments(parser: argparse.ArgumentParser) -> None:
    add_node_arguments(parser)
    add = parser.add_argument
    add('topic_name', help="Name of the ROS topic to listen to (e.g. '/chatter')")
    add('message_type', nargs='?', help="Type of the ROS message (e.g. 'std_msgs/msg/String')")
    add_qos_arguments(parser, 'subscribe', 'sensor_data')
    add('--csv', action='store_true',
        help='Output all recursive fields separated by commas (e.g. for plotting). If '
             '--include-message-info is also passed, the following fields are prepended: '
             'source_timestamp, received_timestamp, publication_sequence_number, '
             'reception_sequence_number.')
    add('--field', help="Echo a selected field of a message. Use '.' to select sub-fields. For "
        "example: 'ros2 topic echo /odom --field pose.pose.position'")
    add('-f', '--full-length', action='store_true',
        help="Output all elements for arrays, bytes, and string with a length > "
             "'--truncate-length', by default they are truncated after '--truncate-length' "
             "elements with '...'")
    add('-l', '--truncate-length', type=non_negative_int, default=TRUNCATE_LENGTH,
        help='The length to truncate arrays, bytes, and string to (default: %(default)s)')
    add('--no-arr', action='store_true', help="Don't print array fields of messages")
    add('--no-str', action='store_true', help="Don't print string fields of messages")
    add('--flow-style', action='store_true',
        help='Print collections in the block style (not available with csv format)')
    add('--no-lost-messages', action='store_true', help="Don't report when a message is lost")
    add('--raw', action='store_true', help='Echo the raw binary representation')
    add('--filter', dest='filter_expr',
        help='Python expression to filter messages that are printed. Expression can use Python '
             'builtins as well as m (the message).')
    add('--once', action='store_true', help='Print the first message received and then exit.')
    add('--timeout', metavar='N', type=positive_float,
        help='Set a timeout in seconds for waiting')
    add('-i', '--include-message-info', action='store_true',
        help='Shows the associated message info.')


def echo(args: argparse.Namespace, graph: Graph) -> int:
    selected = filter_function(args.filter_expr)
    path = [part for part in (args.field or '').split('.') if part]
    if args.field is not None and not path:
        raise CommandError(f"Invalid field value '{args.field}'")
    kind = find_interface(args.message_type, 'msg') if args.message_type else None
    graph.discover(args)
    topic = graph.full_name(args.topic_name)
    if kind is None:
        kind = _running_type(graph, topic)
    _check_field(kind, path)
    show = _printer(args)
    count = 0

    def receive(message: Any, info: dict[str, Any]) -> None:
        nonlocal count
        if args.once and count:
            return
        for name in () if args.raw else path:
            message = getattr(message, name)
        if selected(message):
            count += 1
            show(message, info)

    _subscribe(args, graph, kind, topic, receive)
    end = time.monotonic() + args.timeout if args.timeout else float('inf')
    while not (args.once and count) and (left := end - time.monotonic()) > 0.0:
        graph.spin_once(min(PERIOD, left))
    if not count:
        raise CommandError(f'no message on {topic} within {args.timeout:g} s')
    return 0


def _running_type(graph: Graph, topic: str) -> Any:
    if not graph.wait_for(lambda: bool(running_types(graph, topic)), LONGEST_DISCOVERY):
        print(f'WARNING: topic [{topic}] does not appear to be published yet', file=sys.stderr)
        names = [name for name, _ in graph.node.get_topic_names_and_types()
                 if not is_hidden(name)]
        raise CommandError('Could not determine the type for the passed topic'
                           + suggestion(topic, names, 'topics'))
    return the_type(topic, running_types(graph, topic))


def _check_field(kind: Any, path: list[str]) -> None:
    message = kind()
    for name in path:
        known = [one for one, _ in fields(message)] if hasattr(message, 'SLOT_TYPES') else []
        if name not in known:
            raise CommandError(f"Invalid field '{'.'.join(path)}': {type(message).__name__} has "
                               f"no field '{name}'" + suggestion(name, known, 'fields'))
        message = getattr(message, name)


def _subscribe(args: argparse.Namespace, graph: Graph, kind: Any, topic: str,
               receive: Callable[[Any, dict[str, Any]], None]) -> None:
    from rclpy.event_handler import SubscriptionEventCallbacks, UnsupportedEventTypeError
    profile = matching_profile(args, graph.node.get_publishers_info_by_topic(topic))
    events = None if args.no_lost_messages else SubscriptionEventCallbacks(message_lost=_lost)
    try:
        graph.node.create_subscription(kind, topic, receive, profile, event_callbacks=events,
                                       raw=args.raw)
    except UnsupportedEventTypeError:
        graph.node.create_subscription(kind, topic, receive, profile, raw=args.raw)


def _printer(args: argparse.Namespace) -> Callable[[Any, dict[str, Any]], None]:
    style = Style(None if args.full_length else args.truncate_length, args.no_arr, args.no_str)

    def show(message: Any, info: dict[str, Any]) -> None:
        with_info = args.include_message_info
        if not hasattr(message, 'SLOT_TYPES'):      # bytes, or a field that is no message
            if with_info:
                print(f'---Got new message, message info:---\n{info}\n---Message data:---')
            print(message, end='\n---\n')
        elif args.csv:
            head = [str(value) for value in info.values()] if with_info else []
            print(','.join([*head, to_csv(message, style)]))
        else:
            if with_info:
                print(yaml.dump(info), end='---\n')
            print(to_yaml(message, style, args.flow_style), end='---\n')
    return show


def _lost(status: Any) -> None:
    print('A message was lost!!!\n\ttotal count change:'
          f'{status.total_count_change}\n\ttotal count: {status.total_count}', end='---\n')
