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
"""The robot's state as a node receives it: checked, in the model's order, deflection included."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState

from flex_description.math import within
from flex_dynamics import DynamicsError, Model
from flex_msgs.msg import FlexState
from flex_ros.cdr.fixed_layout import FixedLayoutReader
from flex_ros.message_fields import nanoseconds
from flex_ros.message_guard import (
    CALCULATION_ERRORS,
    LARGEST,
    DecodeError,
    decode,
    decode_errors,
    is_stamp,
    shortened,
)
from flex_ros.parameters import declare
from flex_ros.polled_subscription import newest_of
from flex_ros.qos import newest

SILENT = 2.0       # s of wall time without a state until diagnostics say so


class State(NamedTuple):
    """q, v (n,) at `stamp_ns`. static: only joints were measured, the rest is static sag."""

    stamp_ns: int
    q: np.ndarray
    v: np.ndarray
    static: bool


class StateSubscription:
    """Subscribes to `flex_state` or `joint_states` and calls back with each good state.

    period: ns between the stamps of two states that are wanted; those between cost next to
    nothing. at_once: listen from the first, else when `listen` is called. A message of another
    robot, with NaN, with numbers beyond LARGEST, or with arrays of wrong length is counted in
    `rejected`, warned of once a second, and goes no further; so is one that cannot be decoded,
    counted in the node's DecodeErrors.
    """

    def __init__(self, node: Node, model: Model, callback: Callable[[State], None],
                 group: CallbackGroup | None = None, period: int = 0,
                 at_once: bool = True) -> None:
        topic = declare(node, 'state_topic', 'flex_state', 'where the state comes from; from '
                        'joint_states alone the static deflection is taken',
                        choices=('flex_state', 'joint_states'), fixed=True)
        self._node, self._model, self._callback = node, model, callback
        self._period, self._last = period, -period
        self._static = topic == 'joint_states'
        self._names = list(model.joint_names if self._static else model.names)
        self._known: list[str] = []
        self._order: np.ndarray | None = None
        self._reader = FixedLayoutReader(('position', 'velocity'))
        self.received = 0
        self._heard = time.monotonic()
        self.rejected = 0
        self._errors = decode_errors(node)
        self._kind: Any = JointState if self._static else FlexState
        self._topic, self._group = topic, group
        self._subscription: Subscription | None = None
        self.listen(at_once)

    @property
    def listening(self) -> bool:
        return self._subscription is not None

    @property
    def problem(self) -> str:
        """That states have come and do so no longer, for diagnostics; empty while they do. A
        simulator that is paused sends states too."""
        silent = time.monotonic() - self._heard
        if not (self.received and self.listening) or silent < SILENT:
            return ''
        return f'no state for {silent:.1f} s on {self._topic}'

    def listen(self, on: bool) -> None:
        """Begin to listen, or leave off: a thousand states a second cost those who send them,
        too."""
        if on and self._subscription is None:
            self._heard = time.monotonic()
            self._subscription = self._node.create_subscription(
                self._kind, self._topic, self._receive, newest(), callback_group=self._group,
                raw=True)
        elif not on and self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None

    def look(self) -> None:
        """Read the newest state in the queue, if nobody waits for them."""
        data = newest_of(self._subscription)
        if data is not None:
            self._receive(data)

    def _receive(self, data: bytes) -> None:
        self._heard = time.monotonic()
        stamp_ns = self._reader.stamp(data)
        if stamp_ns is not None and 0 < stamp_ns - self._last < self._period:
            self.received += 1
            return
        try:
            state = self._read(data)
        except DecodeError as error:
            self._errors.count(self._topic, error)
            return
        except CALCULATION_ERRORS as error:
            self.reject(error)
            return
        self.received += 1
        if not 0 < state.stamp_ns - self._last < self._period:   # one sent again is wanted again
            self._last = state.stamp_ns
            self._callback(state)

    def reject(self, error: Exception) -> None:
        """Count a state that cannot be used, also one that passed all checks here."""
        self.rejected += 1
        self._node.get_logger().warning(f'state ignored: {shortened(str(error))}',
                                        throttle_duration_sec=1.0)

    def _read(self, data: bytes) -> State:
        found = self._reader.read(data)
        if found is None:
            found = self._read_message(data, decode(data, self._kind))
        stamp_ns, (q, v) = found
        if not is_stamp(stamp_ns):
            raise DynamicsError(f'header.stamp: expected a time from zero on, found {stamp_ns} ns')
        q = self._numbers(q, 'position')
        v = self._numbers(v, 'velocity') if len(v) else np.zeros(len(q))
        if self._static:
            sag = self._model.statics(q)[0]
            speeds = np.zeros(self._model.n)
            speeds[:len(v)] = v
            return State(stamp_ns, sag, speeds, True)
        return State(stamp_ns, q, v, False)

    def _read_message(self, data: bytes, message: Any) -> tuple[int, list[np.ndarray]]:
        """A message with other names or lengths than the one before: all of it is checked."""
        names = list(message.name)
        missing = sorted(set(self._names) - set(names))
        if missing or len(set(names)) != len(names):
            what = f'{missing[0]!r} is missing' if missing else 'a name comes twice'
            raise DynamicsError(f'expected the {len(self._names)} coordinates of '
                                f'{self._model.robot.name}, but {what}')
        unknown = sorted(set(names) - set(self._names))
        if unknown and not self._static:
            raise DynamicsError(f'unknown coordinate {unknown[0]!r}')
        self._known = names
        self._order = (None if names == self._names
                       else np.array([names.index(name) for name in self._names]))
        self._reader.learn(data, message)
        return (nanoseconds(message.header.stamp),
                [np.array(message.position), np.array(message.velocity)])

    def _numbers(self, values: np.ndarray, what: str) -> np.ndarray:
        if len(values) != len(self._known):
            raise DynamicsError(f'{what}: expected {len(self._known)} numbers, one a name, found '
                                f'{len(values)}')
        vector = values if self._order is None else values[self._order]
        if not within(vector):
            at = int(np.flatnonzero(~(np.abs(vector) <= LARGEST))[0])
            raise DynamicsError(f'{what}: expected finite numbers of at most {LARGEST:g}, found '
                                f'{vector[at]:g} for {self._names[at]}')
        return vector
