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
"""Model terms from the topic of the dynamics node."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np
from rclpy.node import Node
from rclpy.subscription import Subscription

from flex_control.loop.stamped_input import StampedInput
from flex_description.math import within
from flex_dynamics import Model, Terms
from flex_msgs.msg import DynamicsTerms
from flex_ros.cdr.fixed_layout import FixedLayoutReader
from flex_ros.message_fields import nanoseconds
from flex_ros.message_guard import (
    LONGEST,
    DecodeError,
    decode,
    decode_errors,
    is_stamp,
)
from flex_ros.qos import newest

LARGEST = 1e18      # of any term, in SI units
FIELDS = ('mass', 'coriolis', 'stiffness', 'damping', 'gravity', 'input')
UNUSED = ('constraint_jacobian', 'constraint_bias', 'constraint_error', 'effort', 'multipliers')


class TermsInput:
    """Subscribes to `dynamics_terms` once they are wanted, and checks what comes.

    Terms of another robot, of wrong size, with NaN, with numbers beyond LARGEST or with a mass
    matrix that no robot has are counted in `rejected`, warned of once a second, and go no
    further.
    """

    def __init__(self, node: Node, model: Model, values: StampedInput,
                 arrived: Callable[[], None]) -> None:
        self._node, self._model, self._arrived = node, model, arrived
        self._names = list(model.names)
        n = model.n
        self._shapes = ((n, n), (n, n), (n, n), (n, n), (n,), (n, model.n_joints))
        self._last, self._taken = Terms(*map(np.zeros, self._shapes)), False
        self._size = sum(array.nbytes for array in self._last)
        self._errors = decode_errors(node)
        self._subscription: Subscription | None = None
        self._reader = FixedLayoutReader((*FIELDS, 'position', 'velocity', *UNUSED))
        self.values = values
        self.rejected = 0

    def want(self) -> None:
        """Listen from now on."""
        if self._subscription is None:
            self._subscription = self._node.create_subscription(
                DynamicsTerms, 'dynamics_terms', self._receive, newest(size=self._size), raw=True)

    def _receive(self, data: bytes) -> None:
        found = self._reader.read(data)
        if found is None:
            try:
                message = decode(data, DynamicsTerms, max(LONGEST, 2 * self._size))
            except DecodeError as error:
                self._errors.count('dynamics_terms', error)
                return
            problem = self._misfit(message)
            if problem:
                self._reject(problem)
                return
            self._reader.learn(data, message)
            found = nanoseconds(message.header.stamp), [
                np.array(getattr(message, name)) for name in FIELDS]
        stamp_ns, values = found
        if not is_stamp(stamp_ns):
            self._reject(f'header.stamp: expected a time from zero on, found {stamp_ns} ns')
            return
        terms = []
        for name, array, shape, last in zip(FIELDS, values, self._shapes, self._last):
            # Controllers know K and D again by `is`.
            if self._taken and array.tobytes() == last.tobytes():
                terms.append(last)
                continue
            if not within(array, LARGEST):
                self._reject(f'{name}: expected finite numbers of at most {LARGEST:g}')
                return
            terms.append(array.reshape(shape))
            if name == 'mass' and not _positive_definite(terms[-1]):
                self._reject('mass: expected a positive definite matrix')
                return
        self._last, self._taken = Terms(*terms), True
        self.values.put(stamp_ns, self._last)
        self._arrived()

    def _reject(self, problem: str) -> None:
        self.rejected += 1
        self._node.get_logger().warning(f'dynamics_terms ignored: {problem}',
                                        throttle_duration_sec=1.0)

    def _misfit(self, message: DynamicsTerms) -> str:
        """Why these are no terms of this robot, or empty."""
        n, joints = self._model.n, self._model.n_joints
        if list(message.name) != self._names or message.joint_count != joints:
            return (f'name: expected the {n} coordinates of {self._model.robot.name}, found '
                    f'{len(message.name)} others')
        for name, size in zip(FIELDS, (n * n, n * n, n * n, n * n, n, n * joints)):
            if len(getattr(message, name)) != size:
                return f'{name}: expected {size} numbers, found {len(getattr(message, name))}'
        return ''


def _positive_definite(matrix: np.ndarray) -> bool:
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True
