"""Parameters that are lists of words."""
from __future__ import annotations

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.exceptions import InvalidParameterTypeException
from rclpy.node import Node

from flex_ros.parameters import NodeError
from flex_viz.shown_text import plain


def declare_words(node: Node, name: str, description: str) -> list[str]:
    """Declare a parameter that holds any number of words; read when the node starts."""
    descriptor = ParameterDescriptor(description=description, read_only=True,
                                     dynamic_typing=True)
    try:
        node.declare_parameter(name, [''], descriptor)
    except InvalidParameterTypeException as error:
        raise NodeError(f'parameter {name}: {error}') from None
    value = node.get_parameter(name).value
    words = [value] if isinstance(value, str) else list(value or ())
    if not all(isinstance(word, str) for word in words):
        raise NodeError(f'parameter {name}: expected words, found {plain(value)}')
    return [word for word in words if word.strip()]
