"""Pushes from outside: the topic `external_wrench` and the service `~/apply_wrench`."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped

from flex_dynamics import DynamicsError, Model
from flex_dynamics.nodes.common import declare, nanoseconds, stamp
from flex_dynamics.nodes.unwaited import Unwaited, waiting
from flex_msgs.srv import ApplyWrench

TOLD = 0.1      # s


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


class WrenchInput:
    """Keeps the pushes that act or will act, by simulated time.

    A message on the topic acts for `external_wrench.duration` and takes the place of the one
    before on the same frame; a stream of them is a push that lasts. A stamp of later than now
    puts the push off until then. What acts is told on `applied_wrench`, when it begins and every
    `TOLD` s of simulated time.
    """

    def __init__(self, simulator: Any) -> None:
        self._simulator = simulator
        self._streamed: dict[str, Push] = {}
        self._asked: list[Push] = []
        self.rejected, self.reason = 0, ''
        self._duration = declare(
            simulator, 'external_wrench.duration', 0.1, 'simulated s that a message on '
            'external_wrench acts, unless the next one comes', lower=1e-3, upper=1e3, fixed=True)
        # As commands: free running they are taken when a period begins.
        self._topic = simulator.create_subscription(
            WrenchStamped, 'external_wrench', self._on_message, 10,
            callback_group=None if simulator.timing.lockstep else Unwaited())
        simulator.create_service(ApplyWrench, '~/apply_wrench', self._on_request)
        self._applied = simulator.create_publisher(WrenchStamped, 'applied_wrench', 10)

    def reset(self) -> None:
        """Nothing pushes."""
        self._streamed.clear()
        self._asked.clear()

    def acting(self, tick: int) -> list[tuple[str, float | None, np.ndarray]]:
        """What pushes in the period that begins at `tick`, for Plant.wrenches."""
        if not self._streamed and not self._asked:
            return []
        self._asked = [push for push in self._asked if tick < push.end]
        self._streamed = {name: push for name, push in self._streamed.items() if tick < push.end}
        acting = [push for push in (*self._streamed.values(), *self._asked) if push.begin <= tick]
        timing = self._simulator.timing
        for push in acting:
            if (tick - push.begin) % max(1, round(TOLD / timing.period)) == 0:
                push.message.header.stamp = stamp(timing.stamp(tick))
                self._applied.publish(push.message)
        return [(push.frame, push.x, push.wrench) for push in acting]

    def take(self) -> None:
        """Take the messages that have come."""
        for message, _ in waiting(self._topic):
            self._take(message)

    def _on_message(self, message: WrenchStamped) -> None:
        self._take(message)
        self.take()

    def _take(self, message: WrenchStamped) -> None:
        try:
            self._streamed[message.header.frame_id] = self._push(message, self._duration)
        except DynamicsError as error:
            self.rejected += 1
            self.reason = str(error)
            self._simulator.get_logger().warning(f'external_wrench rejected: {error}',
                                                 throttle_duration_sec=1.0)

    def _on_request(self, request: Any, response: Any) -> Any:
        try:
            duration = 1e-9 * nanoseconds(request.duration)
            if not duration > 0.0:
                raise DynamicsError(f'duration: expected a positive time, found {duration:g} s')
            self._asked.append(self._push(request.wrench, duration))
            response.success = True
        except DynamicsError as error:
            response.message = str(error)
        return response

    def _push(self, message: WrenchStamped, duration: float) -> Push:
        simulator = self._simulator
        frame, x = place(simulator.model, message.header.frame_id)
        force, torque = message.wrench.force, message.wrench.torque
        wrench = np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])
        if not np.isfinite(wrench).all():
            raise DynamicsError(f'wrench on {message.header.frame_id!r}: expected finite numbers, '
                                f'found force {wrench[:3]}, torque {wrench[3:]}')
        period = simulator.timing.period
        begin = max(simulator.tick, round(1e-9 * nanoseconds(message.header.stamp) / period))
        return Push(message, frame, x, wrench, begin, begin + max(1, round(duration / period)))
