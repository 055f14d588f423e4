"""`ros2 action list` and `ros2 action send_goal`."""
from __future__ import annotations

import argparse
import time
from typing import Any

from ros2cli_standin.commands import Verb
from ros2cli_standin.errors import CommandError, suggestion
from ros2cli_standin.graph import SERVICE_WAIT, SETTLE, Graph, Interrupted
from ros2cli_standin.interfaces import find_interface
from ros2cli_standin.message_text import to_yaml
from ros2cli_standin.message_values import read_values, set_fields

STATUS = ('UNKNOWN', 'ACCEPTED', 'EXECUTING', 'CANCELING', 'SUCCEEDED', 'CANCELED', 'ABORTED')
SUCCEEDED = 4
ACTIVE = (1, 2)      # accepted, executing: such a goal is cancelled by an interrupt


def list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('-t', '--show-types', action='store_true',
                        help='Additionally show the action type')
    parser.add_argument('-c', '--count-actions', action='store_true',
                        help='Only display the number of actions discovered')


def list_actions(args: argparse.Namespace, graph: Graph) -> int:
    graph.discover(args)
    found = _actions(graph)
    if args.count_actions:
        print(len(found))
        return 0
    for name, types in found.items():
        print(f'{name} [{", ".join(types)}]' if args.show_types else name)
    return 0


def _actions(graph: Graph) -> dict[str, list[str]]:
    from rclpy.action import get_action_names_and_types
    return dict(get_action_names_and_types(graph.node))


def send_goal_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('action_name', help="Name of the ROS action (e.g. '/fibonacci')")
    parser.add_argument('action_type', help='Type of the ROS action (e.g. '
                                            "'example_interfaces/action/Fibonacci')")
    group = parser.add_mutually_exclusive_group()
    group.add_argument('goal', nargs='?', default='{}',
                       help="Goal request values in YAML format (e.g. '{order: 10}')")
    group.add_argument('--stdin', action='store_true', help='Read goal from standard input')
    parser.add_argument('-f', '--feedback', action='store_true',
                        help='Echo feedback messages for the goal')


def send_goal(args: argparse.Namespace, graph: Graph) -> int:
    from rclpy.action import ActionClient
    kind = find_interface(args.action_type, 'action')
    goal = kind.Goal()
    set_fields(goal, read_values(args, 'goal', 'goal'))
    graph.open(args)
    name = graph.full_name(args.action_name)
    client = ActionClient(graph.node, kind, name)
    print('Waiting for an action server to become available...')
    _wait_for_server(graph, client, name, kind)
    graph.wait_for(lambda: False, SETTLE)
    print(f'Sending goal:\n     {to_yaml(goal)}')
    handle = None
    early: list[Any] = []      # feedback that overtakes the acceptance

    def feedback(message: Any) -> None:
        if handle is None:
            early.append(message)
        else:
            _show_feedback(message)

    try:
        handle = _result(graph, client, name, client.send_goal_async(
            goal, feedback if args.feedback else None))
        if not handle.accepted:
            print('Goal was rejected.')
            return 1
        print(f'Goal accepted with ID: {bytes(handle.goal_id.uuid).hex()}\n')
        for message in early:
            _show_feedback(message)
        result = _result(graph, client, name, handle.get_result_async())
    except Interrupted:
        if handle is not None and handle.accepted and handle.status in (0, *ACTIVE):
            _cancel(graph, client, name, handle)
        raise
    finally:
        client.destroy()
    print(f'Result:\n    {to_yaml(result.result)}')
    print(f'Goal finished with status: {STATUS[result.status]}')
    return 0 if result.status == SUCCEEDED else 1


def _show_feedback(message: Any) -> None:
    print(f'Feedback:\n    {to_yaml(message.feedback)}')


def _wait_for_server(graph: Graph, client: Any, name: str, kind: type) -> None:
    wanted = f'{kind.__module__.split(".")[0]}/action/{kind.__name__}'

    def other_types() -> list[str]:
        return [one for one in _actions(graph).get(name, []) if one != wanted]

    graph.wait_for(lambda: client.server_is_ready() or bool(other_types()), SERVICE_WAIT)
    if client.server_is_ready():
        return
    if other_types():
        raise CommandError(f"action '{name}' has the type {other_types()[0]}, not {wanted}")
    known = [one for one in _actions(graph) if one != name]
    raise CommandError(f"no server of action '{name}' within {SERVICE_WAIT:g} s"
                       + suggestion(name, known, 'actions'))


def _result(graph: Graph, client: Any, name: str, future: Any) -> Any:
    """What the server answers; an error if it disappears."""
    last_seen = time.monotonic()
    while not future.done():
        graph.spin_once()
        if client.server_is_ready():
            last_seen = time.monotonic()
        elif time.monotonic() > last_seen + SERVICE_WAIT:
            raise CommandError(f"the server of action '{name}' disappeared and has not been back "
                               f'for {SERVICE_WAIT:g} s')
    if future.exception():
        raise CommandError(f"action '{name}' failed: {future.exception()!r}")
    return future.result()


def _cancel(graph: Graph, client: Any, name: str, handle: Any) -> None:
    print('Canceling goal...')
    response = _result(graph, client, name, handle.cancel_goal_async())
    if not any(one.goal_id == handle.goal_id for one in response.goals_canceling):
        raise CommandError('Failed to cancel goal')
    print('Goal canceled.')


VERBS = {
    'list': Verb('Output a list of action names.', list_arguments, list_actions),
    'send_goal': Verb('Send an action goal.', send_goal_arguments, send_goal),
}
