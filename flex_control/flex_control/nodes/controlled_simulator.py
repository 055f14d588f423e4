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
from flex_control.nodes.drives import parameters_of
from flex_dynamics.model.model import Terms
from flex_dynamics.nodes.simulator import Simulator
from flex_dynamics.nodes.simulator.commands import TopicCommands
from flex_dynamics.ros.model_parameters import MODEL_ERRORS
from flex_dynamics.ros.state_subscription import State
from flex_ros.entry import run
from flex_ros.parameters import NodeError


class DirectInputs:
    """What `Inputs` gives, without topics: terms from the model, measurements from the sensors."""

    rejected = 0

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator

    def want(self, controller: Controller) -> None:
        if controller.needs_measurements:
            self._simulator.read_every_period()

    def clear(self) -> None:
        pass

    def missing(self, controller: Controller, time: int) -> str:
        return ''

    def take(self, controller: Controller, time: int) -> tuple[Terms | None, Measurements | None]:
        if not controller.needs_measurements:
            return None, None
        return None, Measurements(*self._simulator.readings())


class DirectDrives:
    """What `Drives` does, without a service."""

    def __init__(self, simulator: Simulator) -> None:
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

    def __init__(self, simulator: Simulator) -> None:
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
        return self._simulator.commands


class InProcessCommands(TopicCommands):
    """Commands of the controller in this process; those on the topic are refused."""

    def __init__(self, simulator: Simulator) -> None:
        super().__init__(simulator)
        self._simulator = simulator
        self.driver: Callable[[State], None] | None = None
        self._given: tuple[np.ndarray, ...] = ()

    def request(self) -> None:
        """Hand the present state to the controller, whose command comes before the return."""
        if self.driver is not None:
            simulation = self._simulator.plant.simulation
            self.driver(State(self._simulator.machine.stamp_ns, simulation.q.copy(),
                              simulation.v.copy(), False))

    def receive(self, data: bytes, info: dict[str, int]) -> None:
        why = 'the controller inside this process drives the robot'
        self._simulator.machine.reject(why)
        self._simulator.command_rejected(why)

    # The command output of the control node ---------------------------------------------------

    def publish(self, stamp_ns: int, position: np.ndarray, velocity: np.ndarray,
                effort: np.ndarray) -> None:
        """A command that answers the present state."""
        self._given = effort, position, velocity
        problem = self._simulator.machine.receive_direct(
            lambda: self._simulator.plant.commands.accept_all(effort, position, velocity))
        if problem is not None:
            self._simulator.command_rejected(problem)

    def repeat(self) -> None:
        effort, position, velocity = self._given
        self.publish(self._simulator.machine.stamp_ns, position, velocity, effort)


def make() -> Sequence[Node]:
    simulator = Simulator(InProcessCommands, decimated=True)
    control = InnerControl(simulator)
    assert isinstance(simulator.commands, InProcessCommands)
    simulator.commands.driver = control.answer
    return simulator, control


def main() -> None:
    run(make, MODEL_ERRORS)


if __name__ == '__main__':
    main()
