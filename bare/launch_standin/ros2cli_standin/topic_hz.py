"""`ros2 topic hz`."""
from __future__ import annotations

import argparse
import math
import sys
import time
from collections import deque
from typing import Any

from ros2cli_standin.graph import Graph, add_node_arguments
from ros2cli_standin.number_arguments import positive_int
from ros2cli_standin.topic_types import filter_function, running_types, the_type

WINDOW = 10000
SECOND = 1_000_000_000      # ns


class RateWindow:
    """Intervals between the last messages; times in ns."""

    def __init__(self, size: int) -> None:
        self._intervals: deque[int] = deque(maxlen=size)
        self._first: int | None = None
        self._last = 0
        self._printed = 0

    def add(self, now: int) -> bool:
        """A message came. False: the clock was reset, and counting begins again."""
        if now == 0:
            had = bool(self._intervals)
            self._intervals.clear()
            return not had
        if self._first is None or now < self._first:
            self._first = now
            self._intervals.clear()
        else:
            self._intervals.append(now - self._last)
        self._last = now
        return True

    def report(self) -> str | None:
        """The rate, once per second of the clock; None if it is not due."""
        if not self._intervals:
            return None
        if self._printed == 0 or self._last < self._printed:
            self._printed = self._last
            return None
        if self._last < self._printed + SECOND:
            return None
        self._printed = self._last
        count = len(self._intervals)
        mean = sum(self._intervals) / count
        deviation = math.sqrt(sum((one - mean) ** 2 for one in self._intervals) / count)
        rate = SECOND / mean if mean > 0.0 else 0.0
        return (f'average rate: {rate:.3f}\n\tmin: {min(self._intervals) / SECOND:.3f}s '
                f'max: {max(self._intervals) / SECOND:.3f}s '
                f'std dev: {deviation / SECOND:.5f}s window: {count}')


def hz_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('topic_name',
                        help="Name of the ROS topic to listen to (e.g. '/chatter')")
    parser.add_argument('-w', '--window', dest='window_size', metavar='WINDOW', default=WINDOW,
                        type=positive_int, help='window size, in # of messages, for calculating '
                                                'rate (default: %(default)s)')
    parser.add_argument('--filter', dest='filter_expr', metavar='EXPR',
                        help='only measure messages matching the specified Python expression')
    parser.add_argument('--wall-time', dest='use_wtime', action='store_true',
                        help='calculates rate using wall time which can be helpful when clock is '
                             'not published during simulation')
    add_node_arguments(parser, daemon=False)


def hz(args: argparse.Namespace, graph: Graph) -> int:
    from rclpy.qos import qos_profile_sensor_data
    selected = filter_function(args.filter_expr)
    graph.discover(args)
    topic = graph.full_name(args.topic_name)
    if not running_types(graph, topic):
        print(f'WARNING: topic [{topic}] does not appear to be published yet', file=sys.stderr)
        graph.wait_for(lambda: bool(running_types(graph, topic)), float('inf'))
    window = RateWindow(args.window_size)
    clock = graph.node.get_clock()

    def receive(message: Any) -> None:
        if args.filter_expr and not selected(message):
            return
        if not window.add(time.time_ns() if args.use_wtime else clock.now().nanoseconds):
            print('time has reset, resetting counters')

    # Without a filter nobody looks into the messages: large ones are not decoded.
    graph.node.create_subscription(the_type(topic, running_types(graph, topic)), topic, receive,
                                   qos_profile_sensor_data, raw=not args.filter_expr)
    while True:
        graph.spin_once()
        report = window.report()
        if report:
            print(report)
