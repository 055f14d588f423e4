# Copyright 2026 flex maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.
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


def declare_model(node: Node, constraints: bool = False) -> Model:
    """The model that the parameters robot or robot_description, overlay and order ask for.

    constraints: whether the node can run robots with loops, wheels or supports.
    """
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
    if not constraints:
        checks.refuse_constraints(loaded, f'node {node.get_name()} runs robots')
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
