"""A node of one command: it discovers the graph, waits for what is named, and calls services."""
from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from ros2cli_standin.errors import CommandError, suggestion
from ros2cli_standin.number_arguments import positive_float
from ros2cli_standin.participants import discovered_participants, local_participants

SPIN_TIME = 0.5            # s without news, after which the graph is taken as discovered
LONGEST_DISCOVERY = 5.0    # s that a graph in motion, or the wait for something named, may take
LATE_ANSWER = 3.0          # s until a process is heard whose first answer was lost
SERVICE_WAIT = 10.0        # s for a service or an action server to appear, or to come back
RETRY = 3.0                # s after which a request that may come twice is sent again
SETTLE = 0.2               # s in which a server learns of a new client, else its answer is lost
PERIOD = 0.1               # s between two looks at the signals


class Interrupted(Exception):
    """SIGINT or SIGTERM came; raised between two callbacks, never inside one."""

    def __init__(self, number: int) -> None:
        super().__init__(f'interrupted by signal {number}')
        self.number = number


class Graph:
    """The ROS graph, seen by a hidden node that `open` creates and `close` removes."""

    def __init__(self) -> None:
        self.node: Any = None
        self._executor: Any = None
        self._owns_context = False      # tests keep one, whose discovery is done
        self._signal = 0
        self._handlers: dict[int, Any] = {}

    @property
    def is_open(self) -> bool:
        return self.node is not None

    def open(self, arguments: argparse.Namespace, name: str | None = None) -> None:
        """Create the node; `arguments` are those of `add_node_arguments`, where declared."""
        import rclpy
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.parameter import Parameter
        from rclpy.signals import SignalHandlerOptions
        if name is not None and not re.fullmatch('[A-Za-z_][A-Za-z0-9_]*', name):
            raise CommandError(f"'{name}' is not a valid name of a node: expected letters, digits "
                               "and '_', not a digit first")
        # rclpy's own handlers would end the context, and no goal could be cancelled any more.
        for number in (signal.SIGINT, signal.SIGTERM):
            self._handlers[number] = signal.signal(number, self._interrupt)
        self._owns_context = not rclpy.ok()
        if self._owns_context:
            # As the nodes of flex: a process that stops for long loses its port in shared memory.
            os.environ.setdefault('FASTDDS_BUILTIN_TRANSPORTS', 'UDPv4')
            rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        self.node = rclpy.create_node(
            name or f'_ros2cli_{os.getpid()}', start_parameter_services=False,
            parameter_overrides=[
                Parameter('use_sim_time', value=getattr(arguments, 'use_sim_time', False)),
                Parameter('start_type_description_service', value=False)],
            automatically_declare_parameters_from_overrides=True)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)

    def close(self) -> None:
        if not self.is_open:
            return
        import rclpy
        self._executor.remove_node(self.node)
        self._executor.shutdown()
        self.node.destroy_node()
        self.node = None
        if self._owns_context:
            rclpy.try_shutdown()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _interrupt(self, number: int, _frame: Any) -> None:
        if self._signal:
            raise KeyboardInterrupt      # the second one ends also what does not look
        self._signal = number

    def take_signal(self) -> int:
        """The signal that came, 0 if none; the command may then still end in order."""
        number, self._signal = self._signal, 0
        return number

    def spin_once(self, timeout: float = PERIOD) -> None:
        """At most one callback, or `timeout` in s."""
        self._executor.spin_once(timeout_sec=timeout)
        if self._signal:
            raise Interrupted(self.take_signal())

    def wait_for(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Spin until `condition` holds; False if it did not within `timeout` s."""
        end = time.monotonic() + timeout
        while not condition():
            left = end - time.monotonic()
            if left <= 0.0:
                return False
            self.spin_once(min(left, PERIOD))
        return True

    def discover(self, arguments: argparse.Namespace) -> None:
        """Open the node; wait until all of this machine are known, and nothing new has appeared
        for the spin time."""
        self.open(arguments)
        quiet = getattr(arguments, 'spin_time', SPIN_TIME)
        began = changed = time.monotonic()
        longest = began + max(quiet, LONGEST_DISCOVERY)
        seen: Any = None
        while (now := time.monotonic()) < min(changed + quiet, longest):
            self.spin_once(min(PERIOD, changed + quiet - now))
            found = (self.node.get_node_names_and_namespaces(),
                     self.node.get_topic_names_and_types(),
                     self.node.get_service_names_and_types())
            known, all_named = discovered_participants(self.node)
            expected = local_participants(self.node.context.get_domain_id())
            late = now < began + LATE_ANSWER and (known < expected or not all_named)
            if found != seen or late:
                seen, changed = found, time.monotonic()

    def node_names(self, hidden: bool = False) -> list[str]:
        """Full names of all nodes, in order; those that start with `_` only if `hidden`."""
        return sorted(namespace.rstrip('/') + '/' + name
                      for name, namespace in self.node.get_node_names_and_namespaces()
                      if hidden or (name and not name.startswith('_')))

    def full_name(self, name: str) -> str:
        """A topic, service or action name from the root, checked."""
        from rclpy.exceptions import InvalidTopicNameException
        from rclpy.expand_topic_name import expand_topic_name
        from rclpy.validate_full_topic_name import validate_full_topic_name
        try:
            full = expand_topic_name(name, self.node.get_name(), self.node.get_namespace())
            validate_full_topic_name(full)
        except (ValueError, InvalidTopicNameException) as error:
            raise CommandError(f"'{name}' is not a valid name: {error}") from None
        return full

    def call(self, kind: Any, name: str, request: Any, client: Any = None,
             longest: float = float('inf')) -> Any:
        """The response of a service. Waits at most SERVICE_WAIT for a server that is absent.

        longest: s for the answer. If it is finite the request is repeated once a RETRY, so it
        must be one that may come twice: answers are lost while a client is being discovered.
        """
        owned = client is None
        client = client or self.node.create_client(kind, name)
        if not self.wait_for(client.service_is_ready, SERVICE_WAIT):
            raise CommandError(f"no server of service '{name}' within {SERVICE_WAIT:g} s")
        futures = [client.call_async(request)]
        began = last_seen = time.monotonic()
        repeated, said = began, False
        while not any(future.done() for future in futures):
            self.spin_once()
            now = time.monotonic()
            if client.service_is_ready():
                last_seen = now
            elif now > last_seen + SERVICE_WAIT:
                raise CommandError(f"the server of service '{name}' disappeared and has not been "
                                   f'back for {SERVICE_WAIT:g} s')
            if now > began + longest:
                raise CommandError(f"service '{name}' is there but has not answered for "
                                   f'{longest:g} s; its node may be busy or stopped')
            if longest < float('inf') and now > repeated + RETRY:
                futures.append(client.call_async(request))
                repeated = now
            elif longest == float('inf') and not said and now > began + SERVICE_WAIT:
                said = True
                print(f"service '{name}' has not answered for {SERVICE_WAIT:g} s; still waiting "
                      '(Ctrl-C ends)', file=sys.stderr)
        future = next(future for future in futures if future.done())
        if owned:
            self.node.destroy_client(client)
        if future.exception():
            raise CommandError(f"service '{name}' failed: {future.exception()!r}")
        return future.result()


def add_node_arguments(parser: argparse.ArgumentParser, daemon: bool = True) -> None:
    """The options of every command that looks at the graph."""
    parser.add_argument(
        '--spin-time', type=positive_float, default=SPIN_TIME,
        help='Spin time in seconds to wait for discovery (default: %(default)s)')
    parser.add_argument('-s', '--use-sim-time', action='store_true',
                        help='Enable ROS simulation time')
    if daemon:
        parser.add_argument('--no-daemon', action='store_true',
                            help='Has no effect: this ros2 has no daemon')


def absolute(node_name: str) -> str:
    """The name of a node with its leading slash."""
    return node_name if node_name.startswith('/') else '/' + node_name


def wait_for_node(graph: Graph, name: str, hidden: bool, timeout: float) -> None:
    """Wait until the node with this full name is in the graph, or raise an error."""
    if not graph.wait_for(lambda: name in graph.node_names(hidden), timeout):
        known = suggestion(name, graph.node_names(hidden), 'nodes')
        raise CommandError(f"Node not found: no node '{name}' within {timeout:g} s{known}")
