"""`ros2 topic pub`."""
from __future__ import annotations

import argparse
import sys
import time
from typing import Any

from rclpy.duration import Duration

from ros2cli_standin.errors import CommandError
from ros2cli_standin.graph import LATE_ANSWER, SPIN_TIME, Graph, add_node_arguments
from ros2cli_standin.interfaces import find_interface
from ros2cli_standin.message_values import read_values, set_fields
from ros2cli_standin.number_arguments import non_negative_int, positive_float
from ros2cli_standin.qos_options import add_qos_arguments, chosen_profile
from ros2cli_standin.topic_types import running_types


def pub_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add('topic_name', help="Name of the ROS topic to publish to (e.g. '/chatter')")
    add('message_type', help="Type of the ROS message (e.g. 'std_msgs/String')")
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        'values', nargs='?', default='{}',
        help="Values to fill the message with in YAML format (e.g. 'data: Hello World'), "
             'otherwise the message will be published with default values')
    group.add_argument('--stdin', action='store_true', help='Read values from standard input')
    add('-r', '--rate', metavar='N', type=positive_float, default=1.0,
        help='Publishing rate in Hz (default: 1)')
    add('-p', '--print', metavar='N', type=int, default=1,
        help='Only print every N-th published message (default: 1)')
    group = parser.add_mutually_exclusive_group()
    group.add_argument('-1', '--once', action='store_true', help='Publish one message and exit')
    group.add_argument('-t', '--times', type=non_negative_int, default=0,
                       help='Publish this number of times and then exit')
    add('-w', '--wait-matching-subscriptions', type=non_negative_int,
        help='Wait until finding the specified number of matching subscriptions. Defaults to 1 '
             'when using "-1"/"--once"/"--times", otherwise defaults to 0.')
    add('--max-wait-time-secs', type=positive_float,
        help='This sets the maximum wait time in seconds if --wait-until-matching-subscriptions '
             'is set. By default, this flag is not set meaning the subscriber will wait '
             'endlessly.')
    add('--keep-alive', metavar='N', type=positive_float, default=0.1,
        help='Keep publishing node alive for N seconds after the last msg (default: 0.1)')
    add('-n', '--node-name', help='Name of the created publishing node')
    add_qos_arguments(parser, 'publish', 'default')
    add_node_arguments(parser, daemon=False)


def pub(args: argparse.Namespace, graph: Graph) -> int:
    kind = find_interface(args.message_type, 'msg')
    message = kind()
    stamps = set_fields(message, read_values(args, 'values', 'value'), expand_time=True)
    times = 1 if args.once else args.times
    wanted = args.wait_matching_subscriptions
    if wanted is None:
        wanted = int(times != 0)
    if wanted == 0 and args.max_wait_time_secs is not None:
        raise CommandError('--max-wait-time-secs option is only effective with '
                           '--wait-matching-subscriptions, --once or --times')
    graph.open(args, args.node_name)
    topic = graph.full_name(args.topic_name)
    publisher = graph.node.create_publisher(kind, topic, chosen_profile(args))
    graph.wait_for(lambda: publisher.get_subscription_count() >= max(1, wanted),
                   getattr(args, 'spin_time', SPIN_TIME))
    _wait_for_subscriptions(graph, publisher, topic, _name(kind), wanted, args.max_wait_time_secs)
    print('publisher: beginning loop')
    count = 0

    def publish() -> None:
        nonlocal count
        if times and count >= times:
            return
        now = graph.node.get_clock().now().to_msg()
        for set_stamp in stamps:
            set_stamp(now)
        count += 1
        if args.print > 0 and count % args.print == 0:
            print(f'publishing #{count}: {message!r}\n')
        publisher.publish(message)

    publish()
    if times != 1:
        graph.node.create_timer(1.0 / args.rate, publish)
        while times == 0 or count < times:
            graph.spin_once()
    # A subscription that has just been found may not know this publisher yet: it receives the
    # message when it does, if the publisher still lives.
    publisher.wait_for_all_acked(Duration(seconds=LATE_ANSWER))
    graph.wait_for(lambda: False, args.keep_alive)
    return 0


def _name(kind: type) -> str:
    return f'{kind.__module__.split(".")[0]}/msg/{kind.__name__}'


def _wait_for_subscriptions(graph: Graph, publisher: Any, topic: str, kind: str, wanted: int,
                            longest: float | None) -> None:
    """Says once a second that it waits, until there are `wanted`; at most `longest` s. Says once
    if others use the topic with another type."""
    count = publisher.get_subscription_count
    end = time.monotonic() + (longest or float('inf'))
    warned = _warn_of_other_types(graph, topic, kind)
    while count() < wanted:
        if time.monotonic() >= end:
            raise CommandError(f'Timed out waiting for subscribers: Expected {wanted} '
                               f'subscribers but only got {count()} subscribers')
        print(f'Waiting for at least {wanted} matching subscription(s)...')
        graph.wait_for(lambda: count() >= wanted, min(1.0, end - time.monotonic()))
        warned = warned or _warn_of_other_types(graph, topic, kind)


def _warn_of_other_types(graph: Graph, topic: str, kind: str) -> bool:
    others = sorted(set(running_types(graph, topic)) - {kind})
    if others:
        print(f'WARNING: {topic} also has the type {", ".join(others)}; its subscriptions do not '
              f'receive {kind}', file=sys.stderr)
    return bool(others)
