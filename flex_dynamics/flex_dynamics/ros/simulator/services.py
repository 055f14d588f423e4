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
"""The services of simulation_interfaces under the simulator's own name."""
from __future__ import annotations

import signal
from functools import partial
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future
from simulation_interfaces.msg import Result, SimulationState, SimulatorFeatures
from simulation_interfaces.srv import (
    GetSimulationState,
    GetSimulatorFeatures,
    ResetSimulation,
    SetSimulationState,
    StepSimulation,
)

from flex_ros.clock import steady_clock
from flex_ros.message_guard import CALCULATION_ERRORS

FEATURES = (
    SimulatorFeatures.SIMULATION_RESET, SimulatorFeatures.SIMULATION_RESET_TIME,
    SimulatorFeatures.SIMULATION_RESET_STATE, SimulatorFeatures.SIMULATION_RESET_SPAWNED,
    SimulatorFeatures.SIMULATION_STATE_GETTING,
    SimulatorFeatures.SIMULATION_STATE_SETTING, SimulatorFeatures.SIMULATION_STATE_PAUSE,
    SimulatorFeatures.STEP_SIMULATION_SINGLE, SimulatorFeatures.STEP_SIMULATION_MULTIPLE,
)
KNOWN_SCOPES = (ResetSimulation.Request.SCOPE_TIME | ResetSimulation.Request.SCOPE_STATE
                | ResetSimulation.Request.SCOPE_SPAWNED)


class SimulationServices:
    """Reset, pause, step and state of a simulator. A step is one period, from state to state."""

    def __init__(self, simulator: Any) -> None:
        self._simulator = simulator
        self._stopped = False
        self._step: Future | None = None
        group = ReentrantCallbackGroup()     # while a step is awaited, the others still answer
        for kind, name, callback in (
                (GetSimulatorFeatures, 'get_simulator_features', self._features),
                (GetSimulationState, 'get_simulation_state', self._get),
                (SetSimulationState, 'set_simulation_state', self._set),
                (ResetSimulation, 'reset_simulation', self._reset),
                (StepSimulation, 'step_simulation', self._step_simulation)):
            simulator.create_service(kind, f'~/{name}', callback, callback_group=group)

    def steps_ended(self, why: str) -> None:
        """Steps that were asked for ended before the last, if there is a reason."""
        if why:
            self.stepped(why)

    def stepped(self, problem: str) -> None:
        """The steps asked for are done, or ended by `problem`."""
        if self._step is not None and not self._step.done():
            self._step.set_result(problem)

    def _state(self) -> int:
        if self._simulator.machine.playing:
            return SimulationState.STATE_PLAYING
        return SimulationState.STATE_STOPPED if self._stopped else SimulationState.STATE_PAUSED

    def _features(self, request: Any, response: Any) -> Any:
        response.features.features = list(FEATURES)
        response.features.custom_info = 'flex: robots with flexible links'
        return response

    def _get(self, request: Any, response: Any) -> Any:
        response.state.state = self._state()
        response.result.result = Result.RESULT_OK
        return response

    def _set(self, request: Any, response: Any) -> Any:
        wanted, simulator = request.state.state, self._simulator
        kinds = SimulationState
        if wanted == self._state() and not simulator.machine.granted:
            return answer(response, SetSimulationState.Response.ALREADY_IN_TARGET_STATE,
                          'already in that state')
        if wanted not in (kinds.STATE_STOPPED, kinds.STATE_PLAYING, kinds.STATE_PAUSED,
                          kinds.STATE_QUITTING):
            return answer(response, SetSimulationState.Response.INCORRECT_TRANSITION,
                          f'expected stopped, playing, paused or quitting, found state {wanted}')
        if wanted == kinds.STATE_PLAYING and simulator.machine.failure:
            return answer(response, SetSimulationState.Response.STATE_TRANSITION_ERROR,
                          f'reset first: {simulator.machine.failure}')
        if wanted == kinds.STATE_PAUSED and self._stopped:
            return answer(response, SetSimulationState.Response.INCORRECT_TRANSITION,
                          'stopped: expected playing next')
        if wanted == kinds.STATE_QUITTING:
            # After the answer has gone out; a signal ends the node as it should end.
            simulator.create_timer(0.1, partial(signal.raise_signal, signal.SIGINT),
                                   clock=steady_clock())
        simulator.play(wanted == kinds.STATE_PLAYING)
        self._stopped = wanted == kinds.STATE_STOPPED
        if self._stopped:
            simulator.reset(state=True, clock=True, payloads=True)
        return answer(response)

    def _reset(self, request: Any, response: Any) -> Any:
        scope = request.scope or KNOWN_SCOPES
        if scope != ResetSimulation.Request.SCOPE_ALL and scope & ~KNOWN_SCOPES:
            return answer(response, Result.RESULT_FEATURE_UNSUPPORTED,
                          f'expected time, state, spawned or all, found scope {scope}')
        try:
            self._simulator.reset(state=bool(scope & ResetSimulation.Request.SCOPE_STATE),
                                  clock=bool(scope & ResetSimulation.Request.SCOPE_TIME),
                                  payloads=bool(scope & ResetSimulation.Request.SCOPE_SPAWNED))
        except CALCULATION_ERRORS as error:       # at the start pose with a payload
            return answer(response, Result.RESULT_OPERATION_FAILED, str(error))
        return answer(response)

    async def _step_simulation(self, request: Any, response: Any) -> Any:
        simulator, machine = self._simulator, self._simulator.machine
        busy = self._step is not None and not self._step.done()
        if machine.playing or busy or machine.failure:
            why = machine.failure or ('steps of another request are under way' if busy
                                      else 'pause the simulation before stepping it')
            return answer(response, Result.RESULT_INCORRECT_STATE, why)
        if request.steps < 1:
            return answer(response, Result.RESULT_OPERATION_FAILED,
                          'steps: expected at least 1, found 0')
        self._stopped = False
        self._step = Future()
        simulator.grant(request.steps)
        problem = await self._step
        return answer(response, Result.RESULT_OPERATION_FAILED if problem else Result.RESULT_OK,
                      problem)


def answer(response: Any, code: int = Result.RESULT_OK, text: str = '') -> Any:
    response.result.result = code
    response.result.error_message = text
    return response
