"""The type of a topic that runs, and expressions that select its messages."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ros2cli_standin.errors import CommandError
from ros2cli_standin.graph import Graph
from ros2cli_standin.interfaces import find_interface


def running_types(graph: Graph, topic: str) -> list[str]:
    """Types of the publishers and subscriptions of a topic; usually one."""
    return list(dict(graph.node.get_topic_names_and_types()).get(topic, []))


def the_type(topic: str, types: list[str]) -> Any:
    """The message class, if all on that topic agree on it."""
    if len(types) > 1:
        raise CommandError(f"Cannot echo topic '{topic}', as it contains more than one type: "
                           f'[{", ".join(types)}]')
    return find_interface(types[0], 'msg')


def filter_function(expression: str | None) -> Callable[[Any], bool]:
    """True for messages `m` for which the Python expression holds."""
    if not expression:
        return lambda message: True
    try:
        code = compile(expression, '--filter', 'eval')
    except (SyntaxError, ValueError) as error:
        raise CommandError(f"--filter '{expression}' is not a Python expression: {error}"
                           ) from None

    def holds(message: Any) -> bool:
        try:
            return bool(eval(code, {}, {'m': message}))
        except Exception as error:
            raise CommandError(f"--filter '{expression}' failed for a message: "
                               f'{type(error).__name__}: {error}') from None
    return holds
