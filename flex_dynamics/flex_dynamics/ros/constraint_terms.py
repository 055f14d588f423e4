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
"""What robots with loops, wheels and supports add to the terms: Jacobian, multipliers, reactions.
"""
from __future__ import annotations

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile

from flex_dynamics.model.model import Model
from flex_dynamics.ros.joint_efforts import JointEfforts
from flex_dynamics.ros.simulator.reactions import link_wrench, reaction_topics
from flex_msgs.msg import DynamicsTerms
from flex_ros.message_fields import floats, stamp
from flex_ros.qos import DEPTH

FIELDS = ('constraint_jacobian', 'constraint_bias', 'constraint_error', 'effort', 'multipliers')


class ConstraintTerms:
    """Fills the fields of DynamicsTerms about constraints, and publishes `~/reactions/<name>`.

    efforts: the motors' as `joint_states` has them.
    """

    def __init__(self, node: Node, model: Model) -> None:
        self.efforts = JointEfforts(node, model)
        self._names = [record.name for record in model.robot.constraints]
        self._publishers = [node.create_publisher(WrenchStamped, f'~/{topic}',
                                                  QoSProfile(depth=DEPTH))
                            for topic in reaction_topics(node, model, 'reactions')]

    @property
    def wanted(self) -> bool:
        """Whether someone listens to a reaction."""
        return any(one.get_subscription_count() for one in self._publishers)

    def arrays(self, model: Model, q: np.ndarray, v: np.ndarray,
               effort: np.ndarray | None) -> tuple[np.ndarray, ...]:
        """Values of FIELDS at q, v (n,) with the efforts (n_joints,); None: not known."""
        A, rate = model.constraint_jacobian(q), model.constraint_jacobian_rate(q, v)
        found = A, rate @ v, model.constraint_error(q)
        if effort is None:
            return *found, np.zeros(0), np.zeros(0)
        return *found, effort, model.constrained_dynamics(q, v, effort).multipliers

    def fill(self, message: DynamicsTerms, model: Model, arrays: tuple[np.ndarray, ...]) -> None:
        """Put them into a message."""
        message.constraint_name = list(model.constraint_names)
        for field, values in zip(FIELDS, arrays, strict=True):
            setattr(message, field, floats(values))

    def reactions(self, model: Model, q: np.ndarray, v: np.ndarray,
                  effort: np.ndarray) -> list[WrenchStamped]:
        """One wrench a constraint, in the order of the robot."""
        found = model.reactions(q, v, effort)
        return [link_wrench(model, q, found[name]) for name in self._names]

    def publish(self, model: Model, stamp_ns: int, q: np.ndarray, v: np.ndarray,
                effort: np.ndarray | None) -> None:
        """Send the reactions, if someone listens and the efforts are known."""
        if effort is None or not self.wanted:
            return
        at = stamp(stamp_ns)
        for publisher, message in zip(self._publishers, self.reactions(model, q, v, effort),
                                      strict=True):
            message.header.stamp = at
            publisher.publish(message)
