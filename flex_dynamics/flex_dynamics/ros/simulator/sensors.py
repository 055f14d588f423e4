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
"""What the robot's own sensors say: joint encoders, strain gauges and inertial sensors.

Each is read once a period, after the period's last step. A state that is sent again carries the
same readings, and noise is a function of the period alone, so that lockstep runs stay equal to
the last bit. What nobody reads is not worked out and not sent.
"""
from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from geometry_msgs.msg import Quaternion, Vector3
from rclpy.node import Node
from rclpy.qos import QoSProfile
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import Imu, JointState

from flex_dynamics import Sensors
from flex_dynamics.ros.simulator.sensor_parameters import SensorParameters
from flex_dynamics.simulation.plant import Plant
from flex_dynamics.simulation.sensor_noise import Channel, Delay
from flex_msgs.msg import StrainGauges
from flex_ros.bag.recorded_publisher import RecordedPublisher
from flex_ros.cdr.fixed_layout import FixedLayoutPublisher
from flex_ros.message_fields import floats, stamp
from flex_ros.qos import DEPTH

NO_ESTIMATE = -1.0       # sensor_msgs/Imu: first element of the covariance of what is not measured


class Readings(ABC):
    """What the sensors have in common: publishers, a delay, and readings that are there or not."""

    publishers: list[RecordedPublisher]
    _delay: Delay[Any]
    _ready = False
    _tick = -1               # of the last reading
    inner = False            # a controller in this process reads them, whoever listens

    @property
    def delayed(self) -> bool:
        return self._delay.ticks > 0

    def reset(self) -> None:
        """Forget the readings that are on their way."""
        self._delay.clear()

    def look(self) -> None:
        """Look who reads."""
        for publisher in self.publishers:
            publisher.look()

    def look_again(self, tick: int) -> None:
        """A reader who has come while time stands still gets the present reading too."""
        self.look()
        if (not self._ready or self._tick != tick) and self._wanted():
            self.read(tick)

    def read(self, tick: int) -> None:
        """Take the reading of the period that has ended, if anyone wants it."""
        self._ready, self._tick = self._wanted(), tick
        if self._ready:
            self._take(tick)

    def publish(self, time: int) -> None:
        """Send the last reading, if there is one, stamped with `time` (ns)."""
        if self._ready:
            self._send(time)

    @abstractmethod
    def _take(self, tick: int) -> None:
        """Take a reading."""

    @abstractmethod
    def _send(self, time: int) -> None:
        """Send the last reading."""

    def _wanted(self) -> bool:
        if self.inner or self._delay.ticks:      # delayed readings are taken before one asks
            return bool(self.publishers)
        return any(publisher.wanted for publisher in self.publishers)


class Encoders(Readings):
    """`joint_states`: positions and speeds with errors, and the efforts that the motors give.

    Joints that follow others (<mimic>) come last, where the readings of their leaders put them;
    they have no motor, so that their effort is zero."""

    def __init__(self, node: Node, plant: Plant, given: SensorParameters) -> None:
        self._plant, self._joints = plant, plant.model.n_joints
        joints = self._joints
        self._position = given.channel('encoders', '', 'joint positions, rad or m', joints,
                                       'a joint')
        self._velocity = given.channel('encoders', 'velocity_', 'joint speeds, rad/s or m/s',
                                       joints, 'a joint')
        self._delay = given.delay('encoders')
        self._followers = plant.model.followers
        names = [*plant.model.joint_names, *self._followers.names]
        message = JointState(name=names, position=np.zeros(len(names)),
                             velocity=np.zeros(len(names)), effort=np.zeros(len(names)))
        message.header.frame_id = plant.model.robot.links[0].name
        self.publishers = [RecordedPublisher(
            node, JointState, 'joint_states', QoSProfile(depth=DEPTH))]
        self._packed = FixedLayoutPublisher(self.publishers[0], message,
                                            ('position', 'velocity', 'effort'))

    def _take(self, tick: int) -> None:
        plant, joints = self._plant, self._joints
        truth = plant.q[:joints], plant.v[:joints], plant.applied
        if self._delay.ticks:
            truth = self._delay.pass_on((truth[0].copy(), truth[1].copy(), truth[2]))
        self._readings = (self._position.read(tick, truth[0]),      # arrays of their own
                          self._velocity.read(tick, truth[1]), truth[2])

    def values(self) -> tuple[np.ndarray, np.ndarray]:
        """The last positions and speeds, each (n_joints,)."""
        return self._readings[:2]

    def _send(self, time: int) -> None:
        position, velocity, effort = self._readings
        if self._followers.names:
            position = np.append(position, self._followers.positions(position))
            velocity = np.append(velocity, self._followers.velocities(velocity))
            effort = np.append(effort, np.zeros(len(self._followers.names)))
        self._packed.publish(time, position, velocity, effort)


class Gauges(Readings):
    """`strain_gauges`, if the robot has any."""

    def __init__(self, node: Node, plant: Plant, sensors: Sensors,
                 given: SensorParameters) -> None:
        self._plant, self._sensors = plant, sensors
        self._strain = given.channel('gauges', '', 'strains, m/m', len(sensors.gauge_names),
                                     'a gauge')
        self._delay = given.delay('gauges')
        self._message = StrainGauges(name=sensors.gauge_names)
        self._message.header.frame_id = plant.model.robot.links[0].name
        self.publishers = ([RecordedPublisher(
            node, StrainGauges, 'strain_gauges', QoSProfile(depth=DEPTH))]
                        if sensors.gauge_names else [])

    def _take(self, tick: int) -> None:
        strain = self._delay.pass_on(self._sensors.strain(self._plant.q))
        self._reading = self._strain.read(tick, strain)
        self._message.strain = floats(self._reading)

    def values(self) -> np.ndarray | None:
        """The last strains (n_gauges,), if they were read."""
        return self._reading if self._ready else None

    def _send(self, time: int) -> None:
        self._message.header.stamp = stamp(time)
        self.publishers[0].publish(self._message)


class Imus(Readings):
    """`imu/<name>` of each IMU: turning rate and specific force of the deflected section.

    Covariances are those of the noise and of the rounding; zero means, as ROS has it, unknown.
    """

    def __init__(self, node: Node, plant: Plant, sensors: Sensors,
                 given: SensorParameters) -> None:
        self._plant, self._sensors = plant, sensors
        axes, each = 3 * len(sensors.imu_names), 'an axis, IMU by IMU'
        self._gyro = given.channel('imu', 'gyro_', 'turning rates, rad/s', axes, each)
        self._force = given.channel('imu', 'acceleration_', 'accelerations, m/s2', axes, each)
        self._turn = given.channel('imu', 'orientation_', "orientations, rad about the sensor's "
                                   'axes', axes, each)
        self._oriented = given.flag('imu.orientation', 'whether IMUs estimate their orientation')
        self._delay = given.delay('imu')
        self._messages = [Imu() for _ in sensors.imu_names]
        for message, frame in zip(self._messages, sensors.imu_frames, strict=True):
            message.header.frame_id = frame
        self.publishers = [RecordedPublisher(
            node, Imu, f'imu/{re.sub("[^A-Za-z0-9_]", "_", name)}', QoSProfile(depth=DEPTH))
            for name in sensors.imu_names]

    def _take(self, tick: int) -> None:
        plant = self._plant
        readings = self._delay.pass_on(
            self._sensors.imu(plant.q, plant.v, plant.acceleration()))
        gyro = self._gyro.read(tick, np.concatenate([one.gyro for one in readings]))
        force = self._force.read(tick, np.concatenate([one.acceleration for one in readings]))
        self._reading = gyro.reshape(-1, 3), force.reshape(-1, 3)
        turns = self._turn.read(tick, np.zeros(len(gyro)))
        for k, (message, reading) in enumerate(zip(self._messages, readings, strict=True)):
            own = slice(3 * k, 3 * k + 3)
            message.angular_velocity = vector(gyro[own])
            message.linear_acceleration = vector(force[own])
            message.angular_velocity_covariance = covariance(self._gyro)
            message.linear_acceleration_covariance = covariance(self._force)
            message.orientation_covariance = covariance(self._turn)
            orientation = reading.orientation
            if not self._oriented:
                orientation = np.array([0.0, 0.0, 0.0, 1.0])
                message.orientation_covariance[0] = NO_ESTIMATE
            elif turns[own].any():
                orientation = (Rotation.from_quat(orientation)
                               * Rotation.from_rotvec(turns[own])).as_quat()
            message.orientation = Quaternion(**dict(zip('xyzw', orientation.tolist())))

    def values(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """The last turning rates and accelerations, each (n_imus, 3), if they were read."""
        return self._reading if self._ready else (None, None)

    def _send(self, time: int) -> None:
        at = stamp(time)
        for publisher, message in zip(self.publishers, self._messages, strict=True):
            message.header.stamp = at
            publisher.publish(message)


def vector(values: np.ndarray) -> Vector3:
    x, y, z = values.tolist()
    return Vector3(x=x, y=y, z=z)


def covariance(channel: Channel) -> np.ndarray:
    """Row-major (9,): the axes are independent."""
    return channel.variance * np.eye(3).ravel()
