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
"""The control node as the viewer sees it: its settings, its set-points, its trajectories."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from control_msgs.msg import JointTrajectoryControllerState
from rcl_interfaces.msg import Parameter, ParameterDescriptor, ParameterType, ParameterValue
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    ListParameters,
    SetParameters,
)
from rclpy.node import Node
from rclpy.qos import QoSProfile
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from flex_description.math import within
from flex_viz.browser.goals import point_to_point
from flex_viz.browser.moment import ControlSettings, Gain
from flex_viz.nodes.polled_state import PolledMessage
from flex_viz.shown_text import plain

SETTINGS = ('controller', 'shaper', 'shaper_modes')
SHAPERS = ('none', 'zv', 'zvd', 'zvdd', 'ei')
NOT_CONTROLLERS = ('limits', 'constraints', 'trajectory', 'drive', 'qos_overrides')
MOST_GAINS = 6           # of a controller, the first ones it declares
# An empty list has no type of its own: rclpy takes it for one of bytes.
NUMBERS = (ParameterType.PARAMETER_DOUBLE, ParameterType.PARAMETER_DOUBLE_ARRAY,
           ParameterType.PARAMETER_NOT_SET, ParameterType.PARAMETER_BYTE_ARRAY)
MOST_NUMBERS, LARGEST = 200, 1e12      # of a gain


class ControlLink:
    """Talks to the node `control`.

    answer: takes the text that says what came of a request; show: takes its settings.
    """

    def __init__(self, node: Node, joints: Sequence[str], answer: Callable[[str], None],
                 show: Callable[[ControlSettings], None]) -> None:
        self._joints, self._answer, self._show = list(joints), answer, show
        self._set = node.create_client(SetParameters, 'control/set_parameters')
        self._get = node.create_client(GetParameters, 'control/get_parameters')
        self._list = node.create_client(ListParameters, 'control/list_parameters')
        self._describe = node.create_client(DescribeParameters, 'control/describe_parameters')
        self._reports = PolledMessage(node, JointTrajectoryControllerState,
                                      'control/controller_state')
        self._trajectory = node.create_publisher(JointTrajectory, 'control/joint_trajectory',
                                                 QoSProfile(depth=1))
        self._names: list[str] | None = None      # of its parameters
        self._kinds: dict[str, int] = {}          # of those that are shown as gains
        self._asked = False
        self._set_points: np.ndarray | None = None

    # Set-points and trajectories ------------------------------------------------------------

    def set_points(self) -> np.ndarray | None:
        """The newest set-points of the joints (m,); None: none are known."""
        if (message := self._reports.take()) is not None:
            known = dict(zip(message.joint_names, message.reference.positions))
            if known.keys() >= set(self._joints):
                values = np.array([known[name] for name in self._joints])
                if within(values):
                    self._set_points = values
        return self._set_points

    def go(self, start: np.ndarray | None, goal: np.ndarray, span: float, name: str) -> None:
        """Send a motion from `start` (m,) to `goal` (m,), which has a name, in `span` s."""
        if not self._trajectory.get_subscription_count():
            self._answer(f'no controller listens on {self._trajectory.topic_name}')
            return
        if start is None:
            self._answer('no state received yet')
            return
        message = JointTrajectory(joint_names=self._joints)
        for at, *rows in zip(*point_to_point(start, goal, span)):
            point = JointTrajectoryPoint(**{kind: row.tolist() for kind, row in zip(
                ('positions', 'velocities', 'accelerations'), rows)})
            point.time_from_start.sec, point.time_from_start.nanosec = divmod(
                round(1e9 * at), 10**9)
            message.points.append(point)
        self._trajectory.publish(message)
        self._answer(f'on the way to {plain(name, 50)}, {span:.3g} s')

    # Parameters -----------------------------------------------------------------------------

    def look(self) -> None:
        """Ask for the settings, once the node is there."""
        if not self._asked and self._list.service_is_ready() and self._get.service_is_ready():
            self._asked = True
            self._call(self._list, ListParameters.Request(), self._listed)

    def _listed(self, response: Any) -> None:
        self._names = list(response.result.names)
        if set(SETTINGS) <= set(self._names):
            self._ask_values()

    def _ask_values(self) -> None:
        self._call(self._get, GetParameters.Request(names=list(SETTINGS)), self._got_settings)

    def _got_settings(self, response: Any) -> None:
        if len(response.values) != len(SETTINGS):
            return
        controller, shaper, modes = response.values
        name = controller.string_value
        gains = [one for one in self._names or [] if one.startswith(f'{name}.')]

        def described(reply: Any) -> None:
            kept = [one for one in reply.descriptors if one.type in NUMBERS][:MOST_GAINS]
            self._kinds = {one.name: one.type for one in kept}

            def told(values: Any) -> None:
                self._show(ControlSettings(
                    name, self._controllers(name), shaper.string_value,
                    tuple(dict.fromkeys((*SHAPERS, shaper.string_value))),
                    int(modes.integer_value), _gains(name, kept, values.values)))

            self._call(self._get, GetParameters.Request(names=[one.name for one in kept]), told)

        if gains:
            self._call(self._describe, DescribeParameters.Request(names=gains), described)
        else:
            self._show(ControlSettings(name, self._controllers(name), shaper.string_value,
                                       SHAPERS, int(modes.integer_value)))

    def _controllers(self, current: str) -> tuple[str, ...]:
        """Those whose parameters the node has."""
        groups = {one.partition('.')[0] for one in self._names or [] if '.' in one}
        return tuple(sorted((groups | {current}) - set(NOT_CONTROLLERS)))

    def select(self, name: str, text: str) -> None:
        """Set a parameter to what a page sent as text."""
        try:
            value = self._value(name, text)
        except ValueError as error:
            self._answer(f'{name}: {error}')
            return
        if not self._set.service_is_ready():
            self._answer(f'no control node answers on {self._set.srv_name}')
            return

        def done(response: Any) -> None:
            refused = [one.reason or 'refused' for one in response.results if not one.successful]
            self._answer(refused[0] if refused else f'{name} is set')
            self._ask_values()

        self._call(self._set, SetParameters.Request(parameters=[Parameter(
            name=name, value=value)]), done)

    def _value(self, name: str, text: str) -> ParameterValue:
        if name == 'shaper_modes':
            return ParameterValue(type=ParameterType.PARAMETER_INTEGER, integer_value=int(text))
        if name in SETTINGS:
            return ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=text)
        if name not in self._kinds:
            raise ValueError('expected a gain of the controller that runs')
        try:
            numbers = [float(word) for word in text.replace(',', ' ').split()]
        except ValueError:
            raise ValueError('expected numbers, with commas between them') from None
        if len(numbers) > MOST_NUMBERS or not all(abs(one) <= LARGEST for one in numbers):
            raise ValueError(f'expected at most {MOST_NUMBERS} numbers up to {LARGEST:g}')
        if self._kinds[name] == ParameterType.PARAMETER_DOUBLE:
            if len(numbers) != 1:
                raise ValueError(f'expected one number, found {len(numbers)}')
            return ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=numbers[0])
        return ParameterValue(type=ParameterType.PARAMETER_DOUBLE_ARRAY,
                              double_array_value=numbers)

    def _call(self, client: Any, request: Any, done: Callable[[Any], None]) -> None:
        def received(future: Any) -> None:
            try:
                response = future.result()
            except Exception as error:      # a malformed response
                self._answer(f'{client.srv_name}: {error}')
                return
            done(response)

        client.call_async(request).add_done_callback(received)


def _gains(controller: str, kept: list[ParameterDescriptor],
           values: Sequence[ParameterValue]) -> tuple[Gain, ...]:
    found = []
    for one, value in zip(kept, values):
        numbers = (list(value.double_array_value)
                   if value.type == ParameterType.PARAMETER_DOUBLE_ARRAY else
                   [value.double_value] if value.type == ParameterType.PARAMETER_DOUBLE else [])
        found.append(Gain(one.name.removeprefix(f'{controller}.'),
                          ', '.join(f'{number:g}' for number in numbers), one.description))
    return tuple(found)
