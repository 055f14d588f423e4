"""The robot's state as a node receives it: checked, in the model's order, deflection included."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from flex_dynamics import DynamicsError, Model
from flex_dynamics.nodes.common import declare, nanoseconds
from flex_msgs.msg import FlexState

DEPTH = 100      # of publishers: a recorder that falls behind for a moment loses nothing


@dataclass(frozen=True)
class State:
    """q, v (n,) at `time` (ns). static: only joints were measured, the rest is static sag."""

    time: int
    q: np.ndarray
    v: np.ndarray
    static: bool


class StateInput:
    """Subscribes to `flex_state` or `joint_states` and calls back with each good state.

    A message of another robot, with NaN, or with arrays of wrong length is counted in `rejected`,
    warned of once a second, and goes no further.
    """

    def __init__(self, node: Node, model: Model, callback: Callable[[State], None],
                 group: CallbackGroup | None = None) -> None:
        topic = declare(node, 'state_topic', 'flex_state', 'where the state comes from; from '
                        'joint_states alone the static deflection is taken',
                        choices=('flex_state', 'joint_states'), fixed=True)
        self._node, self._model, self._callback = node, model, callback
        self._static = topic == 'joint_states'
        self._names = list(model.names[:model.n_joints] if self._static else model.names)
        self._known: list[str] = []
        self._order: np.ndarray | None = None
        self.received = 0
        self.rejected = 0
        self.subscription = node.create_subscription(
            JointState if self._static else FlexState, topic, self._receive,
            QoSProfile(depth=1), callback_group=group)     # only the newest state counts

    def _receive(self, message: Any) -> None:
        try:
            state = self._read(message)
        except DynamicsError as error:
            self.rejected += 1
            self._node.get_logger().warning(f'state ignored: {error}', throttle_duration_sec=1.0)
            return
        self.received += 1
        self._callback(state)

    def _read(self, message: Any) -> State:
        if message.name != self._known:
            missing = sorted(set(self._names) - set(message.name))
            if missing or len(set(message.name)) != len(message.name):
                what = f'{missing[0]!r} is missing' if missing else 'a name comes twice'
                raise DynamicsError(f'expected the {len(self._names)} coordinates of '
                                    f'{self._model.robot.name}, but {what}')
            unknown = sorted(set(message.name) - set(self._names))
            if unknown and not self._static:
                raise DynamicsError(f'unknown coordinate {unknown[0]!r}')
            self._known = list(message.name)
            self._order = np.array([self._known.index(name) for name in self._names])
        q = self._numbers(message.position, 'position')
        v = (self._numbers(message.velocity, 'velocity') if len(message.velocity)
             else np.zeros(len(q)))
        if self._static:
            sag = self._model.statics(q)[0]
            speeds = np.zeros(self._model.n)
            speeds[:len(v)] = v
            return State(nanoseconds(message.header.stamp), sag, speeds, True)
        return State(nanoseconds(message.header.stamp), q, v, False)

    def _numbers(self, values: Any, what: str) -> np.ndarray:
        if len(values) != len(self._known):
            raise DynamicsError(f'{what}: expected {len(self._known)} numbers, one a name, found '
                                f'{len(values)}')
        vector = np.array(values)[self._order]
        if not np.isfinite(vector).all():
            raise DynamicsError(f'{what}: expected finite numbers, found {vector}')
        return vector
