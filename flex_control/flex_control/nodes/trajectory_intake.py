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
"""The topic `~/joint_trajectory`, read beside the control loop.

A message of 100,000 points has 14 MB: to take it from the middleware and to read it takes tens of
milliseconds, many periods of the loop. A thread of its own does that, without Python's lock for
most of it, and hands arrays over.
"""
from __future__ import annotations

import sys
import threading
from collections import deque
from typing import Any

from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from flex_control.errors import ControlError
from flex_control.trajectories.trajectory_points import LONGEST, TrajectoryPoints
from flex_ros.message_guard import DecodeError, decode_errors
from flex_ros.polled_subscription import Polled, Serialized, take_unlocked

TOPIC = '~/joint_trajectory'
DEPTH = 10
LOOK = 0.01           # s of wall time between two looks into the queue
SWITCH = 0.0005       # s that a thread keeps Python's lock while the loop waits for it


class TrajectoryIntake:
    """Keeps what has come until `take` is called: TrajectoryPoints, or the ControlError with
    which they are to be refused. What cannot be decoded is counted in the node's DecodeErrors."""

    def __init__(self, node: Node) -> None:
        self._errors = decode_errors(node)
        self._arrived: deque[TrajectoryPoints | ControlError] = deque(maxlen=DEPTH)
        self._problems: deque[str] = deque(maxlen=DEPTH)
        # The thread takes from it; nothing waits for it.
        self._subscription = node.create_subscription(
            JointTrajectory, TOPIC, self.receive, DEPTH, raw=True, callback_group=Polled())
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        sys.setswitchinterval(min(SWITCH, sys.getswitchinterval()))
        self._thread.start()

    def close(self) -> None:
        """Leave off: call it before the node is destroyed."""
        self._end.set()
        self._thread.join()

    def take(self) -> list[TrajectoryPoints | ControlError]:
        """What has come since the last call, the oldest first."""
        while self._problems:
            self._errors.count(self._subscription.topic_name, DecodeError(
                self._problems.popleft()))
        found = []
        while self._arrived:
            found.append(self._arrived.popleft())
        return found

    def receive(self, data: Any) -> None:
        """Read one serialised message, in any thread."""
        buffer = data.view if isinstance(data, Serialized) else data
        try:
            if len(buffer) > LONGEST:
                raise ValueError(f'expected at most {LONGEST} bytes, found {len(buffer)}')
            self._arrived.append(TrajectoryPoints.from_bytes(buffer))
        except ControlError as error:
            self._arrived.append(error)
        except ValueError as error:
            self._problems.append(f'expected a serialised JointTrajectory, found {len(buffer)} '
                                  f'bytes: {error}')

    def _run(self) -> None:
        while not self._end.is_set():
            try:
                data = take_unlocked(self._subscription)
            except InvalidHandle:            # the node is gone
                return
            if data is None:
                self._end.wait(LOOK)
            else:
                self.receive(data)
