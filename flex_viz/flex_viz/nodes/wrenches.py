"""What pushes the robot at the moment, from the topics that tell it."""
from __future__ import annotations

import time

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile

from flex_dynamics import DynamicsError, Model
from flex_ros.message_guard import shortened, subscribe, within
from flex_ros.parameters import declare
from flex_viz.pushes import Push

# What was asked for, of a sensor or a person, and what a simulator says that it does.
TOPICS = ('external_wrench', 'applied_wrench')


class Wrenches:
    """The last wrench of every frame, until nothing was heard of it for `wrench_time`."""

    def __init__(self, node: Node, model: Model) -> None:
        self._node, self._model = node, model
        self._hold = declare(node, 'wrench_time', 1.0, 's of wall time that a wrench is shown '
                             'after its last message', lower=0.01, upper=3600.0, fixed=True)
        self._heard: dict[str, tuple[float, Push]] = {}
        for topic in TOPICS:
            subscribe(node, WrenchStamped, topic, self._receive, QoSProfile(depth=10))

    def take(self) -> list[Push]:
        """Those to be drawn now."""
        oldest = time.monotonic() - self._hold
        self._heard = {frame: heard for frame, heard in self._heard.items() if heard[0] > oldest}
        return [push for _, push in self._heard.values()]

    def _receive(self, message: WrenchStamped) -> None:
        force, torque = message.wrench.force, message.wrench.torque
        push = Push(message.header.frame_id, np.array([force.x, force.y, force.z]),
                    np.array([torque.x, torque.y, torque.z]))
        try:
            self._model.pose(np.zeros(self._model.n), push.frame)
        except DynamicsError as error:
            self._ignore(shortened(str(error)))
            return
        if not (within(push.force) and within(push.moment)):
            self._ignore('expected finite numbers of at most 1e9 N and N m')
            return
        self._heard[push.frame] = time.monotonic(), push

    def _ignore(self, why: str) -> None:
        self._node.get_logger().warning(f'wrench ignored: {why}', throttle_duration_sec=1.0)
