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
"""The viewer node: the deflected robot, live in a browser, with buttons for the simulator."""
from __future__ import annotations

import queue
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Result, SimulationState
from simulation_interfaces.srv import ResetSimulation, SetSimulationState, StepSimulation
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from flex_description.math import within
from flex_dynamics.ros.model_parameters import MODEL_ERRORS, declare_model
from flex_dynamics.ros.state_subscription import State
from flex_msgs.srv import ApplyWrench
from flex_ros.diagnostics import Diagnostics
from flex_ros.entry import run
from flex_ros.parameters import NodeError, declare, declare_strings
from flex_viz.browser.goals import point_to_point, read_goals
from flex_viz.browser.web_access import Access, AccessError
from flex_viz.nodes.polled_state import PolledMessage, PolledState
from flex_viz.nodes.rate_timer import create_rate_timer
from flex_viz.nodes.reactions import Reactions
from flex_viz.nodes.wrenches import Wrenches
from flex_viz.shown_text import plain

MISSING = ''
try:
    from flex_viz.browser.panel import Actions, Panel
    from flex_viz.browser.scene import Scene
    from flex_viz.browser.web_server import GuardedServer, WebServerError
except ImportError as error:      # there is no rosdep key for viser
    MISSING = str(error)


class Viewer(Node):
    """Wires a Scene and its Panel to the state, to the simulator's services and to control."""

    def __init__(self) -> None:
        super().__init__('viewer')
        if MISSING:
            raise NodeError(f'the viewer needs the Python package viser ({MISSING}): '
                            "pip install 'viser~=1.1.1'")
        self.model = model = declare_model(self, constraints=True)
        host = declare(self, 'host', '127.0.0.1', 'address to listen on; 0.0.0.0 for access from '
                       'other machines, with the token in the logged address', fixed=True)
        port = declare(self, 'port', 8080, 'port to listen on; the next free one if it is in use',
                       lower=1, upper=65535, fixed=True)
        rate = declare(self, 'rate', 30.0, 'frames a second of wall time', lower=0.1,
                       upper=100.0, fixed=True)
        self._goals = read_goals(model, declare_strings(
            self, 'goals', 'poses to choose from, each NAME: and a number a joint, rad or m'))
        tip = declare(self, 'tip_frame', '', 'frame that is pushed and whose deflection is shown; '
                      'empty: the last link', fixed=True)
        if tip:
            model.pose(np.zeros(model.n), tip)
        self._server = self._serve(host, port)
        self._scene = Scene(self._server, model, tip)
        for problem in self._scene.robot.problems:
            self.get_logger().warning(problem)
        self._requests: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._connect()
        self._panel = Panel(self._server, self._scene, self._actions(), self._goals)
        self._state: State | None = None
        self._efforts = np.zeros(model.n_joints)
        self._pictures = 0
        self._input = PolledState(self, model)
        self._joints = PolledMessage(self, JointState, 'joint_states')
        self._wrenches = Wrenches(self, model)
        self._reactions = Reactions(self, model)
        create_rate_timer(self, rate, self._show)
        Diagnostics(self, model.robot.name, self._status)
        access = self._server.access
        if not access.loopback:
            self.get_logger().warning(f'listening on {host}: anyone who can reach this machine '
                                      'and has the address below can watch and push the robot')
        self.get_logger().info(f'{plain(model.robot.name)}: look at '
                               f'{access.address(self._server.get_port())}')

    def _serve(self, host: str, port: int) -> GuardedServer:
        hosts = declare_strings(self, 'allowed_hosts', 'further names by which browsers may '
                                'reach the page, NAME or NAME:PORT, as with a forwarded port')
        origins = declare_strings(self, 'allowed_origins', 'further pages that may use the '
                                  'websocket, http://NAME:PORT; none: programs that send no '
                                  'origin')
        try:
            access = Access(host, hosts, origins)
            return GuardedServer(access, port, f'flex: {plain(self.model.robot.name)}',
                                 self._warn)
        except (AccessError, WebServerError) as error:
            raise NodeError(f'viewer: {error}') from None

    def _warn(self, text: str) -> None:
        self.get_logger().warning(text, throttle_duration_sec=1.0)

    # Buttons --------------------------------------------------------------------------------

    def _connect(self) -> None:
        self._set = self.create_client(SetSimulationState, 'simulator/set_simulation_state')
        self._step = self.create_client(StepSimulation, 'simulator/step_simulation')
        self._reset = self.create_client(ResetSimulation, 'simulator/reset_simulation')
        self._push = self.create_client(ApplyWrench, 'simulator/apply_wrench')
        self._trajectory = self.create_publisher(JointTrajectory, 'control/joint_trajectory',
                                                 QoSProfile(depth=1))

    def _actions(self) -> Actions:
        """Button callbacks run in threads of the server; they queue the action for the node."""
        def later(action: Callable[..., None]) -> Callable[..., None]:
            return lambda *given: self._requests.put(lambda: action(*given))

        return Actions(
            pause=later(lambda: self._play(SimulationState.STATE_PAUSED)),
            play=later(lambda: self._play(SimulationState.STATE_PLAYING)),
            step=later(lambda steps: self._ask(self._step, StepSimulation.Request(steps=steps),
                                               f'stepped {steps} periods')),
            reset=later(lambda: self._ask(self._reset, ResetSimulation.Request(), 'reset')),
            push=later(self._apply), go=later(self._go))

    def _play(self, state: int) -> None:
        word = 'paused' if state == SimulationState.STATE_PAUSED else 'playing'
        self._ask(self._set, SetSimulationState.Request(state=SimulationState(state=state)), word)

    def _apply(self, force: np.ndarray, span: float) -> None:
        request = ApplyWrench.Request()
        request.wrench.header.frame_id = self._scene.tip
        wanted = request.wrench.wrench.force
        wanted.x, wanted.y, wanted.z = map(float, force)
        request.duration.sec, request.duration.nanosec = divmod(round(1e9 * span), 10**9)
        self._ask(self._push, request, f'pushed {plain(self._scene.tip)} with '
                  f'{np.linalg.norm(force):g} N for {span:g} s')

    def _ask(self, client: Any, request: Any, done: str) -> None:
        """Call a service, and show the result on the page."""
        if not client.service_is_ready():
            self._panel.answer(f'no simulator answers on {client.srv_name}')
            return

        def show(future: Any) -> None:
            try:
                response = future.result()
            except Exception as error:      # a malformed response
                self._panel.answer(f'{client.srv_name}: {error}')
                return
            if isinstance(response, ApplyWrench.Response):
                self._panel.answer(done if response.success else response.message)
                return
            good = response.result.result in (Result.RESULT_OK,
                                              SetSimulationState.Response.ALREADY_IN_TARGET_STATE)
            self._panel.answer(done if good else response.result.error_message or 'refused')

        client.call_async(request).add_done_callback(show)

    def _go(self, name: str, span: float) -> None:
        if not self._trajectory.get_subscription_count():
            self._panel.answer(f'no controller listens on {self._trajectory.topic_name}')
            return
        if self._state is None:
            self._panel.answer('no state received yet')
            return
        message = JointTrajectory(joint_names=list(self.model.joint_names))
        start = self._state.q[:self.model.n_joints]
        for at, *rows in zip(*point_to_point(start, self._goals[name], span)):
            point = JointTrajectoryPoint(**{kind: row.tolist() for kind, row in zip(
                ('positions', 'velocities', 'accelerations'), rows)})
            point.time_from_start.sec, point.time_from_start.nanosec = divmod(
                round(1e9 * at), 10**9)
            message.points.append(point)
        self._trajectory.publish(message)
        self._panel.answer(f'on the way to {plain(name, 50)}, {span:g} s')

    # Pictures -------------------------------------------------------------------------------

    def _show(self) -> None:
        while not self._requests.empty():
            self._requests.get()()
        if (message := self._joints.take()) is not None:
            self._keep_efforts(message)
        if (latest := self._input.take()) is not None:
            if self._state is not None and latest.stamp_ns < self._state.stamp_ns:
                self._scene.reset_history()      # the clock was set back
            self._state = latest
        state = self._state
        if state is None:
            return
        self._panel.show(time.monotonic(), 1e-9 * state.stamp_ns, state.q, self._efforts,
                         self._wrenches.current(), self._reactions.current())
        self._pictures += 1

    def _keep_efforts(self, message: JointState) -> None:
        known = dict(zip(message.name, message.effort))
        efforts = np.array([known.get(name, 0.0)
                            for name in self.model.joint_names])
        if within(efforts):
            self._efforts = efforts

    def _status(self) -> tuple[bytes, str, dict[str, object]]:
        return (DiagnosticStatus.OK, 'running' if self._state else 'waiting for a state', {
            'port': self._server.get_port(),      # the token appears only in the log
            'requests refused': self._server.refused,
            'states received': self._input.received,
            'states rejected': self._input.rejected,
            'pictures': self._pictures,
            'browsers': len(self._server.get_clients()),
        })


def main() -> None:
    run(Viewer, MODEL_ERRORS)


if __name__ == '__main__':
    main()
