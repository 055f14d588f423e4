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
"""The viewer node: the deflected robot, live in a browser, with buttons for simulator and
controller, or a run recorded in a bag."""
from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node
from sensor_msgs.msg import JointState

from flex_description.math import within
from flex_dynamics.ros.model_parameters import DEFAULT, MODEL_ERRORS, declare_model
from flex_dynamics.ros.simulator.payloads import total_mass
from flex_dynamics.ros.state_subscription import State
from flex_ros.diagnostics import Diagnostics
from flex_ros.entry import run
from flex_ros.parameters import NodeError, declare, declare_strings
from flex_viz.browser.goals import read_goals
from flex_viz.browser.inputs import Requests
from flex_viz.browser.moment import Actions, ControlSettings, Moment
from flex_viz.browser.web_access import Access, AccessError
from flex_viz.nodes.alarms import Alarms
from flex_viz.nodes.control_link import ControlLink
from flex_viz.nodes.polled_state import PolledMessage, PolledState
from flex_viz.nodes.rate_timer import create_rate_timer
from flex_viz.nodes.reactions import Reactions
from flex_viz.nodes.simulator_link import SimulatorLink
from flex_viz.nodes.wrenches import Wrenches
from flex_viz.report.bag import read_run
from flex_viz.report.run import Run, RunError
from flex_viz.shown_text import plain

MISSING = ''
try:
    from flex_viz.browser.handle import Pull
    from flex_viz.browser.panel import Panel
    from flex_viz.browser.scene import Scene
    from flex_viz.browser.web_server import GuardedServer, WebServerError
except ImportError as error:      # there is no rosdep key for viser
    MISSING = str(error)

PULLS = 0.1      # s, between two pushes of the mouse, and how long each acts


class Viewer(Node):
    """Wires a Scene and its Panel to the state, to the simulator's services and to control."""

    def __init__(self) -> None:
        super().__init__('viewer')
        if MISSING:
            raise NodeError(f'the viewer needs the Python package viser ({MISSING}): '
                            "pip install 'viser~=1.1.1'")
        model = declare_model(self, constraints=True)
        bag = declare(self, 'bag', '', 'rosbag2 folder or file with a run to play; if no robot is '
                      'given, that of the bag is shown; empty: none', fixed=True)
        recording = self._read_bag(bag) if bag else None
        self.model = model = recording[0].model if recording else model
        host = declare(self, 'host', '127.0.0.1', 'address to listen on; 0.0.0.0 for access from '
                       'other machines, with the token in the logged address', fixed=True)
        port = declare(self, 'port', 8080, 'port to listen on; the next free one if it is in use',
                       lower=1, upper=65535, fixed=True)
        rate = declare(self, 'rate', 30.0, 'frames a second of wall time, at most: a browser that '
                       'draws fewer gets fewer', lower=0.1, upper=100.0, fixed=True)
        goals = read_goals(model, declare_strings(
            self, 'goals', 'poses to choose from, each NAME: and a number a joint, rad or m'))
        tip = declare(self, 'tip_frame', '', 'frame that is pushed and whose deflection is shown; '
                      'empty: the last link', fixed=True)
        if tip:
            model.pose(np.zeros(model.n), tip)
        self._server = self._serve(host, port)
        self._scene = Scene(self._server, model, tip)
        for problem in self._scene.robot.problems:
            self.get_logger().warning(problem)
        self._requests, self._pull, self._pulled = Requests(), Pull(), -np.inf
        self._simulator = SimulatorLink(self, self._answer)
        self._control = ControlLink(self, model.joint_names, self._answer, self._show_settings)
        self._state: State | None = None
        self._panel = Panel(self._server, self._scene, self._actions(), goals,
                            total_mass(model.robot), recording)
        self._efforts = np.zeros(model.n_joints)
        self._pictures = 0
        self._input = PolledState(self, model)
        self._joints = PolledMessage(self, JointState, 'joint_states')
        self._wrenches = Wrenches(self, model)
        self._reactions = Reactions(self, model)
        self._alarms = Alarms(self)
        create_rate_timer(self, rate, self._show)
        Diagnostics(self, model.robot.name, self._status)
        access = self._server.access
        if not access.loopback:
            self.get_logger().warning(f'listening on {host}: anyone who can reach this machine '
                                      'and has the address below can watch and push the robot')
        self.get_logger().info(f'{plain(model.robot.name)}: look at '
                               f'{access.address(self._server.get_port())}')

    def _read_bag(self, bag: str) -> tuple[Run, str]:
        """The run in a bag and the bag's name; of the robot of the parameters if they give one."""
        def given(name: str) -> str:
            return str(self.get_parameter(name).value)

        robot = given('robot_description') or given('robot')
        try:
            run = read_run(Path(bag), '' if robot == DEFAULT else robot, given('overlay'),
                           given('order'))
        except RunError as error:
            raise NodeError(f'parameter bag: {error}') from None
        return run, Path(bag).resolve().name

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

    def _actions(self) -> Actions:
        """Callbacks run in threads of the server; they queue the action for the node."""
        def later(action: Callable[..., None], kind: str = '') -> Callable[..., None]:
            return lambda *given: self._requests.put(lambda: action(*given), kind)

        simulator = self._simulator
        return Actions(
            pause=later(simulator.pause), play=later(simulator.play), step=later(simulator.step),
            reset=later(simulator.reset),
            push=later(lambda force, span: simulator.push(self._scene.tip, force, span)),
            go=later(self._go, 'go'), pull=self._pull.set,
            payload=later(lambda mass: simulator.carry(self._scene.tip, mass)),
            select=later(self._control.select))

    def _answer(self, text: str) -> None:
        self._panel.answer(text)

    def _show_settings(self, settings: ControlSettings) -> None:
        self._panel.show_settings(settings)

    def _go(self, goal: np.ndarray, span: float, name: str) -> None:
        start = None if self._state is None else self._state.q[:self.model.n_joints]
        self._control.go(start, goal, span, name)

    def _drag(self, now: float, state: State) -> None:
        """Push as the mouse does: short pushes that follow each other."""
        force = self._pull.current()
        if force is None or now < self._pulled + PULLS:
            return
        self._pulled = now
        pose = self.model.pose(state.q, self._scene.tip)
        self._simulator.push(self._scene.tip, pose[:3, :3].T @ force, PULLS, told=False)

    # Pictures -------------------------------------------------------------------------------

    def _show(self) -> None:
        for request in self._requests.take():
            request()
        if (message := self._joints.take()) is not None:
            self._keep_efforts(message)
        if (latest := self._input.take()) is not None:
            if self._state is not None and latest.stamp_ns < self._state.stamp_ns:
                self._panel.reset_history()      # the clock was set back
            self._state = latest
        self._control.look()
        state, now, live = self._state, time.monotonic(), None
        if state is not None:
            self._drag(now, state)
            live = Moment(1e-9 * state.stamp_ns, state.q, self._efforts,
                          self._control.set_points(), self._alarms.current())
        if self._panel.show(now, live, self._wrenches.current(), self._reactions.current()):
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
            'answer of the slowest browser (s)': f'{self._panel.pacing.delay:.3f}',
            'requests of pages dropped': self._requests.dropped,
        })


def main() -> None:
    run(Viewer, MODEL_ERRORS)


if __name__ == '__main__':
    main()
