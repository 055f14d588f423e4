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
"""Sets the gains of the drives' own loops to those that the controller needs."""
from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.task import Future

from flex_control import Controller
from flex_control.design.gains import joint_inertia
from flex_dynamics import Model
from flex_ros.parameters import NodeError, declare

DriveGains = tuple[np.ndarray, np.ndarray]      # stiffness and damping, each (n_joints,)
PATIENCE = 3.0     # s of wall time until an unanswered request is sent again


class DriveClient:
    """Sets the parameters drive.stiffness and drive.damping of the node `drive_node`, which has
    the drives; without such a node the gains are this node's own parameters drive.*.

    A controller with less drive damping than it was designed for may be unstable; more is safe.
    So when another controller takes over, the drives first get the larger gains of both; then the
    controller changes, and the drives get those of the new one.
    """

    def __init__(self, node: Node, model: Model, arrived: Callable[[], None]) -> None:
        self._node, self._arrived = node, arrived
        self._has: DriveGains | None = declare_drives(node, model)
        self._other = declare(node, 'drive_node', '', 'node whose parameters drive.stiffness and '
                              'drive.damping are set to what the controller asks for; empty: none',
                              fixed=True)
        self._client = None
        self._answer: Future | None = None
        self._asked = 0.0
        self._doubt = False      # whether the drives have what they had: a request went unanswered
        self._wanted: Controller | None = None
        self._runs: Controller | None = None        # that has the robot
        self._fallback: Controller | None = None    # that holds the robot, if a fail-safe acts
        self._problem = ''
        if self._other:
            self._has = None
            self._client = node.create_client(
                SetParametersAtomically, f'{self._other}/set_parameters_atomically')

    def want(self, controller: Controller) -> None:
        """Give the drives the gains of this controller, and tell it what they have."""
        self._wanted = controller
        if self._client is None:
            assert self._has is not None
            controller.set_drives(*self._has)
        else:
            self._problem = ''
            controller.set_drives(*controller.drive_gains())
            self.go_on()

    def runs(self, controller: Controller) -> None:
        """This controller has the robot now: the drives need not be as the one before asked."""
        self._runs, self._fallback = controller, None
        self.go_on()

    def restart(self) -> None:
        """The robot may be another one: ask again."""
        if self._client is not None:
            self._has, self._problem = None, ''
            self._forget()
            self.go_on()

    def missing(self, controller: Controller) -> str:
        """Why the drives lack gains that this controller needs; empty if they have them."""
        if self._client is None or _covers(self._has, controller.drive_gains()):
            return ''
        return self._problem or (f'the drives have not taken their gains yet; is there a node '
                                 f'{self._other!r} (drive_node)?')

    def tell_fallback(self, controller: Controller) -> None:
        """Let drives that damp, with whatever gains, do all the damping of this one, and ask for
        as much as it needs: speeds fed back over a topic beside them could make the robot
        unstable."""
        damps = self._has is None or self._has[1].any()
        none = np.zeros(controller.model.n_joints)
        controller.set_drives(*(controller.drive_gains() if damps else (none, none)))
        self._runs, self._fallback = None, controller
        self.go_on()

    def go_on(self) -> None:
        """Ask the node that has the drives, once it is there; call it now and then."""
        wanted, client = self._wanted, self._client
        if self._answer is not None and time.monotonic() - self._asked > PATIENCE:
            self._forget()
        if wanted is None or client is None or self._answer is not None or self._problem:
            return
        if not client.service_is_ready():
            self._doubt = True       # a node that replaces it has gains of its own
            return
        gains = wanted.drive_gains()
        if self._has is not None and self._runs is not wanted:
            gains = _larger(self._has, gains)
        if self._fallback is not None:
            gains = _larger(gains, self._fallback.drive_gains())
        if (self._has is not None and not self._doubt
                and all(map(np.array_equal, self._has, gains))):
            return
        self._answer = client.call_async(SetParametersAtomically.Request(
            parameters=[parameter.to_parameter_msg() for parameter in parameters_of(gains)]))
        self._asked = time.monotonic()
        self._answer.add_done_callback(lambda answer: self._on_answer(answer, gains))

    def _forget(self) -> None:
        """Wait no longer for an answer: ask again. If it was only late, the drives take the newer
        gains after the older ones."""
        if self._client is not None and self._answer is not None:
            answer, self._answer, self._doubt = self._answer, None, True
            self._client.remove_pending_request(answer)

    def _on_answer(self, answer: Future, gains: DriveGains) -> None:
        if answer is not self._answer:
            return               # it came after it was given up
        self._answer = None
        result = answer.result().result
        if not result.successful:
            self._problem = f'{self._other} refused the gains of its drives: {result.reason}'
            self._node.get_logger().error(self._problem)
            return
        self._has, self._doubt = gains, False
        self.go_on()         # another controller may be wanted by now
        self._arrived()


def parameters_of(gains: DriveGains) -> list[Parameter]:
    """The gains as parameters of the simulator."""
    stiffness, damping = gains
    return [Parameter('drive.stiffness', value=stiffness.tolist()),
            Parameter('drive.damping', value=damping.tolist()),
            Parameter('drive.bandwidth', value=0.0)]     # it would stand in for no damping


def _larger(one: DriveGains, other: DriveGains) -> DriveGains:
    return np.maximum(one[0], other[0]), np.maximum(one[1], other[1])


def _covers(has: DriveGains | None, wanted: DriveGains) -> bool:
    return has is not None and all(map(np.array_equal, has, _larger(has, wanted)))


def declare_drives(node: Node, model: Model) -> DriveGains:
    """Stiffness and damping (n_joints,) of the drives' own loops, as the simulator has them."""
    def per_joint(name: str, description: str) -> np.ndarray:
        given = declare(node, name, [], description, lower=0.0, fixed=True)
        if given.size not in (0, 1, model.n_joints):
            raise NodeError(f'parameter {name}: expected none, 1 or {model.n_joints} numbers (one '
                            f'a joint), found {given.size}')
        return given if given.size > 1 else np.full(model.n_joints, given.sum())

    about = ('that the drives close by themselves about the reference; the control law is then '
             'the sum of both; of no effect with drive_node')
    stiffness = per_joint('drive.stiffness', f'N m/rad or N/m, {about}')
    damping = per_joint('drive.damping', f'N m s/rad or N s/m, {about}')
    bandwidth = declare(node, 'drive.bandwidth', 0.0, "rad/s; where drive.damping is zero: this "
                        "times the joint's largest inertia", lower=0.0, upper=1e4, fixed=True)
    if not damping.any():
        damping = bandwidth * joint_inertia(model)
    return stiffness, damping
