"""The model of a node, from its parameters."""
from __future__ import annotations

from rclpy.node import Node

from flex_description import RobotError, load_robot
from flex_dynamics import DynamicsError, Model
from flex_ros.parameters import declare

MODEL_ERRORS = (RobotError, DynamicsError)      # for flex_ros.entry.run: they tell what to change
REPORTED: set[str] = set()      # warnings that a node of this process has logged


def declare_model(node: Node) -> Model:
    """The model that the parameters robot, overlay and order ask for."""
    robot = declare(node, 'robot', 'cibicik_arm', 'URDF or xacro file, its text, or the name of a '
                    'bundled robot', fixed=True)
    overlay = declare(node, 'overlay', '', 'YAML file that makes links of the robot flexible; '
                      'empty: none', fixed=True)
    order = declare(node, 'order', 'second', 'how the deformation field is expanded',
                    choices=('linear', 'first', 'second'), fixed=True)
    warn = declare(node, 'description_warnings', True, 'log the warnings about the robot '
                   'description; false: at level debug, for a node beside one that logs them',
                   fixed=True)
    loaded = load_robot(robot, overlay or None, log_warnings=False)
    for warning in loaded.warnings:
        if warn and warning not in REPORTED:
            REPORTED.add(warning)
            node.get_logger().warning(warning)
        else:
            node.get_logger().debug(warning)
    return Model(loaded, order)
