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
"""The services of the simulator that the viewer's buttons call."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.node import Node
from simulation_interfaces.msg import Result, SimulationState
from simulation_interfaces.srv import ResetSimulation, SetSimulationState, StepSimulation

from flex_msgs.srv import ApplyWrench, AttachPayload, DetachPayload
from flex_viz.shown_text import plain

PAYLOAD = 'viewer'      # name of the payload that the page attaches
DENSITY = 2000.0        # kg/m3 of it, a ball


class SimulatorLink:
    """Calls services; answer: takes the text that says what came of it."""

    def __init__(self, node: Node, answer: Callable[[str], None]) -> None:
        self._answer = answer
        self._set = node.create_client(SetSimulationState, 'simulator/set_simulation_state')
        self._step = node.create_client(StepSimulation, 'simulator/step_simulation')
        self._reset = node.create_client(ResetSimulation, 'simulator/reset_simulation')
        self._push = node.create_client(ApplyWrench, 'simulator/apply_wrench')
        self._attach = node.create_client(AttachPayload, 'simulator/attach_payload')
        self._detach = node.create_client(DetachPayload, 'simulator/detach_payload')

    def pause(self) -> None:
        self._play(SimulationState.STATE_PAUSED, 'paused')

    def play(self) -> None:
        self._play(SimulationState.STATE_PLAYING, 'playing')

    def _play(self, state: int, done: str) -> None:
        self._ask(self._set, SetSimulationState.Request(state=SimulationState(state=state)), done)

    def step(self, steps: int) -> None:
        self._ask(self._step, StepSimulation.Request(steps=steps), f'stepped {steps} periods')

    def reset(self) -> None:
        self._ask(self._reset, ResetSimulation.Request(), 'reset')

    def push(self, frame: str, force: np.ndarray, span: float, told: bool = True) -> None:
        """Push on the origin of a frame, with force (3,) N along its axes, for `span` s."""
        request = ApplyWrench.Request()
        request.wrench.header.frame_id = frame
        wanted = request.wrench.wrench.force
        wanted.x, wanted.y, wanted.z = map(float, force)
        request.duration.sec, request.duration.nanosec = divmod(round(1e9 * span), 10**9)
        size = float(np.linalg.norm(force))
        self._ask(self._push, request, f'pushed {plain(frame)} with {size:.3g} N'
                  + (f' for {span:g} s' if told else ', by the mouse'))

    def carry(self, frame: str, mass: float) -> None:
        """Fix a ball of `mass` kg to a frame; 0: let go of it."""
        if not mass:
            self._ask(self._detach, DetachPayload.Request(name=PAYLOAD), 'payload detached')
            return
        request = AttachPayload.Request(name=PAYLOAD, frame=frame)
        radius = (0.75 * mass / (np.pi * DENSITY)) ** (1.0 / 3.0)
        inertia = request.inertia
        inertia.m = mass
        inertia.ixx = inertia.iyy = inertia.izz = 0.4 * mass * radius**2
        self._ask(self._attach, request, f'{mass:.3g} kg attached to {plain(frame)}')

    def _ask(self, client: Any, request: Any, done: str) -> None:
        """Call a service, and tell the result."""
        if not client.service_is_ready():
            self._answer(f'no simulator answers on {client.srv_name}')
            return

        def show(future: Any) -> None:
            try:
                response = future.result()
            except Exception as error:      # a malformed response
                self._answer(f'{client.srv_name}: {error}')
                return
            if not hasattr(response, 'result'):      # of flex_msgs
                self._answer(done if response.success else response.message)
                return
            good = response.result.result in (Result.RESULT_OK,
                                              SetSimulationState.Response.ALREADY_IN_TARGET_STATE)
            self._answer(done if good else response.result.error_message or 'refused')

        client.call_async(request).add_done_callback(show)
