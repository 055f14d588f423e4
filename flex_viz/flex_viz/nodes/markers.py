"""The markers node: the bent robot for RViz, as a visualization_msgs/MarkerArray."""
from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rcl_interfaces.msg import SetParametersResult
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from visualization_msgs.msg import MarkerArray

from flex_dynamics.ros.model_parameters import MODEL_ERRORS, declare_model
from flex_dynamics.ros.state_subscription import State
from flex_ros.diagnostics import Diagnostics
from flex_ros.entry import run
from flex_ros.parameters import declare
from flex_viz.colours import COLOURINGS
from flex_viz.marker import DELETE_ALL, Marker
from flex_viz.marker_bytes import marker_array
from flex_viz.nodes.latest_state import LatestState
from flex_viz.nodes.pace import at_rate
from flex_viz.nodes.wrenches import Wrenches
from flex_viz.pushes import Push
from flex_viz.robot_markers import Options, RobotMarkers
from flex_viz.shown_text import plain

# Parameters that may be set while the node runs, and the options that they are.
LIVE = {'colour_by': 'coloured_by', 'colour_top': 'top', 'exaggeration': 'exaggeration',
        'ghost': 'ghost', 'tip_path': 'path', 'gauges': 'gauges', 'legend': 'legend'}


class Markers(Node):
    """Wires RobotMarkers to the state and to wrenches."""

    NOTHING_TO_LOSE = True       # it may be started again at any time

    def __init__(self) -> None:
        super().__init__('markers')
        self.model = model = declare_model(self)
        rate = declare(self, 'rate', 30.0, 'pictures a second of wall time', lower=0.1,
                       upper=1000.0, fixed=True)
        self._lifetime = declare(self, 'lifetime', 1.0, 's after which the markers of a robot '
                                 'that is silent vanish', lower=0.25, upper=3600.0, fixed=True)
        prefix = declare(self, 'frame_prefix', '', 'before the name of the root frame', fixed=True)
        self._frame = prefix + model.robot.links[0].name
        self._drawing = RobotMarkers(model, self._declare_options())
        for problem in self._drawing.robot.problems:
            self.get_logger().warning(problem)
        self._state: State | None = None
        self._drawn: State | None = None
        self._heard = self._shown = 0.0      # wall times, s
        self._pace = 1.0                     # s of the robot's clock in one of the wall's
        self._pushes: list[Push] = []
        self._count = 0
        self._publisher = self.create_publisher(MarkerArray, 'markers', QoSProfile(depth=5))
        self._input = LatestState(self, model)
        self._wrenches = Wrenches(self, model)
        self.add_on_set_parameters_callback(self._on_parameters)
        at_rate(self, rate, self._show)
        Diagnostics(self, model.robot.name, self._status)
        self.get_logger().info(f'{plain(model.robot.name)}: '
                               f'{len(self._drawing.robot.skins)} bent links in frame '
                               f'{plain(self._frame)}')

    def _declare_options(self) -> Options:
        return Options(
            coloured_by=declare(self, 'colour_by', 'strain', 'what the colours of the links tell',
                                choices=COLOURINGS),
            top=declare(self, 'colour_top', 0.0, 'strain (m/m) or deflection (m) at the end of '
                        'the colours; 0: the largest of late', lower=0.0, upper=1e6),
            exaggeration=declare(self, 'exaggeration', 1.0, 'factor of the deflection as drawn',
                                 lower=0.0, upper=1e3),
            ghost=declare(self, 'ghost', True, 'draw the straight links too'),
            path=declare(self, 'tip_path', 5.0, "s of the tip's way; 0: none", lower=0.0,
                         upper=3600.0),
            gauges=declare(self, 'gauges', True, 'draw the strain gauges'),
            legend=declare(self, 'legend', True, 'draw the scale of the colours'),
            tip=declare(self, 'tip_frame', '', 'frame whose way is drawn; empty: the last link',
                        fixed=True))

    def _on_parameters(self, parameters: list[Parameter]) -> SetParametersResult:
        changes = {LIVE[one.name]: one.value for one in parameters if one.name in LIVE}
        by = changes.get('coloured_by', 'none')
        if by not in COLOURINGS:
            return SetParametersResult(successful=False, reason=f'colour_by: expected one of '
                                       f'{", ".join(COLOURINGS)}, found {by!r}')
        wrong = [name for name in ('top', 'exaggeration', 'path') if name in changes
                 and not (isinstance(changes[name], (int, float)) and np.isfinite(changes[name]))]
        if wrong:
            return SetParametersResult(successful=False, reason=f'{wrong[0]}: expected a finite '
                                       'number')
        if changes:
            self._drawing.options = replace(self._drawing.options, **changes)
            self._drawn = None
        return SetParametersResult(successful=True)

    def _show(self) -> None:
        now = time.monotonic()
        if (news := self._input.take()) is not None:
            self._state, self._heard = news, now
        state = self._state
        if state is None:
            return
        if now - self._heard > self._lifetime:
            # RViz lets lifetimes pass by a simulated clock, which has stopped with the robot.
            self._send([Marker('', 0, action=DELETE_ALL)], state.stamp_ns)
            self._state = self._drawn = None
            return
        pushes, before = self._wrenches.take(), self._pushes
        if state is self._drawn and not pushes and not before:
            return
        if self._drawn is not None and now > self._shown:
            # Lifetimes pass by the robot's clock, which may be faster than the wall's.
            pace = 1e-9 * (state.stamp_ns - self._drawn.stamp_ns) / (now - self._shown)
            self._pace = min(max(1.0, pace), 1e3)
        self._drawn, self._pushes, self._shown = state, pushes, now
        self._send(self._drawing.at(1e-9 * state.stamp_ns, state.q, pushes), state.stamp_ns)
        self._count += 1

    def _send(self, markers: list[Marker], stamp: int) -> None:
        self._publisher.publish(marker_array(markers, self._frame, stamp,
                                             self._pace * self._lifetime))

    def destroy_node(self) -> None:
        """Take the robot out of RViz, whose clock may have stopped with the simulator."""
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
