"""Takes the place of MoveIt's move_group in a launch: reads its parameters as that does, in two
nodes of one process, and leaves them to the test."""
import contextlib
import json
import os
from pathlib import Path

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

FOLDER = Path(os.environ['FLEX_PARTNER_FOLDER'])


def parameters(node):
    return {name: parameter.value for name, parameter in node.get_parameters_by_prefix('').items()}


def main():
    rclpy.init()
    # The second one is that of the controller manager, which move_group makes for its plugin.
    nodes = [Node(name, automatically_declare_parameters_from_overrides=True,
                  allow_undeclared_parameters=True)
             for name in ('move_group', 'moveit_simple_controller_manager')]
    found = {node.get_name(): parameters(node) for node in nodes}
    space = nodes[0].get_namespace().strip('/') or 'root'
    path = FOLDER / f'{space}.json'
    path.with_suffix('.new').write_text(json.dumps(found, default=list))
    path.with_suffix('.new').rename(path)
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(nodes[0])
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
