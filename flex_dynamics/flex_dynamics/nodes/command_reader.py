"""Joint commands as they come in: their bytes, and which state they answer."""
from __future__ import annotations

import numpy as np
from sensor_msgs.msg import JointState

from flex_dynamics.nodes.effort_gate import CommandError
from flex_dynamics.nodes.simulator_parameters import Timing
from flex_ros.cdr.fixed_layout import FixedLayoutReader
from flex_ros.message_fields import nanoseconds
from flex_ros.message_guard import decode


class CommandReader:
    """Reads sensor_msgs/JointState; quickly if it is like the one before."""

    def __init__(self) -> None:
        self._reader = FixedLayoutReader(('effort', 'position', 'velocity'))
        self._names: list[str] = []

    def read(self, data: bytes) -> tuple[list[str], int, list[np.ndarray]]:
        """Names, stamp (ns), and effort, position and velocity; DecodeError if it is none."""
        found = self._reader.read(data)
        if found is None:
            message = decode(data, JointState)
            self._names = list(message.name)
            self._reader.learn(data, message)
            found = nanoseconds(message.header.stamp), [np.array(values) for values in (
                message.effort, message.position, message.velocity)]
        return self._names, *found


def is_copy(when: int, tick: int, timing: Timing, answered: bool) -> bool:
    """Whether a command is the answer, come again, to a state that was sent twice (lockstep)."""
    if when == timing.stamp(tick):
        return answered
    return when == timing.stamp(max(tick - 1, 0))


def answered_tick(when: int, tick: int, last: int, timing: Timing) -> int:
    """The period whose state a command with the stamp `when` (ns) answers.

    tick: the present period; last: the one that the command before answered. CommandError if the
    command comes too late, too early or out of order.
    """
    now = timing.stamp(tick)
    if timing.lockstep:
        if when != now:
            raise CommandError(f'header.stamp: expected that of the last state, {now} ns, found '
                               f'{when} ns')
        return tick
    if when == 0:                # by hand, without a stamp
        return tick
    answered = round(when * 1e-9 / timing.period)
    if answered > tick:
        raise CommandError(f'header.stamp: {when} ns is after the present, {now} ns')
    if (tick - answered) * timing.period > timing.command_timeout:
        raise CommandError(f'header.stamp: {when} ns is more than {timing.command_timeout:g} s '
                           'old')
    if answered < last:
        raise CommandError(f'header.stamp: {when} ns is before that of the command before')
    return answered
