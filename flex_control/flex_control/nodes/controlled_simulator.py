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
"""Simulator and control node in one process, with no topic between them.

Both nodes are there, with all their parameters, services, actions and diagnostics. But a state
goes to the control node, and its command to the plant, by a call: a run is the same to the last
bit as that of two processes in lockstep, and much faster. `sync: lockstep` runs as fast as it
can, `sync: free` by the wall clock. The topics are for those who look on, at `publish_rate`.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from rclpy.node import Node

from flex_control import Controller, Measurements
from flex_control.nodes.control import Control
from flex_control.nodes.control_parameters import Settings
from flex_control.nodes.drive_client import parameters_of
from flex_dynamics import Terms
from flex_dynamics.ros.model_parameters import MODEL_ERRORS
from flex_dynamics.ros.simulator import Simulator
from flex_dynamics.ros.simulator.commands import CommandSource, TopicCommands
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


class InProcessConnection:
    """A robot in this process: everything goes by a call. Counts the states that it hands on."""

    rejected = 0                 # such states are never bad

    def __init__(self, simulator: Simulator, control: Control) -> None:
        self._simulator, self._control = simulator, control
        self.received = 0

    def inputs(self, settings: Settings) -> DirectInputs:
        ours, theirs = self._control.model, self._simulator.model
        if ours.names != theirs.names:
            raise NodeError(f'the robots differ: the simulator has {theirs.robot.name} with '
                            f'{theirs.n} coordinates, the control node {ours.robot.name} with '
                            f'{ours.n}')
        return DirectInputs(self._simulator)

    def drives(self) -> DirectDrives:
        return DirectDrives(self._simulator)

    def states(self) -> InProcessConnection:
        return self

    def commands(self, joints: list[str]) -> CommandSource:
        return self._simulator.commands

    def answer(self, state: State) -> None:
        """Hand a state to the control node."""
        self.received += 1
        self._control.answer(state)


class InProcessCommands(TopicCommands):
    """Commands of the controller in this process; those on the topic are refused."""

    problem = ''                 # the plant always gets them

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

    def driver_present(self) -> bool:
        return False                 # it answers at once, or not at all

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
    """The simulator node and the control node, connected."""
    simulator = Simulator(InProcessCommands, decimated=True)
    connections: list[InProcessConnection] = []

    def connect(control: Control) -> InProcessConnection:
        connections.append(InProcessConnection(simulator, control))
        return connections[0]

    control = Control(connect)
    assert isinstance(simulator.commands, InProcessCommands)
    simulator.commands.driver = connections[0].answer
    return simulator, control


def main() -> None:
    run(make, MODEL_ERRORS)


if __name__ == '__main__':
    main()
