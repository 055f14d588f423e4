"""The model of a node, from its parameters."""
from __future__ import annotations

from rclpy.node import Node

from flex_description import RobotError, load_robot
from flex_dynamics import DynamicsError, Model
from flex_ros.parameters import declare

MODEL_ERRORS = (RobotError, DynamicsError)      # for flex_ros.entry.run: they tell what to change


def declare_model(node: Node) -> Model:
    """The model that the parameters robot, overlay and order ask for."""
    robot = declare(node, 'robot', 'cibicik_arm', 'URDF or xacro file, its text, or the name of a '
                    'bundled robot', fixed=True)
    overlay = declare(node, 'overlay', '', 'YAML file that makes links of the robot flexible; '
                      'empty: none', fixed=True)
    order = declare(node, 'order', 'second', 'how the deformation field is expanded',
                    choices=('linear', 'first', 'second'), fixed=True)
    loaded = load_robot(robot, overlay or None)
    for warning in loaded.warnings:
        node.get_logger().warning(warning)
    return Model(loaded, order)
