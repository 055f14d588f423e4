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
"""The payload estimator: joint states and gauges in, mass and centre of the payload out."""
from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Vector3
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from flex_dynamics import Model, Sensors
from flex_dynamics.ros.model_parameters import MODEL_ERRORS, declare_model
from flex_identification.errors import IdentificationError
from flex_identification.online import (
    PayloadEstimate,
    PayloadEstimator,
    PayloadNoise,
    effort_biases,
)
from flex_msgs.msg import PayloadEstimate as PayloadMessage
from flex_msgs.msg import StrainGauges
from flex_ros.clock import steady_clock
from flex_ros.diagnostics import Diagnostics
from flex_ros.entry import run
from flex_ros.message_fields import floats, nanoseconds, stamp
from flex_ros.message_guard import CALCULATION_ERRORS, LARGEST, is_stamp, shortened, subscribe
from flex_ros.parameters import NodeError, declare

QUEUE = 100          # messages that wait while this process does not run
SILENT = 0.5         # s of wall time without joint states until that is reported
GAUGES = 0.1         # s of wall time for which a joint state waits for its gauges
BAD_FOR = 2.0        # s of wall time for which a bad message is reported
OFF = '0: not used'


def declare_noise(node: Node, model: Model) -> PayloadNoise:
    """The noise of sensors and efforts."""
    def number(name: str, default: float, description: str, lower: float, upper: float) -> float:
        return float(declare(node, name, default, description, lower=lower, upper=upper,
                             fixed=True))

    def each(name: str, description: str) -> np.ndarray:
        given = declare(node, name, [], f'N m or N, {description}; one a joint, one for all, or '
                        'empty: friction and 0.2 % of the weight', lower=0.0, upper=1e9,
                        fixed=True)
        if given.size not in (0, 1, model.n_joints):
            raise NodeError(f'parameter {name}: expected none, 1 or {model.n_joints} numbers (one '
                            f'a joint), found {given.size}')
        return np.broadcast_to(given, model.n_joints) if given.size else biases

    biases = effort_biases(model)
    return PayloadNoise(
        each('effort_noise', 'white errors of the mean effort of a period'),
        each('effort_bias', 'errors of efforts that stay: friction, errors of the model'),
        number('encoder', 1e-4, 'rad or m, noise of joint positions', 1e-9, 1e3),
        number('encoder_speed', 1e-2, 'rad/s or m/s, noise of joint speeds', 1e-9, 1e3),
        number('strain', 2e-6, 'm/m, noise of gauges', 1e-12, 1.0),
        number('strain_bias', 1e-6, 'm/m, errors of gauges that stay', 0.0, 1.0),
        number('bias_time', 30.0, 's for which errors stay', 1e-2, 1e6),
        number('mass_drift', 1e-3, 'kg/sqrt(s), by which a payload changes by itself', 0.0, 1e3),
        number('model_error', 0.1, 'share of accelerations that the model does not explain', 0.0,
               1.0))


class PayloadEstimatorNode(Node):
    """Wires a PayloadEstimator to the topics of a robot; its clock is the stamps of joint_states.
    """

    NOTHING_TO_LOSE = True       # it may be restarted at any time

    def __init__(self) -> None:
        super().__init__('payload_estimator')
        self.model = model = declare_model(self)
        frame = declare(self, 'frame', '', 'link or frame that carries the payload; empty: the '
                        'last link', fixed=True)
        rate = declare(self, 'rate', 100.0, 'estimates a second, by the stamps of joint_states',
                       lower=10.0, upper=1e3, fixed=True)
        largest = declare(self, 'largest_mass', 10.0, 'kg, of payloads that may come', lower=1e-3,
                          upper=1e6, fixed=True)
        offset = declare(self, 'largest_offset', 0.3, 'm of their centre from the frame',
                         lower=1e-4, upper=1e3, fixed=True)
        self._estimator = PayloadEstimator(model, frame, 1.0 / rate, declare_noise(self, model),
                                           largest, offset)
        self._joints, self._gauges = list(model.joint_names), list(Sensors(model).gauge_names)
        self._pending: tuple[int, np.ndarray, np.ndarray, np.ndarray, float] | None = None
        self._strain: tuple[int, np.ndarray] | None = None
        self._strain_heard = self._heard = 0.0
        self._last: PayloadEstimate | None = None
        self._sent: PayloadMessage | None = None
        self._sent_ns = -1
        self._problem, self._problem_until = '', 0.0
        self._received = self._rejected = self._published = 0
        self._weighs = False         # whether efforts have been there that are not zero
        self._topic = self.create_publisher(PayloadMessage, 'payload_estimate',
                                            QoSProfile(depth=10))
        # All count, in their order: a mean effort must not depend on what was lost.
        subscribe(self, JointState, 'joint_states', self._receive_joints, QoSProfile(depth=QUEUE))
        if self._gauges:
            subscribe(self, StrainGauges, 'strain_gauges', self._receive_strain,
                      QoSProfile(depth=QUEUE))
        self.create_timer(0.05, self._watch, clock=steady_clock())
        Diagnostics(self, model.robot.name, self._status)
        self.get_logger().info(
            f'{model.robot.name}: payloads up to {largest:g} kg on {self._estimator.frame} from '
            f'{model.n_joints} joints and {len(self._gauges)} gauges, {rate:g} estimates a second')

    # What comes -----------------------------------------------------------------------------

    def _receive_joints(self, message: JointState) -> None:
        stamp_ns, names = nanoseconds(message.header.stamp), list(message.name)
        if names and not set(names) & set(self._joints):
            return                       # of a gripper, say
        count = len(names)
        arrays = (message.position, message.velocity, message.effort)
        self._received += 1
        if (not is_stamp(stamp_ns) or set(self._joints) - set(names) or len(set(names)) != count
                or len(message.position) != count
                or any(len(one) not in (0, count) for one in arrays)):
            self._report('joint_states: a message was ignored: expected all joints, positions, '
                         'efforts, arrays as long as name, and a stamp from zero on')
            return
        order = [names.index(name) for name in self._joints]
        position, velocity, effort = (self._checked(one, order) for one in arrays)
        self._heard = time.monotonic()
        if stamp_ns == self._sent_ns and self._sent is not None:
            self._topic.publish(self._sent)      # sent again for those who missed it
            return
        self._flush()
        self._pending = stamp_ns, position, velocity, effort, self._heard
        self._weighs = bool(self._weighs or np.nan_to_num(effort).any())
        self._try()

    def _checked(self, values: Sequence[float], order: list[int]) -> np.ndarray:
        """In the model's order, NaN for what is not there or is no reading."""
        if not len(values):
            return np.full(len(order), np.nan)
        found = np.array(values)[order]
        bad = ~(np.abs(found) <= LARGEST)
        if bad.any():
            self._report(f'joint_states: {found[bad][0]:g} for '
                         f'{self._joints[int(np.argmax(bad))]}', rejected=False)
        return np.where(bad, np.nan, found)

    def _receive_strain(self, message: StrainGauges) -> None:
        names, stamp_ns = list(message.name), nanoseconds(message.header.stamp)
        if (len(message.strain) != len(names) or len(set(names)) != len(names)
                or not set(names) & set(self._gauges) or not is_stamp(stamp_ns)):
            self._report('strain_gauges: a message was ignored: expected gauges of this robot, a '
                         'strain for each, and a stamp from zero on')
            return
        strain = np.array([message.strain[names.index(name)] if name in names else np.nan
                           for name in self._gauges])
        bad = ~(np.abs(strain) <= 1.0)
        strain[bad] = np.nan
        self._strain, self._strain_heard = (stamp_ns, strain), time.monotonic()
        self._try()

    def _report(self, text: str, rejected: bool = True) -> None:
        self._rejected += rejected
        self._problem, self._problem_until = text, time.monotonic() + BAD_FOR

    # Estimates ------------------------------------------------------------------------------

    def _try(self) -> None:
        """Update with the joint state that waits, if its gauges are there, or do not come."""
        if self._pending is None:
            return
        stamp_ns, *_, heard = self._pending
        now = time.monotonic()
        live = self._gauges and (not self._strain_heard or now - self._strain_heard < GAUGES)
        if live and now - heard < GAUGES and (self._strain is None or self._strain[0] < stamp_ns):
            return
        self._flush()

    def _flush(self) -> None:
        if self._pending is None:
            return
        stamp_ns, position, velocity, effort, _ = self._pending
        self._pending = None
        strain = None
        if self._strain is not None and abs(self._strain[0] - stamp_ns) < 1e9 * GAUGES:
            strain, self._strain = self._strain[1], None
        found = None if self._weighs else self._estimator.prior(stamp_ns)
        # Once more after an error: it begins anew.
        for _ in range(2 if self._weighs else 0):
            try:
                found = self._estimator.update(stamp_ns, position, velocity, effort, strain)
                break
            except (IdentificationError, *CALCULATION_ERRORS) as error:
                self._report(f'begun anew: {shortened(str(error))}', rejected=False)
                self.get_logger().warning(self._problem, throttle_duration_sec=1.0)
        if found is not None:
            self._last = found
            self._sent, self._sent_ns = message_of(found), stamp_ns
            self._topic.publish(self._sent)
            self._published += 1

    def _watch(self) -> None:
        self._try()                      # gauges may have become silent

    # Diagnostics ----------------------------------------------------------------------------

    def _status(self) -> tuple[bytes, str, dict[str, object]]:
        now, last = time.monotonic(), self._last
        level, text = DiagnosticStatus.OK, 'estimating' if last is None else last.text
        if not self._heard:
            level, text = DiagnosticStatus.WARN, (
                self._problem if now < self._problem_until else 'waiting for joint_states')
        elif now - self._heard > SILENT:
            level = DiagnosticStatus.WARN
            text = f'nothing on joint_states for {now - self._heard:.1f} s'
        elif not self._weighs:
            level, text = DiagnosticStatus.WARN, ('joint_states has no efforts: there is nothing '
                                                  'to weigh with')
        elif now < self._problem_until:
            level, text = DiagnosticStatus.WARN, self._problem
        elif self._gauges and now - self._strain_heard > SILENT:
            level, text = DiagnosticStatus.WARN, f'nothing on strain_gauges; {text}'
        values: dict[str, object] = {
            'frame': self._estimator.frame, 'estimates published': self._published,
            'restarts': self._estimator.restarts, 'joint states received': self._received,
            'messages rejected': self._rejected}
        if last is not None:
            spread = last.deviation
            values |= {
                'mass (kg)': f'{last.mass:.4g} +- {spread[0]:.2g}',
                'centre (m)': ', '.join(f'{at:.3f} +- {off:.2g}' for at, off in zip(
                    last.centre, spread[1:], strict=True)),
                'innovation (1: as expected)': f'{last.nis:.3g}'}
        return level, text, values


def message_of(found: PayloadEstimate) -> PayloadMessage:
    """An estimate as a message."""
    message = PayloadMessage(present=found.present, innovation=float(found.nis), text=found.text,
                             covariance=found.covariance.ravel())
    message.header.stamp, message.header.frame_id = stamp(found.stamp_ns), found.frame
    message.inertia.m = float(found.mass)
    message.inertia.com.x, message.inertia.com.y, message.inertia.com.z = floats(found.centre)
    message.hidden = [Vector3(x=x, y=y, z=z) for x, y, z in found.hidden.tolist()]
    return message


def main() -> None:
    run(PayloadEstimatorNode, (*MODEL_ERRORS, IdentificationError))


if __name__ == '__main__':
    main()
