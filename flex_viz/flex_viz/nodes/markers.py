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
"""The markers node: the deflected robot for RViz, as a visualization_msgs/MarkerArray."""
from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile
from visualization_msgs.msg import MarkerArray

from flex_dynamics.ros.model_parameters import MODEL_ERRORS, declare_model
from flex_dynamics.ros.state_subscription import State
from flex_ros.diagnostics import Diagnostics
from flex_ros.entry import run
from flex_ros.parameters import LiveParameters, declare
from flex_viz.geometry.colours import COLOURINGS
from flex_viz.geometry.wrench_arrows import AppliedWrench
from flex_viz.nodes.polled_state import PolledState
from flex_viz.nodes.rate_timer import create_rate_timer
from flex_viz.nodes.reactions import Reactions
from flex_viz.nodes.wrenches import Wrenches
from flex_viz.rviz.marker import DELETE_ALL, Marker
from flex_viz.rviz.marker_bytes import marker_array
from flex_viz.rviz.robot_markers import Options, RobotMarkers
from flex_viz.shown_text import plain


class Markers(Node):
    """Wires RobotMarkers to the state and to wrenches."""

    NOTHING_TO_LOSE = True       # it may be restarted at any time

    def __init__(self) -> None:
        super().__init__('markers')
        self.model = model = declare_model(self, constraints=True)
        rate = declare(self, 'rate', 30.0, 'frames a second of wall time', lower=0.1,
                       upper=1000.0, fixed=True)
        self._lifetime = declare(self, 'lifetime', 1.0, 's without a state after which the '
                                 'markers are removed', lower=0.25, upper=3600.0, fixed=True)
        prefix = declare(self, 'frame_prefix', '', 'before the name of the root frame', fixed=True)
        self._frame = prefix + model.robot.links[0].name
        tip = declare(self, 'tip_frame', '', 'frame whose path is drawn; empty: the last link',
                      fixed=True)
        self._drawing = RobotMarkers(model, Options(tip=tip))
        for problem in self._drawing.robot.problems:
            self.get_logger().warning(problem)
        self._state: State | None = None
        self._drawn: State | None = None
        self._declare_options()
        self._received = self._shown = 0.0      # wall times, s
        self._real_time_factor = 1.0         # robot's clock to wall clock
        self._drawn_wrenches: list[AppliedWrench] = []
        self._count = 0
        self._publisher = self.create_publisher(MarkerArray, 'markers', QoSProfile(depth=5))
        self._input = PolledState(self, model)
        self._wrenches = Wrenches(self, model)
        self._reactions = Reactions(self, model)
        create_rate_timer(self, rate, self._show)
        Diagnostics(self, model.robot.name, self._status)
        self.get_logger().info(f'{plain(model.robot.name)}: '
                               f'{len(self._drawing.robot.skins)} bent links in frame '
                               f'{plain(self._frame)}')

    def _declare_options(self) -> None:
        live = LiveParameters(self)
        live.choice('colour_by', 'quantity that the colours of the links show',
                    partial(self._set_option, 'coloured_by'), COLOURINGS, default='strain')
        live.number('colour_top', 'strain (m/m) or deflection (m) at the end of the colour scale; '
                    '0: the largest recent value', partial(self._set_option, 'top'), 1e6)
        live.number('exaggeration', 'factor of the deflection as drawn',
                    partial(self._set_option, 'exaggeration'), 1e3, default=1.0)
        live.flag('automatic_exaggeration', 'choose a factor with which bending is visible, in '
                  'place of exaggeration', partial(self._set_option, 'automatic'), default=False)
        live.flag('ghost', 'draw the straight links too', partial(self._set_option, 'ghost'),
                  default=True)
        live.number('tip_path', 'length of the tip path, s; 0: none',
                    partial(self._set_option, 'path'), 3600.0, default=5.0)
        live.flag('gauges', 'draw the strain gauges', partial(self._set_option, 'gauges'),
                  default=True)
        live.flag('constraints', 'draw loops, wheels and supports',
                  partial(self._set_option, 'constraints'), default=True)
        live.flag('reactions', 'draw the forces of loops, wheels and supports',
                  partial(self._set_option, 'reactions'), default=True)
        live.flag('legend', 'draw the colour scale', partial(self._set_option, 'legend'),
                  default=True)

    def _set_option(self, name: str, value: object) -> None:
        options: dict[str, Any] = {name: value}
        self._drawing.options = replace(self._drawing.options, **options)
        self._drawn = None       # draw the present state again

    def _show(self) -> None:
        now = time.monotonic()
        if (latest := self._input.take()) is not None:
            self._state, self._received = latest, now
        state = self._state
        if state is None:
            return
        stamp_ns = state.stamp_ns
        if now - self._received > self._lifetime:
            # RViz may expire lifetimes by a simulated clock that has stopped with the robot.
            self._send([Marker('', 0, action=DELETE_ALL)], stamp_ns)
            self._state = self._drawn = None
            return
        wrenches, before = self._wrenches.current(), self._drawn_wrenches
        if state is self._drawn and not wrenches and not before:
            return
        if self._drawn is not None and now > self._shown:
            # Lifetimes expire by the robot's clock, which may run faster than the wall clock.
            factor = 1e-9 * (stamp_ns - self._drawn.stamp_ns) / (now - self._shown)
            self._real_time_factor = min(max(1.0, factor), 1e3)
        self._drawn, self._drawn_wrenches, self._shown = state, wrenches, now
        self._send(self._drawing.at(1e-9 * stamp_ns, state.q, wrenches,
                                    self._reactions.current()), stamp_ns)
        self._count += 1

    def _send(self, markers: list[Marker], stamp_ns: int) -> None:
        self._publisher.publish(marker_array(markers, self._frame, stamp_ns,
                                             self._real_time_factor * self._lifetime))

    def destroy_node(self) -> None:
        """Remove the markers from RViz, whose clock may have stopped with the simulator."""
        if self._drawn is not None:
            self._send([Marker('', 0, action=DELETE_ALL)], self._drawn.stamp_ns)
            self._publisher.wait_for_all_acked(Duration(seconds=0.5))
        super().destroy_node()

    def _status(self) -> tuple[bytes, str, dict[str, object]]:
        return (DiagnosticStatus.OK, 'running' if self._state else 'waiting for a state', {
            'states received': self._input.received,
            'states rejected': self._input.rejected,
            'pictures published': self._count,
        })


def main() -> None:
    run(Markers, MODEL_ERRORS)


if __name__ == '__main__':
    main()
