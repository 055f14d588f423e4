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
"""The topic `payload_estimate`: what the robot carries, for controllers that take it over."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np
from rclpy.node import Node

from flex_control import Controller
from flex_control.loop.payload_gate import OfferedPayload, PayloadGate
from flex_control.loop.stamped_input import StampedInput
from flex_dynamics import DynamicsError, Model
from flex_msgs.msg import PayloadEstimate
from flex_ros.message_fields import nanoseconds
from flex_ros.message_guard import is_stamp, shortened, subscribe
from flex_ros.parameters import declare
from flex_ros.qos import newest

NAME = 'estimated payload'
TOPIC = 'payload_estimate'
LEAST = 1e-9             # kg: lighter ones are no payload for the model
SILENT = 1.0             # s of the states' clock after which silence is reported


class PayloadInput:
    """Takes estimates from the topic, checks them, and gives the controller the model with what
    the gate lets through.

    In lockstep the estimate of the period in which a state falls is waited for, so that a run does
    not depend on when messages arrive.
    """

    def __init__(self, node: Node, model: Model, lockstep: bool,
                 arrived: Callable[[], None]) -> None:
        self._node, self._model, self._arrived = node, model, arrived
        self._on = declare(node, 'payload.source', 'none', 'where the payload is known from that '
                           'the robot carries and its description does not have: none, or the '
                           'topic payload_estimate; pd and pid take it over',
                           choices=('none', 'topic'), fixed=True) == 'topic'
        largest = declare(node, 'payload.largest_mass', 10.0, 'kg; heavier estimates are refused',
                          lower=1e-3, upper=1e6, fixed=True)
        offset = declare(node, 'payload.largest_offset', 0.3, 'm from the frame; estimates with a '
                         'centre beyond are refused', lower=1e-4, upper=1e3, fixed=True)
        rate = declare(node, 'payload.rate', 100.0, 'lockstep: estimates a second that the '
                       'payload estimator sends', lower=0.1, upper=1e4, fixed=True)
        self._gate = PayloadGate(largest, offset)
        self._values = StampedInput(lockstep, round(1e9 / rate), round(1e9 * SILENT))
        self._lockstep = lockstep
        self._frame = ''
        self._used_ns: int | None = None
        self._heard_ns = 0
        self._carried: Model | None = None       # by the controllers, None: the description's
        self._told: set[str] = set()
        self.received = 0
        self.rejected = 0
        self.reason = ''
        if self._on:
            subscribe(node, PayloadEstimate, TOPIC, self._receive, newest(10))

    def restart(self) -> None:
        """Time was set back."""
        self._values.clear()
        self._used_ns = None

    def missing(self, stamp_ns: int) -> str:
        """What a state at `stamp_ns` waits for, in lockstep; empty: nothing."""
        if not (self._on and self._lockstep) or self._values.at(stamp_ns) is not None:
            return ''
        return (f'no {TOPIC} for the state at {1e-9 * stamp_ns:.4f} s; is the payload estimator '
                'there, and payload.rate its rate?')

    def _receive(self, message: PayloadEstimate) -> None:
        self.received += 1
        stamp_ns, frame = nanoseconds(message.header.stamp), message.header.frame_id
        body = message.inertia
        covariance = np.array(message.covariance)
        problem = ''
        if not is_stamp(stamp_ns):
            problem = 'header.stamp: expected a time from zero on'
        elif not np.isfinite(covariance).all() or covariance[0] < 0.0:
            problem = 'covariance: expected finite numbers, and a variance of at least zero'
        elif not self._frame or frame != self._frame:
            problem = self._frame_problem(frame)
        if problem:
            self._reject(problem)
            return
        self._values.put(stamp_ns, OfferedPayload(
            1e-9 * stamp_ns, body.m, np.array([body.com.x, body.com.y, body.com.z]),
            float(np.sqrt(covariance[0]))))
        self._arrived()

    def _frame_problem(self, frame: str) -> str:
        """Why a payload cannot be on this frame; the first that it can be on stays the frame."""
        if self._frame:
            return (f'header.frame_id: expected {self._frame}, as before, found '
                    f'{shortened(repr(frame), 60)}')
        try:
            self._model.pose(np.zeros(self._model.n), frame)
        except DynamicsError as error:
            return f'header.frame_id: {shortened(str(error))}'
        self._frame = frame
        return ''

    def _reject(self, problem: str) -> None:
        self.rejected += 1
        self.reason = problem
        self._node.get_logger().warning(f'{TOPIC} ignored: {problem}', throttle_duration_sec=1.0)

    def apply(self, stamp_ns: int, controller: Controller) -> None:
        """Let the controller carry what is believed at the state of `stamp_ns`."""
        if not self._on:
            return
        found = self._values.at(stamp_ns)
        if found is not None and found[0] != self._used_ns:
            self._used_ns = self._heard_ns = found[0]
            if not self._gate.offer(found[1]):
                self.reason = self._gate.reason
        if self._gate.advance(1e-9 * stamp_ns):
            self._carried = self._model_with(self._gate.payload)
        if self._carried is None or controller.model is self._carried:
            return
        if not controller.knows_payload:
            name = type(controller).__name__
            if name not in self._told and self._gate.target[0] > 0.0:
                self._told.add(name)
                self._node.get_logger().warning(f'{name} does not take the estimated payload '
                                                'over; pd and pid do')
            return
        controller.carry(self._carried)

    def _model_with(self, payload: np.ndarray) -> Model:
        mass = float(payload[0])
        if mass <= LEAST:
            return self._model
        return self._model.with_payload(NAME, self._frame, mass, payload[1:] / mass)

    def status(self, stamp_ns: int) -> tuple[str, dict[str, object]]:
        """A warning, or an empty text, and figures for diagnostics."""
        if not self._on:
            return '', {}
        mass, *moment = self._gate.payload
        silent = 1e-9 * (stamp_ns - self._heard_ns)
        problem = ''
        if not self.received:
            problem = f'nothing on {TOPIC} yet: the payload of the description is taken'
        elif silent > SILENT:
            problem = f'nothing on {TOPIC} for {silent:.1f} s: the last payload is kept'
        centre = ', '.join(f'{one / mass:.3f}' for one in moment) if mass > LEAST else 'none'
        return problem, {
            'payload taken over (kg)': f'{mass:.3f}',
            'its centre (m)': centre,
            'payload estimates received': self.received,
            'payload estimates rejected': self.rejected,
            'payload estimates not believed': self._gate.refused,
            'last payload estimate not taken': self.reason,
        }
