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
"""The reactions of loops, wheels and supports at the moment, from the simulator's topics."""
from __future__ import annotations

import time

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node

from flex_description.math import within
from flex_dynamics import DynamicsError, Model
from flex_dynamics.ros.simulator.reactions import topic_tokens
from flex_ros.message_guard import shortened
from flex_viz.geometry.constraint_marks import ReactionForce
from flex_viz.nodes.polled_state import PolledMessage

HOLD = 1.0     # s of wall time that a reaction is shown after its last message


class Reactions:
    """The last reaction of every constraint; polled, once a picture."""

    def __init__(self, node: Node, model: Model) -> None:
        self._node, self._model = node, model
        names = [record.name for record in model.robot.constraints]
        self._topics = {name: PolledMessage(node, WrenchStamped, f'reactions/{token}')
                        for name, token in zip(names, topic_tokens(names), strict=True)}
        self._received: dict[str, tuple[float, ReactionForce]] = {}      # wall time, s

    def current(self) -> list[ReactionForce]:
        """The reactions to be drawn now."""
        now = time.monotonic()
        for name, topic in self._topics.items():
            if (message := topic.take()) is not None:
                self._keep(name, message, now)
        self._received = {name: entry for name, entry in self._received.items()
                          if now - entry[0] < HOLD}
        return [force for _, force in self._received.values()]

    def _keep(self, name: str, message: WrenchStamped, now: float) -> None:
        force, frame = message.wrench.force, message.header.frame_id
        vector = np.array([force.x, force.y, force.z])
        try:
            if not within(vector):
                raise DynamicsError('expected finite numbers of at most 1e9 N')
            self._model.pose(np.zeros(self._model.n), frame)
        except DynamicsError as error:
            self._node.get_logger().warning(f'reaction ignored: {shortened(str(error))}',
                                            throttle_duration_sec=1.0)
            return
        self._received[name] = now, ReactionForce(name, frame, vector)
