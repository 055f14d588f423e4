"""`ros2 service list` and `ros2 service call`."""
from __future__ import annotations

import argparse
import time

from ros2cli_standin.commands import Verb
from ros2cli_standin.errors import CommandError, suggestion
from ros2cli_standin.graph import SERVICE_WAIT, SETTLE, Graph, add_node_arguments
from ros2cli_standin.interfaces import find_interface
from ros2cli_standin.message_values import read_values, set_fields
from ros2cli_standin.node import is_hidden
from ros2cli_standin.number_arguments import positive_float


def list_arguments(parser: argparse.ArgumentParser) -> None:
    add_node_arguments(parser)
    parser.add_argument('-t', '--show-types', action='store_true',
                        help='Additionally show the service type')
    parser.add_argument('-c', '--count-services', action='store_true',
                        help='Only display the number of services discovered')
    parser.add_argument('--include-hidden-services', action='store_true',
                        default=argparse.SUPPRESS, help='Consider hidden services as well')


def list_services(args: argparse.Namespace, graph: Graph) -> int:
    graph.discover(args)
    found = [(name, types) for name, types in graph.node.get_service_names_and_types()
             if args.include_hidden_services or not is_hidden(name)]
    if args.count_services:
        print(len(found))
        return 0
    for name, types in found:
        print(f'{name} [{", ".join(types)}]' if args.show_types else name)
    return 0


def call_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('service_name',
                        help="Name of the ROS service to call to (e.g. '/add_two_ints')")
    parser.add_argument('service_type', help="Type of the ROS service (e.g. 'std_srvs/srv/Empty')")
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        'values', nargs='?', default='{}',
        help="Values to fill the service request with in YAML format (e.g. '{a: 1, b: 2}'), "
             'otherwise the service request will be published with default values')
    group.add_argument('--stdin', action='store_true', help='Read values from standard input')
    parser.add_argument('-r', '--rate', metavar='N', type=positive_float,
                        help='Repeat the call at a specific rate in Hz')


def call(args: argparse.Namespace, graph: Graph) -> int:
    kind = find_interface(args.service_type, 'srv')
    request = kind.Request()
    set_fields(request, read_values(args, 'values', 'request'))
    graph.open(args)
    name = graph.full_name(args.service_name)
    client = graph.node.create_client(kind, name)
    if not client.service_is_ready():
        print('waiting for service to become available...')
        _wait(client, name, kind, graph)
    graph.wait_for(lambda: False, SETTLE)
    while True:
        print(f'requester: making request: {request!r}\n')
        began = time.monotonic()
        print(f'response:\n{graph.call(kind, name, request, client)!r}\n')
        if args.rate is None:
            return 0
        graph.wait_for(lambda: False, began + 1.0 / args.rate - time.monotonic())


def _wait(client: object, name: str, kind: type, graph: Graph) -> None:
    """Until a server of this type is there; a server of another type ends the wait at once."""
    wanted = f'{kind.__module__.split(".")[0]}/srv/{kind.__name__}'

    def other_types() -> list[str]:
        return [one for topic, types in graph.node.get_service_names_and_types()
                if topic == name for one in types if one != wanted]

    ready = client.service_is_ready      # type: ignore[attr-defined]
    graph.wait_for(lambda: ready() or bool(other_types()), SERVICE_WAIT)
    if ready():
        return
    if other_types():
        raise CommandError(f"service '{name}' has the type {other_types()[0]}, not {wanted}")
    names = [topic for topic, _ in graph.node.get_service_names_and_types()
             if not is_hidden(topic) and topic != name]
    raise CommandError(f"no server of service '{name}' within {SERVICE_WAIT:g} s"
                       + suggestion(name, names, 'services'))


VERBS = {
    'call': Verb('Call a service.', call_arguments, call),
    'list': Verb('Output a list of available services.', list_arguments, list_services),
}
