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
"""The observer node: sensors of a robot in, its estimated state and covariance out."""
from __future__ import annotations

import re
import time
from collections.abc import Sequence
from functools import partial

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.clock import ROSClock
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import Imu, JointState

from flex_control import ControlError, Estimate, Measurements, StateObserver
from flex_control.nodes.observer.parameters import declare_noise, declare_settings
from flex_control.nodes.observer.sensor_inputs import SILENT, SensorInput
from flex_description import default_pose
from flex_dynamics import Model, Sensors
from flex_dynamics.ros.model_parameters import MODEL_ERRORS, declare_model
from flex_dynamics.simulation.command_limits import driven_places
from flex_msgs.msg import FlexState, FlexStateCovariance, StrainGauges
from flex_ros.cdr.fixed_layout import FixedLayoutPublisher
from flex_ros.clock import steady_clock
from flex_ros.diagnostics import Diagnostics
from flex_ros.entry import run
from flex_ros.message_fields import floats, nanoseconds, stamp
from flex_ros.message_guard import is_stamp, shortened, subscribe
from flex_ros.parameters import NodeError
from flex_ros.qos import DEPTH, newest

QUEUE = 100          # joint states and readings that wait while this process does not run
WATCH = 0.01         # s of wall time between two looks at what is late
STALL = 0.05         # s between two looks that show that this process did not run meanwhile
DISCOVERY = 2.0      # s of wall time in which other publishers are found
IMU_PARTS = 2        # angular velocity and specific force
UNKNOWN = '_UNKNOWN_'    # in the name of a node until the middleware has heard it


class Observer(Node):
    """Wires a StateObserver to the topics of a robot; its clock is the stamps of joint_states."""

    NOTHING_TO_LOSE = True       # it may be restarted at any time

    def __init__(self) -> None:
        began = time.monotonic()
        super().__init__('observer')
        self.model = model = declare_model(self)
        self._settings = settings = declare_settings(self)
        self._observer = StateObserver(model, declare_noise(self, model), 1.0 / settings.rate)
        self._begin_once(model)
        self._refuse_second_publisher(began + DISCOVERY)
        self._joints = list(model.joint_names)
        self._encoders = SensorInput('joint_states', self._joints)
        sensors = Sensors(model)
        self._gauge_names = list(sensors.gauge_names)
        self._gauges = (SensorInput('strain_gauges', self._gauge_names) if self._gauge_names
                        else None)
        self._imus = [SensorInput(f'imu/{re.sub("[^A-Za-z0-9_]", "_", name)}',
                                  ['angular_velocity', 'linear_acceleration'])
                      for name in sensors.imu_names]
        self._others = [*([self._gauges] if self._gauges else []), *self._imus]
        self._pending: tuple[int, Measurements, float] | None = None
        self._position = np.full(model.n_joints, np.nan)      # last known, to begin with
        self._effort = np.full(model.n_joints, np.nan)        # of joint_states
        self._commanded = np.full(model.n_joints, np.nan)
        self._reports_effort = False
        self._heard, self._heard_ns = 0.0, 0                  # the last joint state
        self._heard_time = 0.0                                # of the robot's clock
        self._watched = self._stalled = 0.0                   # s of wall time
        self._coasting = False
        self._published = self._coasted = 0
        self._innovation = 0.0
        self._problem, self._problem_until = '', 0.0
        self._make_publishers(model)
        subscribe(self, JointState, 'joint_states', self._receive_joints, newest(QUEUE))
        if settings.effort_source in ('auto', 'joint_commands'):
            subscribe(self, JointState, 'joint_commands', self._receive_command, newest())
        if self._gauges is not None:
            subscribe(self, StrainGauges, 'strain_gauges', self._receive_strain, newest(QUEUE))
        for sensor in self._imus:
            subscribe(self, Imu, sensor.topic, partial(self._receive_imu, sensor), newest(QUEUE))
        self.create_timer(WATCH, self._watch, clock=steady_clock())
        Diagnostics(self, model.robot.name, self._status)
        self.get_logger().info(
            f'{model.robot.name}: {model.n} coordinates from {model.n_joints} joints, '
            f'{len(self._gauge_names)} gauges and {len(self._imus)} IMUs, up to '
            f'{settings.rate:g} a second')

    # At the start -----------------------------------------------------------------------------

    def _begin_once(self, model: Model) -> None:
        """Whether the sensors show all motions; it also loads compiled code."""
        if len(driven_places(model)) < model.n_joints:
            raise NodeError(f'{model.robot.name}: expected joints with encoders only, found a '
                            'floating or planar base, whose motion joint_states does not have')
        at = np.array(list(default_pose(model.robot).values()))
        try:
            self._observer.update(0, Measurements(joint_position=at))
        except ControlError as error:
            raise NodeError(f'{model.robot.name}: {error}') from None
        self._observer.reset()

    def _refuse_second_publisher(self, until: float) -> None:
        """NodeError if somebody publishes flex_state: two states of one robot fit nobody."""
        name = self.resolve_topic_name('flex_state')
        while True:
            late = time.monotonic() > until or not self.context.ok()
            others = self._state_publishers()
            if others and (late or UNKNOWN not in others[0]):
                by = 'one' if UNKNOWN in others[0] else others[0]
                raise NodeError(f'{name}: expected no publisher, found {by}; a simulator or '
                                'another observer runs already: end it, or start this one in '
                                'another namespace')
            if late:
                return
            time.sleep(0.05)

    def _state_publishers(self) -> list[str]:
        """Full names of the nodes that publish flex_state."""
        return sorted(f'{one.node_namespace.rstrip("/")}/{one.node_name}'
                      for one in self.get_publishers_info_by_topic(
                          self.resolve_topic_name('flex_state')))

    def _make_publishers(self, model: Model) -> None:
        state = FlexState(name=list(model.names), joint_count=model.n_joints,
                          position=[0.0] * model.n, velocity=[0.0] * model.n)
        state.header.frame_id = model.robot.links[0].name
        topic = self.create_publisher(FlexState, 'flex_state', QoSProfile(depth=DEPTH))
        self._state = FixedLayoutPublisher(topic, state, ('position', 'velocity'))
        self._covariance = FlexStateCovariance(name=list(model.names))
        self._covariance.header.frame_id = state.header.frame_id
        self._covariance.force_frame = (model.robot.imus[-1].frame if model.robot.imus
                                        else model.robot.links[-1].name)
        self._covariance_topic = self.create_publisher(
            FlexStateCovariance, 'flex_state_covariance', QoSProfile(depth=DEPTH))
        rate = self._settings.covariance_rate
        self._covariance_ns = round(1e9 / rate) if rate else 0
        self._covariance_last_ns = -self._covariance_ns

    # What comes -------------------------------------------------------------------------------

    def _receive_joints(self, message: JointState) -> None:
        stamp_ns, names = nanoseconds(message.header.stamp), list(message.name)
        if names and not set(names) & set(self._joints):
            return                       # of a gripper, say
        count, known = len(names), [name for name in self._joints if name in names]
        lengths = (len(message.position), len(message.velocity), len(message.effort))
        if stamp_ns == 0:                # a driver that leaves the stamp out
            stamp_ns = self.get_clock().now().nanoseconds
        if (not is_stamp(stamp_ns) or len(set(names)) != count or not known
                or any(length not in (0, count) for length in lengths)):
            self._encoders.report('joint_states: a message was ignored: expected names, arrays as '
                                  'long as name or empty, and a stamp (or, without one, a clock) '
                                  'from zero on', True)
            return
        # Joints that are absent may come in a message of their own.
        absent = np.array([name not in names for name in self._joints])
        order = [names.index(name) for name in known]

        def values(given: Sequence[float]) -> np.ndarray | None:
            if not len(given):
                return None
            found = np.full(len(self._joints), np.nan)
            found[~absent] = np.array(given)[order]
            return self._encoders.checked(found, absent)

        self._take_joints(stamp_ns, *map(values, (message.position, message.velocity,
                                                  message.effort)))

    def _take_joints(self, stamp_ns: int, position: np.ndarray | None,
                     velocity: np.ndarray | None, effort: np.ndarray | None) -> None:
        """Arrays (n_joints,) with NaN for what is not known."""
        self._flush()
        self._encoders.note(stamp_ns)
        self._heard, self._heard_ns = time.monotonic(), stamp_ns
        self._heard_time = self._robot_time()
        if position is not None:
            self._position = np.where(np.isnan(position), self._position, position)
        if effort is not None:
            self._effort = np.where(np.isnan(effort), self._effort, effort)
            # Drivers without torque sensors send zeros.
            self._reports_effort = bool(self._reports_effort or np.nan_to_num(self._effort).any())
        behind = self._observer.stamp_ns - stamp_ns
        if (self._coasting and self._observer.begun
                and 0 < behind <= 1e9 * self._settings.coast_time):
            return                       # the estimate is ahead of it already
        self._coasting = False
        if not self._observer.due(stamp_ns):
            return
        begin = self._position if not self._observer.begun else position
        self._pending = stamp_ns, Measurements(begin, velocity), self._heard_time
        self._try()

    def _receive_command(self, message: JointState) -> None:
        if len(message.effort) == len(message.name):
            for name, effort in zip(message.name, message.effort):
                if name in self._joints and abs(effort) <= 1e9:
                    self._commanded[self._joints.index(name)] = effort

    def _receive_strain(self, message: StrainGauges) -> None:
        assert self._gauges is not None
        names, stamp_ns = list(message.name), nanoseconds(message.header.stamp)
        known = [name for name in self._gauge_names if name in names]
        if (len(message.strain) != len(names) or len(set(names)) != len(names) or not known
                or not is_stamp(stamp_ns)):
            self._gauges.report('strain_gauges: a message was ignored: expected gauges of this '
                                'robot, a strain for each, and a stamp from zero on', True)
            return
        absent = np.array([name not in names for name in self._gauge_names])
        strain = np.full(len(self._gauge_names), np.nan)
        strain[~absent] = np.array(message.strain)[[names.index(name) for name in known]]
        self._gauges.put(stamp_ns, strain, absent)
        self._try()

    def _receive_imu(self, sensor: SensorInput, message: Imu) -> None:
        stamp_ns = nanoseconds(message.header.stamp)
        if not is_stamp(stamp_ns):
            sensor.report(f'{sensor.topic}: a message was ignored: expected a stamp from zero on',
                          True)
            return
        turn, force = message.angular_velocity, message.linear_acceleration
        values = np.array([[turn.x, turn.y, turn.z], [force.x, force.y, force.z]])
        # sensor_msgs/Imu: -1 as the first element of a covariance means that it is not measured.
        sensor.put(stamp_ns, values, np.array([
            message.angular_velocity_covariance[0] == -1.0,
            message.linear_acceleration_covariance[0] == -1.0]))
        self._try()

    # Estimates --------------------------------------------------------------------------------

    def _try(self) -> None:
        """Update with the joint state that waits, if all readings for it are there."""
        if self._pending is not None and not any(
                sensor.awaited(self._pending[0]) for sensor in self._others):
            self._flush()

    def _flush(self) -> None:
        """Update with the joint state that waits, whatever has not come."""
        if self._pending is not None:
            stamp_ns, joints, _ = self._pending
            self._pending = None
            self._update(stamp_ns, joints)

    def _update(self, stamp_ns: int, joints: Measurements) -> None:
        until = stamp_ns + self._observer.period_ns // 2
        oldest = stamp_ns - round(1e9 * self._settings.sensor_delay)
        strain = self._gauges.take(until, oldest) if self._gauges is not None else None
        imus = [sensor.take(until, oldest) for sensor in self._imus]
        gyro = acceleration = None
        if any(one is not None for one in imus):
            gyro, acceleration = np.swapaxes(np.array([
                np.full((IMU_PARTS, 3), np.nan) if one is None else one for one in imus]), 0, 1)
        try:
            estimate = self._observer.update(stamp_ns, Measurements(
                joints.joint_position, joints.joint_velocity, strain, gyro, acceleration),
                self._known_effort())
        except ControlError as error:
            self._problem = f'began anew: {shortened(str(error))}'
            self._problem_until = time.monotonic() + 2.0
            self.get_logger().warning(self._problem, throttle_duration_sec=1.0)
            return
        if estimate is not None:
            self._publish(estimate)

    def _known_effort(self) -> np.ndarray | None:
        source = self._settings.effort_source
        if source == 'joint_states' or (source == 'auto' and self._reports_effort):
            return self._effort
        return None if source == 'none' else self._commanded

    def _publish(self, estimate: Estimate) -> None:
        if not is_stamp(estimate.stamp_ns):      # it goes on after the last time that there is
            return
        self._state.publish(estimate.stamp_ns, estimate.q, estimate.v)
        self._published += 1
        if estimate.measured:
            self._innovation += 0.01 * (estimate.nis / estimate.measured - self._innovation)
        apart = estimate.stamp_ns - self._covariance_last_ns
        if 0 <= apart < self._covariance_ns or not self._covariance_topic.get_subscription_count():
            return
        self._covariance_last_ns = estimate.stamp_ns
        message, n = self._covariance, self.model.n
        spread = self._observer.covariance
        deviation = np.sqrt(np.maximum(np.diag(spread), 0.0))
        message.header.stamp = stamp(estimate.stamp_ns)
        message.position_deviation = floats(deviation[:n])
        message.velocity_deviation = floats(deviation[n:2 * n])
        message.covariance = floats(spread[:2 * n, :2 * n])
        message.force, message.force_deviation = estimate.push.copy(), deviation[2 * n:].copy()
        message.innovation, message.readings = estimate.nis, estimate.measured
        message.effort_known = self._observer.knows_effort
        self._covariance_topic.publish(message)

    def _robot_time(self) -> float:
        """s, of a clock that stands still when the robot does: that of a simulated one, which
        may be paused, slow or delayed, is /clock."""
        clock = self.get_clock()
        simulated = isinstance(clock, ROSClock) and clock.ros_time_is_active
        return 1e-9 * clock.now().nanoseconds if simulated else time.monotonic()

    def _watch(self) -> None:
        """Do not wait for ever for readings; go on alone for a while without joint states."""
        now, robot_now = time.monotonic(), self._robot_time()
        if now - self._watched > STALL:
            self._stalled = now          # joint states and readings may wait in the queue
        self._watched = now
        if (self._pending is not None and robot_now - self._pending[2] >= WATCH
                and now - self._stalled >= WATCH):
            self._flush()
        self._try()                      # a sensor may have become silent
        silent = robot_now - self._heard_time
        patience = max(STALL, 3.0 * self._encoders.interval)
        if not self._observer.begun or min(
                silent, now - max(self._heard, self._stalled)) < patience:
            return
        if silent > self._settings.coast_time:
            self._observer.reset()
            self._coasting = False
            return
        at_ns = self._heard_ns + round(1e9 * silent)
        if self._observer.due(at_ns):
            self._coasting = True
            self._coasted += 1
            self._update(at_ns, Measurements())

    # Diagnostics ------------------------------------------------------------------------------

    def _status(self) -> tuple[bytes, str, dict[str, object]]:
        now = time.monotonic()
        others = self._state_publishers()
        silent = now - self._heard
        problems = [sensor.problem for sensor in self._others if sensor.problem]
        level, text = DiagnosticStatus.OK, 'estimating'
        if len(others) > 1:
            level = DiagnosticStatus.ERROR
            text = f'flex_state has {len(others)} publishers: {", ".join(others)}'
        elif not self._heard:
            level, text = DiagnosticStatus.WARN, (self._encoders.problem or 'waiting for '
                                                  'joint_states')
        elif silent > SILENT and not self._observer.begun:
            level = DiagnosticStatus.ERROR
            text = f'no joint_states for {silent:.1f} s: no estimate'
        elif not self._observer.begun:
            missing = [name for name, at in zip(self._joints, self._position) if np.isnan(at)]
            level, text = DiagnosticStatus.WARN, (
                f'waiting for the position of {missing[0]}' if missing else
                self._problem or 'beginning')
        elif now < self._problem_until:
            level, text = DiagnosticStatus.WARN, self._problem
        elif self._encoders.problem or problems:
            level, text = DiagnosticStatus.WARN, self._encoders.problem or problems[0]
        values: dict[str, object] = {
            'estimates published': self._published,
            'estimates without joint_states': self._coasted,
            'restarts': self._observer.restarts,
            'innovation (1: as expected)': f'{self._innovation:.3g}',
            'efforts from': self._effort_text(),
        }
        if self._observer.begun:
            deviation = np.sqrt(np.maximum(np.diag(self._observer.covariance), 0.0))
            joints, n = self.model.n_joints, self.model.n
            values['deviation of joints'] = f'{deviation[:joints].max(initial=0.0):.3g}'
            values['deviation of elastic coordinates'] = (
                f'{deviation[joints:n].max(initial=0.0):.3g}')
        for sensor in (self._encoders, *self._others):
            rate = 1.0 / sensor.interval if sensor.interval > 0.0 else 0.0
            values[sensor.topic] = sensor.problem or f'{rate:.1f} Hz'
            values[f'{sensor.topic}: received, too old, rejected'] = (
                f'{sensor.received}, {sensor.stale}, {sensor.rejected}')
        return level, text, values

    def _effort_text(self) -> str:
        if not self._observer.knows_effort:
            return 'none'
        source = self._settings.effort_source
        return source if source != 'auto' else (
            'joint_states' if self._reports_effort else 'joint_commands')


def main() -> None:
    run(Observer, (*MODEL_ERRORS, ControlError))


if __name__ == '__main__':
    main()
