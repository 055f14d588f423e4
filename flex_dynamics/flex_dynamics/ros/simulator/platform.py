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
"""A platform on wheels as ROS drives one: `cmd_vel` in, `odom` and, on request, tf out.

Names and meaning of the parameters are those of diff_drive_controller; radius and distance of the
wheels are in the robot's description.
"""
from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
from geometry_msgs.msg import Quaternion, TransformStamped, Twist, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.qos import QoSProfile
from tf2_msgs.msg import TFMessage

from flex_dynamics.simulation.command_limits import CommandError
from flex_dynamics.simulation.mobile_base import MobileBase, WheelOdometry, has_mobile_base
from flex_dynamics.simulation.twist_driver import TwistDriver, TwistLimits
from flex_ros.bag.recorded_publisher import RecordedPublisher
from flex_ros.message_fields import nanoseconds, stamp
from flex_ros.message_guard import DecodeError, decode, decode_errors, shortened
from flex_ros.parameters import NodeError, declare
from flex_ros.polled_subscription import Polled, waiting

QUEUE = 10                # twists that wait to be read
OTHER_CLOCK = 10.0        # s between a stamp and simulated time: it is of another clock
COVARIANCE = [0.001, 0.001, 0.001, 0.001, 0.001, 0.01]


def make_platform(simulator: Any) -> Platform | None:
    """What makes a platform of the simulator's robot; None if it is none."""
    return Platform(simulator) if has_mobile_base(simulator.model) else None


class Platform:
    """Hands the twists of `cmd_vel` to the drives of the wheels and tells where the base is."""

    def __init__(self, simulator: Any) -> None:
        self._simulator = simulator
        self.base = base = MobileBase(simulator.model)
        self.rejected, self.reason = 0, ''

        def number(name: str, default: float, description: str) -> float:
            return declare(simulator, f'platform.{name}', default, description, lower=0.0,
                           upper=1e6, fixed=True)

        def limit(name: str, unit: str) -> float:
            return number(name, 0.0, f'{unit}; 0: only the limits of the wheels') or np.inf

        self._driver = TwistDriver(
            TwistLimits(limit('linear.x.max_velocity', 'm/s'),
                        limit('angular.z.max_velocity', 'rad/s'),
                        limit('linear.x.max_acceleration', 'm/s2'),
                        limit('angular.z.max_acceleration', 'rad/s2')),
            number('cmd_vel_timeout', 0.5, 'simulated s after which a twist no longer counts and '
                   'the platform stops'))
        self._stamped = declare(simulator, 'platform.use_stamped_vel', True, 'cmd_vel is '
                                'geometry_msgs/TwistStamped; false: Twist', fixed=True)
        self._source = declare(
            simulator, 'platform.odometry_source', 'world', 'world: the true pose; encoder: '
            'integrated from the wheels, as a robot does', choices=('world', 'encoder'),
            fixed=True)
        rate = declare(simulator, 'platform.publish_rate', 50.0, 'odometry messages a simulated s',
                       lower=0.1, upper=1e4, fixed=True)
        self._every = max(1, round(1.0 / (rate * simulator.timing.period)))
        self._message = Odometry()
        self._message.header.frame_id = declare(
            simulator, 'platform.odom_frame_id', base.root, 'frame of the odometry', fixed=True)
        self._message.child_frame_id = declare(
            simulator, 'platform.base_frame_id', base.link, 'frame of the platform', fixed=True)
        for name, part in (('pose', self._message.pose), ('twist', self._message.twist)):
            diagonal = declare(simulator, f'platform.{name}_covariance_diagonal', COVARIANCE,
                               'of x, y, z and the rotations about them, in SI units', lower=0.0,
                               upper=1e12, fixed=True)
            if diagonal.size != 6:
                raise NodeError(f'parameter platform.{name}_covariance_diagonal: expected 6 '
                                f'numbers, found {diagonal.size}')
            part.covariance = np.diag(diagonal).ravel()
        self.publishers = [RecordedPublisher(simulator, Odometry, 'odom', QoSProfile(depth=10))]
        self._tf = None
        if declare(simulator, 'platform.enable_odom_tf', False, 'publish the odometry as tf, too; '
                   'the state publisher then needs base_tf:=false, because it publishes the true '
                   'one', fixed=True):
            self._tf = RecordedPublisher(simulator, TFMessage, '/tf', QoSProfile(depth=100))
            self.publishers.append(self._tf)
        self._odometry = WheelOdometry(base, simulator.plant.q)
        self.reset()
        self._subscription = simulator.create_subscription(
            TwistStamped if self._stamped else Twist, 'cmd_vel', self._on_message, QUEUE, raw=True,
            callback_group=None if simulator.timing.lockstep else Polled())

    def reset(self) -> None:
        """Back at the start: no twist, odometry from the true pose."""
        plant = self._simulator.plant
        self._driver.reset()
        self._odometry.reset(plant.q, self.base.true_pose(plant.q))

    @property
    def stops(self) -> int:
        return self._driver.stops

    # Twists ---------------------------------------------------------------------------------

    def take(self) -> None:
        """Free running: take the twists that have come."""
        for data, _ in islice(waiting(self._subscription), QUEUE):
            self._take(data)

    def drive(self) -> None:
        """Before a period: command the wheels, unless nobody drives by twists."""
        simulator = self._simulator
        twist = self._driver.twist(self._now, simulator.timing.period)
        if twist is None:
            return
        plant = simulator.plant
        command = self.base.command(twist, plant.q)
        plant.commands.accept(list(command.speeds), (), (), list(command.speeds.values()))
        if command.angles:
            plant.commands.accept(list(command.angles), (), list(command.angles.values()))

    @property
    def _now(self) -> float:
        return 1e-9 * self._simulator.machine.stamp_ns

    def _on_message(self, data: bytes) -> None:
        self._take(data)
        self.take()

    def _take(self, data: bytes) -> None:
        simulator = self._simulator
        try:
            message = decode(data, TwistStamped if self._stamped else Twist)
            twist = message.twist if self._stamped else message
            sent = self._sent(message) if self._stamped else self._now
            self._driver.accept([twist.linear.x, twist.linear.y, twist.angular.z], sent)
        except DecodeError as error:
            decode_errors(simulator).count('cmd_vel', error)
        except CommandError as error:
            self.rejected += 1
            self.reason = shortened(str(error))
            simulator.get_logger().warning(f'cmd_vel rejected: {self.reason}',
                                           throttle_duration_sec=1.0)

    def _sent(self, message: TwistStamped) -> float:
        """When a twist was sent, simulated s; a stamp of zero or of another clock means now."""
        sent = 1e-9 * nanoseconds(message.header.stamp)
        if sent == 0.0:
            return self._now
        if abs(sent - self._now) > OTHER_CLOCK:
            self._simulator.get_logger().warning(
                f'cmd_vel: stamped {sent:.10g} s by another clock than simulated time, '
                f'{self._now:.10g} s; twists count as sent when they come (set use_sim_time for '
                'their sender)', once=True)
            return self._now
        return min(sent, self._now)

    # Odometry -------------------------------------------------------------------------------

    def read(self, tick: int) -> None:
        """After a period: go on with the odometry, and publish it if it is due."""
        simulator = self._simulator
        plant = simulator.plant
        if self._source == 'encoder':
            self._odometry.update(plant.q, simulator.timing.period)
        if tick % self._every == 0:
            self.publish(simulator.machine.stamp_ns)

    def look(self) -> None:
        for publisher in self.publishers:
            publisher.look()

    def publish(self, stamp_ns: int) -> None:
        """Send where the platform is."""
        if not any(publisher.wanted for publisher in self.publishers):
            return
        plant = self._simulator.plant
        if self._source == 'encoder':
            pose, twist = self._odometry.pose, self._odometry.twist
        else:
            pose, twist = (self.base.true_pose(plant.q), self.base.true_twist(plant.q, plant.v))
        message = self._message
        message.header.stamp = stamp(stamp_ns)
        place, turn = message.pose.pose, 0.5 * float(pose[2])
        place.position.x, place.position.y = float(pose[0]), float(pose[1])
        place.orientation = Quaternion(z=float(np.sin(turn)), w=float(np.cos(turn)))
        moving = message.twist.twist
        moving.linear.x, moving.linear.y = float(twist[0]), float(twist[1])
        moving.angular.z = float(twist[2])
        self.publishers[0].publish(message)
        if self._tf is not None:
            transform = TransformStamped(header=message.header,
                                         child_frame_id=message.child_frame_id)
            transform.transform.translation.x = place.position.x
            transform.transform.translation.y = place.position.y
            transform.transform.rotation = place.orientation
            self._tf.publish(TFMessage(transforms=[transform]))
