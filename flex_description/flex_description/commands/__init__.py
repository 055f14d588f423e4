"""Command lines about robots; other packages build theirs on `robot_parser`."""
from flex_description.commands.robot_arguments import (
    robot_from_arguments,
    robot_parser,
    run_command,
)

__all__ = ['robot_from_arguments', 'robot_parser', 'run_command']
