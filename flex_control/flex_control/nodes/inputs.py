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
"""Inputs of a controller besides the state: model terms and measurements."""
from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.subscription import Subscription
from sensor_msgs.msg import Imu, JointState

from flex_control import Controller, Measurements
from flex_control.loop.stamped_input import StampedInput
from flex_control.nodes.control_parameters import Settings
from flex_control.nodes.terms_input import TermsInput
from flex_description.math import within
from flex_dynamics import Model, Sensors, Terms
from flex_msgs.msg import StrainGauges
from flex_ros.message_fields import nanoseconds
from flex_ros.message_guard import is_stamp, subscribe
from flex_ros.polled_subscription import newest_of
from flex_ros.qos import DEPTH, newest


class MeasurementInput:
    """Subscribes to `joint_states`, `strain_gauges` and `imu/<name>` once they are wanted.

    A reading is handed out once; a sensor with nothing new is None in the next measurements.
    Messages of other sensors, of wrong length, with NaN or numbers beyond 1e9 are counted in
    `rejected`. Free running (not exact), the newest reading counts: after a hold-up of this
    process the queue is full of old ones, which are passed over.
    """

    def __init__(self, node: Node, model: Model, make: Callable[[], StampedInput],
                 exact: bool, arrived: Callable[[], None]) -> None:
        self._node, self._arrived, self._exact = node, arrived, exact
        self._sensors = sensors = Sensors(model)
        self._joints = list(model.joint_names)
        self._make = make
        self._inputs: dict[str, StampedInput] = {}
        self._used: dict[str, int] = {}
        self._subscriptions: list[Subscription] = []
        self._taking = False         # readings for a state that is being handled
        self._imus = [f'imu/{re.sub("[^A-Za-z0-9_]", "_", name)}' for name in sensors.imu_names]
        self.rejected = 0

    def want(self) -> None:
        """Listen from now on."""
        if self._inputs:
            return
        topics: list[tuple[str, Any, Callable[[Any], Any]]] = [
            ('joint_states', JointState, self._encoders)]
        if self._sensors.gauge_names:
            topics.append(('strain_gauges', StrainGauges, self._strain))
        for topic, kind, read in [*topics, *((imu, Imu, self._imu) for imu in self._imus)]:
            self._inputs[topic] = self._make()
            self._subscriptions.append(subscribe(
                self._node, kind, topic, partial(self._receive, topic, read), newest(DEPTH)))

    def clear(self) -> None:
        """Forget all: time was set back."""
        self._used.clear()
        for values in self._inputs.values():
            values.clear()

    def missing(self, stamp_ns: int) -> str:
        """The first topic without what belongs to the state at `stamp_ns`; empty if none is. A
        free running loop needs encoders only: an estimator goes on with what comes."""
        if not self._exact:
            self._take_newest()
        needed = self._inputs if self._exact else ('joint_states',)
        return next((topic for topic in needed if self._inputs[topic].at(stamp_ns) is None), '')

    def _take_newest(self) -> None:
        self._taking = True
        for subscription in self._subscriptions:
            data = newest_of(subscription)
            if data is not None:
                subscription.callback(data)
        self._taking = False

    def at(self, stamp_ns: int) -> Measurements:
        """What is new at the state of `stamp_ns`."""
        encoders = self._new(stamp_ns, ['joint_states'])
        position, velocity = (None, None) if encoders is None else encoders
        strain = self._new(stamp_ns, ['strain_gauges'])
        imus = self._new(stamp_ns, self._imus)
        gyro, acceleration = (None, None) if imus is None else np.swapaxes(imus, 0, 1)
        return Measurements(position, velocity, strain, gyro, acceleration)

    def _new(self, stamp_ns: int, topics: list[str]) -> Any:
        """The readings of some topics, all of them if one is new; None if none is."""
        found = {topic: self._inputs[topic].at(stamp_ns) for topic in topics
                 if topic in self._inputs}
        if not found or None in found.values():
            return None
        stamps = {topic: one[0] for topic, one in found.items() if one is not None}
        if all(self._used.get(topic) == stamp for topic, stamp in stamps.items()):
            return None
        self._used.update(stamps)
        values = [one[1] for one in found.values() if one is not None]
        return np.array(values) if topics is self._imus else values[0]

    def _receive(self, topic: str, read: Callable[[Any], Any], message: Any) -> None:
        value, stamp_ns = read(message), nanoseconds(message.header.stamp)
        if value is None or not within(value.ravel()) or not is_stamp(stamp_ns):
            self.rejected += 1
            self._node.get_logger().warning(
                f'{topic} ignored: expected finite readings of the sensors of this robot, of at '
                'most 1e9, stamped with a time from zero on', throttle_duration_sec=1.0)
            return
        self._inputs[topic].put(stamp_ns, value)
        if not self._taking:
            self._arrived()

    def _encoders(self, message: JointState) -> np.ndarray | None:
        names = list(message.name)
        count = len(names)
        if set(self._joints) - set(names) or not (len(message.position) == count
                                                  == len(message.velocity)):
            return None
        order = [names.index(name) for name in self._joints]
        return np.array([message.position, message.velocity])[:, order]

    def _strain(self, message: StrainGauges) -> np.ndarray | None:
        names = list(message.name)
        if set(self._sensors.gauge_names) - set(names) or len(message.strain) != len(names):
            return None
        return np.array(message.strain)[[names.index(n) for n in self._sensors.gauge_names]]

    def _imu(self, message: Imu) -> np.ndarray:
        turn, force = message.angular_velocity, message.linear_acceleration
        return np.array([[turn.x, turn.y, turn.z], [force.x, force.y, force.z]])


class Inputs:
    """Topics are listened to from the first controller on that needs them."""

    def __init__(self, node: Node, model: Model, settings: Settings,
                 arrived: Callable[[], None]) -> None:
        self._settings = settings
        exact, timeout = settings.lockstep, round(1e9 * settings.input_timeout)
        self._terms = TermsInput(node, model, StampedInput(
            exact, round(1e9 * settings.terms_period), timeout), arrived)
        self._measurements = MeasurementInput(
            node, model, lambda: StampedInput(exact, 0, timeout), exact, arrived)

    @property
    def rejected(self) -> int:
        return self._terms.rejected + self._measurements.rejected

    def want(self, controller: Controller) -> None:
        """Listen to what the controller needs."""
        if self._by_topic(controller):
            self._terms.want()
        if controller.needs_measurements:
            self._measurements.want()

    def clear(self) -> None:
        """Forget all: time was set back."""
        self._terms.values.clear()
        self._measurements.clear()

    def missing(self, controller: Controller, stamp_ns: int) -> str:
        """Which input of the controller is missing for the state at `stamp_ns`; empty if none."""
        if self._by_topic(controller) and self._terms.values.at(stamp_ns) is None:
            hint = ('is the dynamics node there, and terms_rate its rate?'
                    if self._settings.lockstep else 'is the dynamics node there?')
            return f'no dynamics_terms {self._when(stamp_ns)}; {hint}'
        topic = self._measurements.missing(stamp_ns) if controller.needs_measurements else ''
        return f'nothing on {topic} {self._when(stamp_ns)}' if topic else ''

    def take(self, controller: Controller,
             stamp_ns: int) -> tuple[Terms | None, Measurements | None]:
        """Terms and measurements for the controller's update at the state of `stamp_ns`."""
        found = self._terms.values.at(stamp_ns) if self._by_topic(controller) else None
        return (None if found is None else found[1],
                self._measurements.at(stamp_ns) if controller.needs_measurements else None)

    def _by_topic(self, controller: Controller) -> bool:
        return controller.needs_terms and not self._settings.own_terms

    def _when(self, stamp_ns: int) -> str:
        return (f'for the state at {1e-9 * stamp_ns:.4f} s' if self._settings.lockstep
                else f'for more than {self._settings.input_timeout:g} s')
