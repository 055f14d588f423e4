"""Message, service and action types by name."""
from __future__ import annotations

import importlib
from typing import Any

from ros2cli_standin.errors import CommandError, suggestion

# How each kind is called and recognised.
KINDS = {
    'msg': ('message', ('SLOT_TYPES',)),
    'srv': ('service', ('Request', 'Response')),
    'action': ('action', ('Goal', 'Result', 'Feedback')),
}


def find_interface(name: str, kind: str) -> Any:
    """The class of `std_msgs/msg/String` or `std_msgs/String`; kind: msg, srv or action."""
    word, _ = KINDS[kind]
    error = f'The passed {word} type is invalid'
    parts = name.split('/')
    if len(parts) == 2:
        parts.insert(1, kind)
    if len(parts) != 3 or not all(part.isidentifier() for part in parts):
        raise CommandError(f"{error}: expected 'package/{kind}/Name', found '{name}'")
    package, found, last = parts
    if found != kind:
        raise CommandError(f"{error}: expected 'package/{kind}/Name', found '{name}'")
    try:
        module = importlib.import_module(f'{package}.{kind}')
    except ImportError as reason:
        raise CommandError(f"{error}: package '{package}' with {word} types cannot be imported "
                           f'({reason}); is it built, and env.sh sourced?') from None
    interface = getattr(module, last, None)
    if not is_kind(interface, kind):
        names = [one for one in dir(module) if is_kind(getattr(module, one), kind)]
        raise CommandError(f"{error}: '{package}' has no {word} '{last}'"
                           + suggestion(last, names, f'{word} types'))
    return interface


def is_kind(interface: Any, kind: str) -> bool:
    return all(hasattr(interface, attribute) for attribute in KINDS[kind][1])


def import_slot(slot: Any) -> Any:
    """The class of a message that is a field, from the type of its slot."""
    return getattr(importlib.import_module('.'.join(slot.namespaces)), slot.name)
