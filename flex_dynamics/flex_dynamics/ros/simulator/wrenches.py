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
"""Pushes from outside: the topic `external_wrench` and the service `~/apply_wrench`."""
from __future__ import annotations

import bisect
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped

from flex_description.math import within
from flex_dynamics import DynamicsError, Model
from flex_msgs.srv import ApplyWrench
from flex_ros.message_fields import nanoseconds, stamp
from flex_ros.message_guard import (
    LARGEST,
    DecodeError,
    decode,
    decode_errors,
    shortened,
)
from flex_ros.parameters import declare
from flex_ros.polled_subscription import Polled, waiting

TOLD = 0.1      # s
MOST = 1000     # pushes on a frame, and by service, that act or wait for their time
QUEUE = 10      # messages that wait to be read
BEGIN = attrgetter('begin')
AHEAD = 3600.0  # s of simulated time that a push may be put off; a stamp of the wall clock is more


@dataclass(frozen=True)
class Push:
    """A wrench in the axes of its frame, [force; moment] (6,), from one period to another."""

    message: WrenchStamped
    frame: str
    x: float | None
    wrench: np.ndarray
    begin: int
    end: int


def place(model: Model, frame: str) -> tuple[str, float | None]:
    """Frame and station (m) of a frame_id: a link, a frame, or `<link>/tip` of a flexible link.

    DynamicsError if there is none of this name.
    """
    link, _, end = frame.rpartition('/')
    if end == 'tip' and link in {f.name for f in model.robot.links if f.flexible}:
        return link, model.beam(link).flexible.length
    model.carrier(frame)
    return frame, None


def forget_past(pushes: list[Push], tick: int) -> None:
    """Leave, of pushes on one frame in the order of their begin, the one that acts and those to
    come."""
    begun = bisect.bisect_right(pushes, tick, key=BEGIN)
    del pushes[:max(begun - 1, 0)]
    if pushes and pushes[0].end <= tick:
        del pushes[0]


class WrenchInput:
    """Keeps the pushes that act or will act, by simulated time.

    A message on the topic acts for `external_wrench.duration` or until the next one on the same
    frame begins; a stream of them is a push that lasts. A stamp of later than now puts the push
    off until then. What acts is told on `applied_wrench`, when it begins and every
    `TOLD` s of simulated time.
    """

    def __init__(self, simulator: Any) -> None:
        self._simulator = simulator
        self._streamed: dict[str, list[Push]] = {}       # by frame, in the order of their begin
        self._asked: list[Push] = []
        self.rejected, self.reason = 0, ''
        self._duration = declare(
            simulator, 'external_wrench.duration', 0.1, 'simulated s that a message on '
            'external_wrench acts, unless the next one comes', lower=1e-3, upper=1e3, fixed=True)
        # As commands: free running they are taken when a period begins.
        self._topic = simulator.create_subscription(
            WrenchStamped, 'external_wrench', self._on_message, QUEUE, raw=True,
            callback_group=None if simulator.timing.lockstep else Polled())
        self._errors = decode_errors(simulator)
        simulator.create_service(ApplyWrench, '~/apply_wrench', self._on_request)
        self._applied = simulator.create_publisher(WrenchStamped, 'applied_wrench', 10)

    def reset(self) -> None:
        """Nothing pushes."""
        self._streamed.clear()
        self._asked.clear()

    def acting(self, tick: int) -> list[tuple[str, float | None, np.ndarray]]:
        """What pushes in the period that begins at `tick`, for Plant.wrenches."""
        if not self._asked and not any(self._streamed.values()):
            return []
        self._asked = [push for push in self._asked if tick < push.end]
        for pushes in self._streamed.values():
            forget_past(pushes, tick)
        first = [pushes[0] for pushes in self._streamed.values() if pushes]
        acting = [push for push in (*first, *self._asked) if push.begin <= tick]
        timing = self._simulator.timing
        for push in acting:
            if (tick - push.begin) % max(1, round(TOLD / timing.period)) == 0:
                push.message.header.stamp = stamp(timing.stamp_ns(tick))
                self._applied.publish(push.message)
        return [(push.frame, push.x, push.wrench) for push in acting]

    def take(self) -> None:
        """Take the messages that have come."""
        for data, _ in islice(waiting(self._topic), QUEUE):
            self._take(data)

    def _on_message(self, data: bytes) -> None:
        self._take(data)
        self.take()

    def _take(self, data: bytes) -> None:
        try:
            message = decode(data, WrenchStamped)
            push = self._push(message, self._duration)
            pushes = self._streamed.setdefault(message.header.frame_id, [])
            if len(pushes) >= MOST:
                raise DynamicsError(f'wrench on {message.header.frame_id!r}: {MOST} wait for '
                                    'their time already')
            bisect.insort(pushes, push, key=BEGIN)
        except DecodeError as error:
            self._errors.count('external_wrench', error)
        except DynamicsError as error:
            self.rejected += 1
            self.reason = shortened(str(error))
            self._simulator.get_logger().warning(f'external_wrench rejected: {self.reason}',
                                                 throttle_duration_sec=1.0)

    def _on_request(self, request: Any, response: Any) -> Any:
        try:
            duration = 1e-9 * nanoseconds(request.duration)
            if not duration > 0.0:
                raise DynamicsError(f'duration: expected a positive time, found {duration:g} s')
            if len(self._asked) >= MOST:
                raise DynamicsError(f'{MOST} pushes act or wait for their time already: wait for '
                                    'one to end, or reset')
            self._asked.append(self._push(request.wrench, duration))
            response.success = True
        except DynamicsError as error:
            response.message = shortened(str(error))
        return response

    def _push(self, message: WrenchStamped, duration: float) -> Push:
        simulator, machine = self._simulator, self._simulator.machine
        frame, x = place(simulator.model, message.header.frame_id)
        force, torque = message.wrench.force, message.wrench.torque
        wrench = np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])
        if not within(wrench):
            raise DynamicsError(f'wrench on {message.header.frame_id!r}: expected finite numbers '
                                f'of at most {LARGEST:g}, found force {wrench[:3]} N, torque '
                                f'{wrench[3:]} N m')
        period, when = simulator.timing.period, nanoseconds(message.header.stamp)
        if when - machine.stamp_ns > 1e9 * AHEAD:
            raise DynamicsError(f'wrench on {message.header.frame_id!r}: its stamp, '
                                f'{1e-9 * when:.0f} s, is more than an hour after the present of '
                                f'the simulation, {1e-9 * machine.stamp_ns:.1f} s')
        begin = max(machine.tick, round(1e-9 * when / period))
        return Push(message, frame, x, wrench, begin, begin + max(1, round(duration / period)))
