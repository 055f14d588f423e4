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
"""The state publisher node: robot_description, and tf of every link with its deflection.

It replaces robot_state_publisher, which knows only joints and treats links as rigid.
"""
from __future__ import annotations

import time

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from flex_description import published_description
from flex_dynamics.ros.model_parameters import MODEL_ERRORS, declare_model
from flex_dynamics.ros.state_subscription import State
from flex_ros.clock import steady_clock
from flex_ros.diagnostics import Diagnostics
from flex_ros.entry import run
from flex_ros.message_guard import CALCULATION_ERRORS
from flex_ros.parameters import NodeError, declare, declare_strings
from flex_ros.qos import LATCHED
from flex_viz.geometry.frames import Edges, Frames, read_point
from flex_viz.nodes.polled_state import PolledState
from flex_viz.rviz.transform_bytes import TransformBytes
from flex_viz.shown_text import plain


class StatePublisher(Node):
    """Wires Frames to /tf and /tf_static, and the merged URDF to robot_description."""

    NOTHING_TO_LOSE = True       # it may be restarted at any time

    def __init__(self) -> None:
        super().__init__('state_publisher')
        self.model = model = declare_model(self, constraints=True)
        rate = declare(self, 'rate', 50.0, 'transforms a second, by the stamps of the states and '
                       'at most by the wall clock', lower=0.1, upper=1e3, fixed=True)
        points = declare_strings(self, 'points', 'frames on beams, LINK@X or NAME=LINK@X, X in '
                               'm along the beam')
        self._prefix = declare(self, 'frame_prefix', '', 'before the name of every frame',
                               fixed=True)
        merged = declare(self, 'merged_description_topic', 'robot_description', 'where the URDF '
                         'goes with all that makes the robot flexible, overlay included',
                         fixed=True)
        source = self.get_parameter('robot_description_topic').value
        if source and self.resolve_topic_name(merged) == self.resolve_topic_name(source):
            raise NodeError('parameter merged_description_topic: expected another topic than '
                            f'{source}, from which the robot comes, found the same; use '
                            'flex/robot_description')
        join = declare(self, 'join_root', False, 'publish the root frame with the prefix as fixed '
                       'in the one without, which robot_state_publisher has', fixed=True)
        base = declare(self, 'base_tf', True, 'publish where a planar or floating base is; false: '
                       'odometry or a localisation does', fixed=True)
        self._period_ns = round(1e9 / rate)
        self._last_stamp_ns = self._due_ns = 0      # by the stamps of the states
        self._wall_due = 0.0                 # s, wall time
        self._frames = Frames(model, [read_point(text) for text in points], base)
        self._published = 0
        self._description = self.create_publisher(String, merged, LATCHED)
        self._static = self.create_publisher(TFMessage, '/tf_static', LATCHED)
        self._tf = self.create_publisher(TFMessage, '/tf', QoSProfile(depth=100))
        self._description.publish(String(data=published_description(model.robot)))
        self._publish_fixed(join)
        self._bytes = self._bytes_of(self._frames.moving)
        self._input = PolledState(self, model)
        # Twice the rate: the phase of the timer to the stamps of the states is arbitrary.
        self.create_timer(0.5 / rate, self._poll, clock=steady_clock())
        Diagnostics(self, model.robot.name, self._status)
        self.get_logger().info(f'{plain(model.robot.name)}: {len(model.robot.links)} links, '
                               f'{len(model.robot.frames) + len(points)} frames on beams')

    def _poll(self) -> None:
        if time.monotonic() < self._wall_due:       # simulated time may run faster
            return
        state = self._input.take()
        if state is not None:
            self._publish(state)

    def _publish(self, state: State) -> None:
        stamp_ns = state.stamp_ns
        if stamp_ns < self._last_stamp_ns:
            self._due_ns = stamp_ns      # the clock was set back
        self._last_stamp_ns = stamp_ns
        if stamp_ns < self._due_ns:
            return
        # The next point of a fixed grid: a late state does not lower the rate.
        self._due_ns += self._period_ns * ((stamp_ns - self._due_ns) // self._period_ns + 1)
        period = 1e-9 * self._period_ns
        self._wall_due = max(self._wall_due + period, time.monotonic() - period)
        try:
            poses = self._frames.moving.at(state.q)
        except CALCULATION_ERRORS as error:
            self._input.reject(error)
            return
        self._tf.publish(self._bytes.at(stamp_ns, poses))
        self._published += 1

    def _publish_fixed(self, join: bool) -> None:
        fixed, poses = self._frames.fixed.pairs, self._frames.fixed.at(np.zeros(self.model.n))
        named = [(self._prefix + parent, self._prefix + child) for parent, child in fixed]
        if join and self._prefix:
            root = self.model.robot.links[0].name
            named.append((root, self._prefix + root))
            poses = np.concatenate((poses, np.eye(4)[None]))
        self._static.publish(TransformBytes(named).at(0, poses))

    def _bytes_of(self, edges: Edges) -> TransformBytes:
        return TransformBytes([(self._prefix + parent, self._prefix + child)
                               for parent, child in edges.pairs])

    def _status(self) -> tuple[bytes, str, dict[str, object]]:
        level, text = DiagnosticStatus.OK, 'running'
        if not self._input.received:
            text = 'waiting for a state'
        elif self._input.problem:
            level, text = DiagnosticStatus.WARN, self._input.problem
        return (level, text, {
            'states received': self._input.received,
            'states rejected': self._input.rejected,
            'transforms published': self._published,
        })


def main() -> None:
    run(StatePublisher, MODEL_ERRORS)


if __name__ == '__main__':
    main()
