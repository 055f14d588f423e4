"""Model terms from the topic of the dynamics node."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile

from flex_control.nodes.stamped_input import StampedInput
from flex_dynamics import Model
from flex_dynamics.model import Terms
from flex_dynamics.nodes.common import nanoseconds
from flex_dynamics.nodes.state_input import DEPTH
from flex_msgs.msg import DynamicsTerms


class TermsInput:
    """Subscribes to `dynamics_terms` once they are wanted, and checks what comes.

    Terms of another robot, of wrong size or with NaN are counted in `rejected`, warned of once a
    second, and go no further.
    """

    def __init__(self, node: Node, model: Model, values: StampedInput,
                 arrived: Callable[[], None]) -> None:
        self._node, self._model, self._arrived = node, model, arrived
        self._names = list(model.names)
        self._subscription = None
        self.values = values
        self.rejected = 0

    def want(self) -> None:
        """Listen from now on."""
        if self._subscription is None:
            self._subscription = self._node.create_subscription(
                DynamicsTerms, 'dynamics_terms', self._receive, QoSProfile(depth=DEPTH))

    def _receive(self, message: DynamicsTerms) -> None:
        problem = self._problem(message)
        if problem:
            self.rejected += 1
            self._node.get_logger().warning(f'dynamics_terms ignored: {problem}',
                                            throttle_duration_sec=1.0)
            return
        n, joints = self._model.n, self._model.n_joints
        terms = Terms(*(np.array(values).reshape(shape) for values, shape in (
            (message.mass, (n, n)), (message.coriolis, (n, n)), (message.stiffness, (n, n)),
            (message.damping, (n, n)), (message.gravity, (n,)), (message.input, (n, joints)))))
        self.values.put(nanoseconds(message.header.stamp), terms)
        self._arrived()

    def _problem(self, message: DynamicsTerms) -> str:
        n, joints = self._model.n, self._model.n_joints
        if list(message.name) != self._names or message.joint_count != joints:
            return (f'name: expected the {n} coordinates of {self._model.robot.name}, found '
                    f'{len(message.name)} others')
        for what, size in (('mass', n * n), ('coriolis', n * n), ('stiffness', n * n),
                           ('damping', n * n), ('gravity', n), ('input', n * joints)):
            values = getattr(message, what)
            if len(values) != size:
                return f'{what}: expected {size} numbers, found {len(values)}'
            if not np.isfinite(values).all():
                return f'{what}: expected finite numbers'
        return ''
