"""Simulator and control node in one process, with no topic between them.

Both nodes are there, with all their parameters, services, actions and diagnostics. But a state
goes to the control node, and its command to the plant, by a call: a run is the same to the last
bit as that of two processes in lockstep, and much faster. `sync: lockstep` runs as fast as it
can, `sync: free` by the wall clock. The topics are for those who look on, at `publish_rate`.
"""
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rclpy.node import Node

from flex_control import Controller, Measurements
from flex_control.nodes.control import Control
from flex_control.nodes.control_parameters import Settings
from flex_control.nodes.drive_client import parameters_of
from flex_dynamics.model.model import Terms
from flex_dynamics.nodes.effort_gate import CommandError
from flex_dynamics.nodes.simulator import Simulator
from flex_dynamics.ros.model_parameters import MODEL_ERRORS
from flex_dynamics.ros.state_subscription import State
from flex_ros.clock import steady_clock
from flex_ros.entry import run
from flex_ros.parameters import NodeError, declare

SLICE = 0.05      # s of wall time until services and actions get their turn


class DirectInputs:
    """What `Inputs` gives, without topics: terms from the model, measurements from the sensors."""

    rejected = 0

    def __init__(self, simulator: DrivenSimulator) -> None:
        self._simulator = simulator

    def want(self, controller: Controller) -> None:
        if controller.needs_measurements:
            self._simulator.measure()

    def clear(self) -> None:
        pass

    def missing(self, controller: Controller, time: int) -> str:
        return ''

    def take(self, controller: Controller, time: int) -> tuple[Terms | None, Measurements | None]:
        return None, self._simulator.measurements() if controller.needs_measurements else None


class DirectDrives:
    """What `Drives` does, without a service."""

    def __init__(self, simulator: DrivenSimulator) -> None:
        self._simulator = simulator

    def want(self, controller: Controller) -> None:
        gains = controller.drive_gains()
        result = self._simulator.set_parameters_atomically(parameters_of(gains))
        if not result.successful:
            raise NodeError(f'the drives can not be as the controller asks: {result.reason}')
        controller.set_drives(*gains)

    def runs(self, controller: Controller) -> None:
        self.want(controller)        # a fail-safe may have asked for others

    def missing(self, controller: Controller) -> str:
        return ''

    def tell_fallback(self, controller: Controller) -> None:
        self.want(controller)

    def restart(self) -> None:
        pass

    def go_on(self) -> None:
        pass


class StateCount:
    """The count of a StateSubscription; states that come by a call are never rejected."""

    received = rejected = 0


class InnerControl(Control):
    """A control node whose robot is in the same process."""

    def __init__(self, simulator: DrivenSimulator) -> None:
        self._simulator = simulator
        super().__init__()
        if self.model.names != simulator.model.names:
            raise NodeError(f'the robots differ: the simulator has {simulator.model.robot.name} '
                            f'with {simulator.model.n} coordinates, the control node '
                            f'{self.model.robot.name} with {self.model.n}')

    def answer(self, state: State) -> None:
        """Take a state; the command, if there is one, goes to the simulator before the return."""
        self._state_input.received += 1
        last = self._last
        if (last is None or state.time <= last.time or self._safe.why
                or self.loop.controller is not self._wanted):
            self._on_state(state)
            return
        # All goes its way, and nothing can be missing here: the rest of it, in less time.
        self._heard, self._last = time.monotonic(), state
        self._answer(state)

    def make_inputs(self, settings: Settings) -> Any:
        return DirectInputs(self._simulator)

    def make_drives(self) -> Any:
        return DirectDrives(self._simulator)

    def make_state_input(self) -> Any:
        return StateCount()

    def make_command_output(self) -> Any:
        return self._simulator


class DrivenSimulator(Simulator):
    """A simulator whose commands come by a call, from `driver`."""

    def __init__(self) -> None:
        self.driver: Callable[[State], None] | None = None
        self._publish_every = 1
        self._read_all = True        # sensors, also in periods that are not published
        super().__init__()
        rate = declare(self, 'publish_rate', 100.0, 'states a simulated s on topics, at most one '
                       'a period', lower=0.1, upper=1e5, fixed=True)
        self._publish_every = max(1, round(1.0 / (rate * self.timing.period)))
        self._read_all = any(sensor.delayed for sensor in self._sensors)
        self._given: tuple[np.ndarray, ...] = ()
        self._pumping = False
        self._next = self.create_timer(1e-6, self._pump, clock=steady_clock())
        self._next.cancel()          # runs while lockstep goes on

    # The command output of the control node ---------------------------------------------------

    def publish(self, when: int, position: np.ndarray, velocity: np.ndarray,
                effort: np.ndarray) -> None:
        """A command that answers the present state."""
        self._given = effort, position, velocity
        try:
            self.plant.gate.accept_all(effort, position, velocity)
            self._safe = False
        except CommandError as error:
            self._refuse(str(error))
            self._safe = True
        self._started = self._answered = True
        self._command_tick = self.tick

    def repeat(self) -> None:
        self.publish(self.now, self._given[1], self._given[2], self._given[0])

    # Time -----------------------------------------------------------------------------------

    def _ask(self) -> None:
        if self.driver is not None:
            simulation = self.plant.simulation
            self.driver(State(self.now, simulation.q.copy(), simulation.v.copy(), False))

    def _pump(self) -> None:
        if self._pumping:            # a callback of the control node is at work
            return
        self._pumping = True
        try:
            if self.timing.lockstep:
                self._run_on()
            else:
                if self.moving and not self._started:
                    self._ask()
                super()._pump()
        finally:
            self._pumping = False

    def _run_on(self) -> None:
        """Periods of one slice of wall time."""
        until = time.monotonic() + SLICE
        while self.moving and time.monotonic() < until:
            if not self._answered:
                self._ask()
            if not self._answered:
                break                # no command for this state: ask again in a while
            self._answered = False
            super()._advance()
        else:
            if self.moving:
                self._next.reset()
                return
        self._next.cancel()

    def _advance(self) -> None:      # by the wall clock
        self._ask()
        super()._advance()

    def _on_timer(self) -> None:
        super()._on_timer()
        if not self.moving:
            self._ask()              # the control node is to know that its robot is there

    # Topics ---------------------------------------------------------------------------------

    def _receive(self, data: bytes, info: dict[str, int]) -> None:
        self._refuse('the controller inside this process drives the robot')

    def _refuse(self, why: str) -> None:
        self._rejected += 1
        self._reason = why
        self.get_logger().warning(f'command rejected: {why}', throttle_duration_sec=1.0)

    def _shown(self) -> bool:
        return self.tick % self._publish_every == 0 or not self.playing

    def _read_sensors(self) -> None:
        if self._read_all or self._shown():
            super()._read_sensors()

    def measure(self) -> None:
        """Read the sensors in every period from now on."""
        self._read_all = True
        for sensor in self._sensors:
            sensor.inner = True
            sensor.look_again(self.tick)

    def measurements(self) -> Measurements:
        """What the sensors read at the present state."""
        encoders, gauges, imus = self._sensors
        return Measurements(*encoders.values(), gauges.values(), *imus.values())


def make() -> Sequence[Node]:
    simulator = DrivenSimulator()
    control = InnerControl(simulator)
    simulator.driver = control.answer
    return simulator, control


def main() -> None:
    run(make, MODEL_ERRORS)


if __name__ == '__main__':
    main()
