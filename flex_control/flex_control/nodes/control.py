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
"""The control node: states in, joint commands out, by any installed controller."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node

from flex_control import ControlError, Controller, ControlLoop
from flex_control.nodes.connections import Connection, Thrusters, TopicConnection
from flex_control.nodes.control_parameters import (
    declare_reader,
    declare_settings,
    declare_shaper,
    declare_tolerances,
    declare_trajectory,
)
from flex_control.nodes.fail_safe import FailSafe
from flex_control.nodes.installed_controllers import InstalledControllers, ParameterChange
from flex_control.nodes.motion import Motion
from flex_control.nodes.payload.payload_input import PayloadInput
from flex_control.nodes.reports import Reports
from flex_dynamics.ros.model_parameters import MODEL_ERRORS, declare_model
from flex_dynamics.ros.state_subscription import State
from flex_dynamics.simulation.command_limits import driven_places
from flex_ros.clock import steady_clock
from flex_ros.diagnostics import Diagnostics
from flex_ros.entry import run
from flex_ros.message_guard import CALCULATION_ERRORS
from flex_ros.parameters import LiveParameters, NodeError

WATCH = 0.1        # s of wall time between two checks of the watchdog
LATE = 0.5         # s of wall time after which terms or measurements are reported as missing


class Control(Node):
    """Wires a ControlLoop to the robot; its clock is the stamps of the states.

    connect: what makes the connection to the robot, by topics by default.
    """

    def __init__(self, connect: Callable[[Control], Connection] = TopicConnection) -> None:
        super().__init__('control')
        self.model = model = declare_model(self, constraints=True)
        self._joints = list(model.joint_names)
        self._driven = driven_places(model)
        self._drives_all = len(self._driven) == len(self._joints)
        self._settings = settings = declare_settings(self)
        live = LiveParameters(self)
        self._controllers = InstalledControllers(self, model, self._set_gains)
        self._name = live.group(self._controllers.parameters, self._controllers.change,
                                self._apply_change, self._controllers.undo)['controller']
        reader = declare_reader(self, model)
        try:
            controller = self._controllers.get(self._name)
            fallback = self._controllers.get('pd') if settings.fail_safe == 'hold' else None
        except ControlError as error:
            raise NodeError(f'parameter controller: {error}') from None
        self.loop = ControlLoop(model, controller, declare_trajectory(self, reader),
                                settings.switch_time)
        self._wanted = controller              # that runs unless the fail-safe acts
        self._motion = Motion(self, self.loop, reader, declare_tolerances(self, model),
                              settings.stop_time, settings.feedback_period, settings.lockstep)
        planner = self._motion.planner
        declare_shaper(live, planner.set_shaper, planner.set_shaper_modes)
        connection = connect(self)
        self._inputs = connection.inputs(settings)
        self._inputs.want(controller)
        self._payload = PayloadInput(self, model, settings.lockstep, self.advance)
        self._drives = connection.drives()
        self._drives.want(controller)
        self._safe = FailSafe(self, self.loop, self._motion, self._drives, settings.fail_safe,
                              fallback, settings.recovery_time, self._send)

        self._last: State | None = None        # that was answered
        self._waiting: State | None = None     # whose terms or measurements are not there yet
        self._heard = self._watched = self._waits_since = time.monotonic()
        self._sent: int | None = None          # ns, stamp of the state of the last command
        self._commands = connection.commands([self._joints[at] for at in self._driven])
        self._thrusters = Thrusters(self)
        self._reports = Reports(self, self._joints, settings.report_period)
        self._slowest = 0.0                    # s of wall time, that an update took
        self._state_input = connection.states()
        self.create_timer(WATCH, self._watch, clock=steady_clock())
        Diagnostics(self, model.robot.name, self._status)
        self.get_logger().info(f'{model.robot.name}: controller {self._name}, {model.n_joints} '
                               'joints')
        self._warn_of(controller)

    # Parameters -----------------------------------------------------------------------------

    def _apply_change(self, change: ParameterChange) -> None:
        if change.selected is not None and change.selected[1] is not self._wanted:
            self._switch(*change.selected)
        self._safe.latched = False

    def _set_gains(self, controller: Controller, given: dict[str, Any]) -> None:
        if controller is not self.loop.controller:
            controller.set_parameters(given)
        else:                # also while another one waits for its inputs
            self.loop.set_parameters(given)
        if controller is self._wanted:
            self._drives.want(controller)
        elif self._safe.why and controller is self.loop.controller:
            self._drives.tell_fallback(controller)

    def _switch(self, name: str, controller: Controller) -> None:
        """Change to another controller: at once, or when its inputs are there."""
        self._name, self._wanted = name, controller
        self._inputs.want(controller)
        self._drives.want(controller)
        self.get_logger().info(f'controller {name} takes over')
        self._warn_of(controller)

    def _warn_of(self, controller: Controller) -> None:
        if warning := controller.warning():
            self.get_logger().warning(warning)

    # States in, commands out ----------------------------------------------------------------

    def answer(self, state: State) -> None:
        """Take a state of a robot in this process: the command, if there is one, is sent before
        the return."""
        last = self._last
        if (last is None or state.stamp_ns <= last.stamp_ns or self._safe.why
                or self.loop.controller is not self._wanted):
            self.receive_state(state)
            return
        if self._payload.missing(state.stamp_ns):
            self.receive_state(state)
            return
        # A state in order, and nothing can be missing: the rest of it, in less time.
        self._heard, self._last = time.monotonic(), state
        self._answer(state)

    def receive_state(self, state: State) -> None:
        """Take a state; it is answered when all that the controller needs for it is there."""
        self._heard = time.monotonic()
        last = self._last
        if last is not None and state.stamp_ns <= last.stamp_ns:
            if state.stamp_ns == last.stamp_ns and np.array_equal(state.q, last.q):
                if self._sent == state.stamp_ns:
                    self._commands.repeat()    # sent again for those who missed it
                return
            if state.stamp_ns < last.stamp_ns:
                self._restart()
        if self._waiting is None:
            self._waits_since = self._heard
        self._waiting = state
        self.advance()

    def _restart(self) -> None:
        """Simulated time was set back."""
        self._last = None
        self._reports.restart()
        self._inputs.clear()
        self._payload.restart()
        self._drives.restart()
        self._motion.restart()
        self._safe.reset()
        self.loop.set_controller(self._wanted)
        self.loop.reset()

    def advance(self) -> None:
        """Answer the state that waits, if all that the controller needs for it is there."""
        state, loop = self._waiting, self.loop
        if state is None:
            return
        wanted, running = self._wanted, loop.controller
        if self._payload.missing(state.stamp_ns):
            return                             # lockstep: simulated time waits for it
        missing = self._inputs.missing(wanted, state.stamp_ns)
        if wanted is not running or self._last is None:
            missing = missing or self._drives.missing(wanted)
        if not missing:
            if not self._safe.latched and self._safe.end(state):
                if running is not wanted:
                    loop.set_controller(wanted)
                if running is not wanted or self._last is None:
                    self._drives.runs(wanted)
        elif self._last is None or (self._settings.lockstep
                                    and self._inputs.missing(running, state.stamp_ns)):
            return                             # lockstep: simulated time waits for it
        elif self._safe.why:
            if self._inputs.missing(wanted, state.stamp_ns):
                self._safe.input_missing()
        elif self._inputs.missing(running, state.stamp_ns):
            if time.monotonic() - self._waits_since < self._settings.input_patience:
                return                         # simulated time waits for this node's command
            self._safe.begin(missing)
        self._waiting, self._last = None, state
        self._answer(state)

    def _answer(self, state: State) -> None:
        if self._safe.why and self._safe.answers(state):
            return
        loop, begin = self.loop, time.perf_counter()
        terms, measurements = self._inputs.take(loop.controller, state.stamp_ns)
        try:
            self._payload.apply(state.stamp_ns, loop.controller)
            efforts = loop.step(1e-9 * state.stamp_ns, state.q, state.v, terms, measurements)
        except (ControlError, *CALCULATION_ERRORS) as error:
            failed, self._safe.latched = loop.controller, True
            self._safe.begin(f'controller {self._name}: {error}')
            if loop.controller is not failed or self._safe.kind != 'hold':
                self._answer(state)            # again, by the fail-safe
            return
        wanted = loop.controller.reference
        if loop.controller.thrust is not None:
            self._thrusters.send(state.stamp_ns, *loop.controller.thrust)
        self._send(state, efforts, wanted.position, wanted.velocity)
        loop.work_ahead()
        self._slowest = max(self._slowest, time.perf_counter() - begin)
        if trouble := loop.controller.trouble():
            self.get_logger().warning(trouble, throttle_duration_sec=1.0)
        self._motion.follow(state)
        self._reports.add(state, wanted, efforts)

    def _send(self, state: State, efforts: np.ndarray, position: np.ndarray,
              velocity: np.ndarray) -> None:
        self._sent = state.stamp_ns
        if not self._drives_all:         # a floating base is in the model, but has no motor
            at = self._driven
            position, velocity, efforts = position[at], velocity[at], efforts[at]
        self._commands.publish(state.stamp_ns, position, velocity, efforts)

    def _watch(self) -> None:
        """The watchdog, called by the wall clock: states may have stopped coming."""
        self._drives.go_on()
        self._motion.take_requests()
        now, state = time.monotonic(), self._last
        if now - self._watched > 3.0 * WATCH:      # this node was delayed, and states are queued
            self._heard = now
        self._watched = now
        silent = now - self._heard
        # In lockstep simulated time does not advance meanwhile: nothing moves unobserved, and a
        # run must not depend on how long a busy machine delays the simulator.
        if state is None or self._settings.lockstep or silent < self._settings.state_timeout:
            return
        self._safe.begin(f'no state for {silent:.1f} s')
        self._safe.act_unseen(state)

    def destroy_node(self) -> None:
        self._motion.close()
        super().destroy_node()

    def _status(self) -> tuple[bytes, str, dict[str, object]]:
        level, text = DiagnosticStatus.OK, 'running'
        missing, now = self._drives.missing(self._wanted), time.monotonic()
        # In lockstep every state waits for its terms, for a short time.
        if self._waiting is not None and (self._last is None
                                          or now - self._waits_since > LATE):
            missing = missing or self._inputs.missing(self._wanted, self._waiting.stamp_ns)
        silent = now - self._heard
        stamp_ns = 0 if self._last is None else self._last.stamp_ns
        payload_problem, payload = self._payload.status(stamp_ns)
        if self._waiting is not None and now - self._waits_since > LATE:
            missing = missing or self._payload.missing(self._waiting.stamp_ns)
        if self._safe.why:
            level = DiagnosticStatus.ERROR
            text = f'fail-safe ({self._safe.kind}): {self._safe.why}'
        elif missing:
            level, text = DiagnosticStatus.WARN, f'waiting: {missing}'
        elif self._commands.problem:
            level, text = DiagnosticStatus.WARN, self._commands.problem
        elif self.loop.controller is not self._wanted:
            level, text = DiagnosticStatus.WARN, f'{self._name} waits for what it needs'
        elif payload_problem:
            level, text = DiagnosticStatus.WARN, payload_problem
        elif self._last is None:
            text = 'waiting for a state'
        elif trouble := self.loop.controller.trouble():
            level, text = DiagnosticStatus.WARN, trouble
        elif silent > self._settings.state_timeout:      # in lockstep; else the fail-safe acts
            level, text = DiagnosticStatus.WARN, f'no state for {silent:.1f} s: time stands still'
        return level, text, {
            'controller': self._name,
            'states received': self._state_input.received,
            'states rejected': self._state_input.rejected,
            'terms and measurements rejected': self._inputs.rejected,
            'trajectories refused': self._motion.refused,
            'times the fail-safe acted': self._safe.count,
            **payload,
            'slowest update, ms': round(1e3 * self._slowest, 3),
            **self.loop.controller.figures(),
        }


def main() -> None:
    run(Control, MODEL_ERRORS)


if __name__ == '__main__':
    main()
