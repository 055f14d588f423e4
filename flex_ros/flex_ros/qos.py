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
"""Qualities of service of topics."""
from __future__ import annotations

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

DEPTH = 100            # of publishers: a recorder that falls behind for a moment loses nothing
# Of what is said once and for all, such as robot_description.
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
DATAGRAM = 60_000      # bytes that travel in one piece


def newest(depth: int = 1, size: int = 0) -> QoSProfile:
    """Of a subscription to a stream of states, readings or terms: the last `depth` count.

    Best effort: it fits publishers of both kinds, those of sensors among them, and nobody has to
    acknowledge a thousand messages a second. What is lost on the way is overtaken by the next; in
    lockstep, where time stands still until it is there, it is sent again. But a message whose
    size (bytes) makes it travel in many pieces is lost with any of them: such are acknowledged.
    """
    return QoSProfile(depth=depth, reliability=ReliabilityPolicy.BEST_EFFORT if size < DATAGRAM
                      else ReliabilityPolicy.RELIABLE)
