"""The model of a node, from its parameters."""
from __future__ import annotations

from rclpy.node import Node

from flex_description import RobotError, load_robot
from flex_dynamics import DynamicsError, Model, checks
from flex_dynamics.ros.description_topic import wait_for_description
from flex_ros.message_guard import shortened
from flex_ros.parameters import NodeError, declare

MODEL_ERRORS = (RobotError, DynamicsError)      # for flex_ros.entry.run: they tell what to change
REPORTED: set[str] = set()      # warnings that a node of this process has logged
DEFAULT = 'cibicik_arm'


def declare_model(node: Node) -> Model:
    """The model that the parameters robot or robot_description, overlay and order ask for."""
    source = _declare_source(node)
    overlay = declare(node, 'overlay', '', 'YAML file that makes links of the robot flexible; '
                      'empty: none', fixed=True)
    order = declare(node, 'order', 'second', 'how the deformation field is expanded',
                    choices=('linear', 'first', 'second'), fixed=True)
    warn = declare(node, 'description_warnings', True, 'log the warnings about the robot '
                   'description; false: at level debug, for a node beside one that logs them',
                   fixed=True)
    loaded = load_robot(source, overlay or None, log_warnings=False)
    for warning in loaded.warnings:
        if warn and warning not in REPORTED:
            REPORTED.add(warning)
            node.get_logger().warning(warning)
        else:
            node.get_logger().debug(warning)
    checks.refuse_constraints(loaded, 'nodes run robots')
    return Model(loaded, order)


def _declare_source(node: Node) -> str:
    """What load_robot gets: a file, a name, or a text."""
    robot = declare(node, 'robot', DEFAULT, 'URDF or xacro file, its text, or the name of a '
                    'bundled robot', fixed=True)
    text = declare(node, 'robot_description', '', 'text of a URDF in place of robot, as '
                   'robot_state_publisher takes it; empty: none', fixed=True)
    topic = declare(node, 'robot_description_topic', '', 'topic that the URDF is taken from in '
                    'place of robot (std_msgs/String, transient local), such as '
                    'robot_description; empty: none', fixed=True)
    timeout = declare(node, 'robot_description_timeout', 30.0, 's of wall time to wait for that '
                      'topic', lower=0.1, upper=1e6, fixed=True)
    given = [name for name, is_given in (
        ('robot', robot not in ('', DEFAULT)), ('robot_description', text),
        ('robot_description_topic', topic)) if is_given]
    if len(given) > 1:
        raise NodeError(f'parameters: expected one of {", ".join(given)}, found all of them')
    if topic:
        text = wait_for_description(node, topic, timeout)
    # Another node's text could else be the name of any file of this machine.
    if (text or topic) and not text.lstrip('\ufeff \t\r\n').startswith('<'):
        raise NodeError(f'{topic or "parameter robot_description"}: expected the XML text of a '
                        f'URDF, found {shortened(text, 60)!r}')
    return str(text or robot)
