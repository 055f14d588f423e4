"""The control node: states in, joint commands out, by any installed controller."""
from __future__ import annotations

import time
from typing import Any

import numpy as np
from control_msgs.msg import JointTrajectoryControllerState
from diagnostic_msgs.msg import DiagnosticStatus
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from flex_control import ControlError, Controller, SetPoints, Splines, Trajectory, controller_class
from flex_control.nodes.trajectory_message import trajectory_from
from flex_dynamics import DynamicsError
from flex_dynamics.nodes.common import (
    Diagnostics,
    NodeError,
    declare,
    declare_model,
    floats,
    run,
    stamp,
)
from flex_dynamics.nodes.state_input import DEPTH, State, StateInput

SILENCE = 1.0      # s of wall time without a state until diagnostics warn


class Control(Node):
    """Wires a Controller and a Trajectory to topics; its clock is the stamps of the states."""

    def __init__(self) -> None:
        super().__init__('control')
        self.model = model = declare_model(self)
        self._joints = list(model.names[:model.n_joints])
        name = declare(self, 'controller', 'pd', 'name of an installed controller', fixed=True)
        try:
            self.controller = self._make_controller(name)
            self._interpolation = declare(
                self, 'interpolation', 'splines', 'between the points of a trajectory; none: each '
                'is a set-point from its time on', choices=('splines', 'none'), fixed=True)
            self._first_trajectory = self._declare_trajectory()
        except ControlError as error:
            raise NodeError(str(error)) from None
        rate = declare(self, 'controller_state_rate', 20.0, 'messages a second on '
                       '~/controller_state', lower=0.1, upper=1e5, fixed=True)
        self._report_period = round(1e9 / rate)

        self._trajectory: Trajectory | None = None
        self._last: State | None = None
        self._reported: int | None = None
        self._heard = time.monotonic()
        self._refused, self._problem = 0, ''
        self._command = JointState(name=self._joints)
        quality = QoSProfile(depth=DEPTH)
        self._commands = self.create_publisher(JointState, 'joint_commands', quality)
        self._reports = self.create_publisher(JointTrajectoryControllerState,
                                              '~/controller_state', 10)
        self.create_subscription(JointTrajectory, '~/joint_trajectory', self._on_trajectory, 10)
        self._input = StateInput(self, model, self._on_state)
        self.add_on_set_parameters_callback(self._on_parameters)
        Diagnostics(self, model.robot.name, self._status)
        self.get_logger().info(f'{model.robot.name}: controller {name}, {model.n_joints} joints')

    # Parameters -----------------------------------------------------------------------------

    def _make_controller(self, name: str) -> Controller:
        """The controller, its parameters declared as `<controller>.<parameter>`."""
        kind = controller_class(name)
        self._prefix = f'{name}.'
        given = {}
        for parameter in kind.PARAMETERS:
            text = parameter.description + (f', {parameter.unit}' if parameter.unit else '')
            default: Any = (list(parameter.default)
                            if isinstance(parameter.default, tuple) else parameter.default)
            value = declare(self, self._prefix + parameter.name, default, text)
            given[parameter.name] = value
        return kind(self.model, given)

    def _declare_trajectory(self) -> Trajectory | None:
        """What to do from time zero on; in lockstep the same to the last bit in every run."""
        times = declare(self, 'trajectory.times', [], 'times of the points of a '
                        'trajectory to run from time zero on, s; empty: hold the first position',
                        lower=0.0, fixed=True)
        flat = declare(self, 'trajectory.positions', [], 'positions at those times, '
                       'rad or m, point by point, one a joint', fixed=True)
        if not times.size and not flat.size:
            return None
        joints = self.model.n_joints
        if flat.size != times.size * joints:
            raise ControlError(f'parameter trajectory.positions: expected {times.size} points '
                               f'times {joints} joints, found {flat.size} numbers')
        kind = SetPoints if self._interpolation == 'none' else Splines
        return kind(times, flat.reshape(times.size, joints))

    def _on_parameters(self, parameters: list[RosParameter]) -> SetParametersResult:
        changes = {p.name.removeprefix(self._prefix): p.value for p in parameters
                   if p.name.startswith(self._prefix)}
        try:
            if changes:
                self.controller.set_parameters(changes)
        except ControlError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    # States in, commands out ----------------------------------------------------------------

    def _on_state(self, state: State) -> None:
        self._heard = time.monotonic()
        last = self._last
        if last is not None and state.time == last.time and np.array_equal(state.q, last.q):
            self._commands.publish(self._command)      # sent again for those who missed it
            return
        if last is None or state.time < last.time:
            self.controller.reset()
            self._trajectory = self._first_trajectory or SetPoints(
                [0.0], [state.q[:self.model.n_joints]])
            self._reported = None
        assert self._trajectory is not None
        now = 1e-9 * state.time
        period = 0.0 if last is None else max(now - 1e-9 * last.time, 0.0)
        self._last = state
        controller = self.controller
        controller.q, controller.v = state.q, state.v
        controller.reference = self._trajectory.sample(now)
        try:
            effort = controller.update(now, period)
        except DynamicsError as error:
            self._give_up(str(error))
            return
        if not np.isfinite(effort).all():
            self._give_up(f'efforts {effort} are not finite')
            return
        self._problem = ''
        self._command.header.stamp = stamp(state.time)
        self._command.effort = floats(effort)
        self._command.position = floats(controller.reference.position)
        self._command.velocity = floats(controller.reference.velocity)
        self._commands.publish(self._command)
        self._report(state, effort)

    def _give_up(self, why: str) -> None:
        """Say nothing to the robot: its own fail-safe is to act."""
        self._problem = f'no command sent: {why}'
        self.get_logger().error(self._problem, throttle_duration_sec=1.0)

    def _report(self, state: State, effort: np.ndarray) -> None:
        if self._reported is not None and state.time - self._reported < self._report_period:
            return
        self._reported = state.time
        joints, wanted = self.model.n_joints, self.controller.reference
        q, v = state.q[:joints], state.v[:joints]
        report = JointTrajectoryControllerState(
            joint_names=self._joints,
            reference=JointTrajectoryPoint(positions=floats(wanted.position),
                                           velocities=floats(wanted.velocity),
                                           accelerations=floats(wanted.acceleration)),
            feedback=JointTrajectoryPoint(positions=floats(q), velocities=floats(v)),
            error=JointTrajectoryPoint(positions=floats(wanted.position - q),
                                       velocities=floats(wanted.velocity - v)),
            output=JointTrajectoryPoint(effort=floats(effort)), speed_scaling_factor=1.0)
        report.header.stamp = stamp(state.time)
        self._reports.publish(report)

    def _on_trajectory(self, message: JointTrajectory) -> None:
        if self._last is None:
            self._refuse('no state has come yet: expected flex_state or joint_states first')
            return
        try:
            self._trajectory = trajectory_from(
                message, self._joints, self.model.robot, 1e-9 * self._last.time,
                self.controller.reference, self._interpolation)
        except ControlError as error:
            self._refuse(str(error))

    def _refuse(self, why: str) -> None:
        self._refused += 1
        self.get_logger().warning(f'trajectory refused: {why}')

    def _status(self) -> tuple[bytes, str, dict[str, object]]:
        level, text = DiagnosticStatus.OK, 'running'
        if self._problem:
            level, text = DiagnosticStatus.ERROR, self._problem
        elif self._last is None:
            text = 'waiting for a state'
        elif time.monotonic() - self._heard > SILENCE:
            level = DiagnosticStatus.WARN
            text = f'no state for {time.monotonic() - self._heard:.0f} s: no commands sent'
        return level, text, {
            'controller': self._prefix.rstrip('.'),
            'states received': self._input.received,
            'states rejected': self._input.rejected,
            'trajectories refused': self._refused,
        }


def main() -> None:
    run(Control)


if __name__ == '__main__':
    main()
