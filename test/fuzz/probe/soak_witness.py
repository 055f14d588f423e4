"""A bare node of rclpy under the garbage of a soak: what grows here, the middleware keeps.

It has a subscription to every topic that nodes of flex read, best effort and of depth one as most
of theirs are, and the services that every node has. It takes the bytes and throws them away, a
hundred times a second, publishes as many transforms as the state publisher, and a status each
second.
"""
from __future__ import annotations

from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import TransformStamped, WrenchStamped
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Imu, JointState
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory

from flex_msgs.msg import DynamicsTerms, FlexState, StrainGauges
from flex_ros.polled_subscription import Polled
from flex_ros.rclpy_guard import guard

TOPICS = {
    'joint_commands': JointState, 'external_wrench': WrenchStamped, 'flex_state': FlexState,
    'joint_states': JointState, 'dynamics_terms': DynamicsTerms, 'strain_gauges': StrainGauges,
    'imu/tip_imu': Imu, 'applied_wrench': WrenchStamped,
    'control/joint_trajectory': JointTrajectory,
}
TAKE = 0.01         # s between two looks
EVERY = 2           # looks for a transform


class Witness(Node):
    """Takes and publishes bytes, and keeps nothing."""

    def __init__(self) -> None:
        super().__init__('witness', automatically_declare_parameters_from_overrides=True)
        best_effort = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        self._read = [self.create_subscription(
            kind, topic, self._ignore, best_effort, callback_group=Polled(), raw=True)
            for topic, kind in TOPICS.items()]
        self._tf = self.create_publisher(TFMessage, '/witness/tf', 100)
        self._transforms = TFMessage(transforms=[TransformStamped() for _ in range(3)])
        self._diagnostics = self.create_publisher(DiagnosticArray, '/diagnostics', 10)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._looks = 0
        self.create_timer(TAKE, self._take, clock=steady)
        self.create_timer(1.0, self._report, clock=steady)

    def _ignore(self, _: Any) -> None:
        pass

    def _take(self) -> None:
        for subscription in self._read:
            with subscription.handle:
                while subscription.handle.take_message(subscription.msg_type, True) is not None:
                    pass
        self._looks += 1
        if self._looks % EVERY == 0:
            self._tf.publish(self._transforms)

    def _report(self) -> None:
        self._diagnostics.publish(DiagnosticArray(status=[DiagnosticStatus(
            name='witness: status', message='running')]))


def main() -> None:
    rclpy.init()
    node = Witness()
    guard(node)
    rclpy.spin(node)


if __name__ == '__main__':
    main()
