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
"""The installed controllers and their ROS parameters, `<controller>.<parameter>`."""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rclpy.node import Node

from flex_control import ControlError, Controller, available_controllers, controller_class
from flex_control.controllers import DEFAULT_CONTROLLER
from flex_control.controllers.parameters import check_all
from flex_dynamics import Model
from flex_ros.message_guard import CALCULATION_ERRORS, shortened
from flex_ros.parameters import NodeError


@dataclass
class ParameterChange:
    """What a set of parameters has changed, and what undoes it.

    selected: name and controller, if the parameter `controller` is set. newly_built: names of
    controllers. gains_before: controllers with their parameters before the change.
    """

    selected: tuple[str, Controller] | None = None
    newly_built: list[str] = field(default_factory=list)
    gains_before: list[tuple[Controller, dict[str, Any]]] = field(default_factory=list)


class InstalledControllers:
    """Builds each controller when it is first asked for, with its parameters of the node.

    parameters: `controller` and those of all controllers, name to default and description, to be
    declared. set_gains: sets parameters of a controller that may be running.
    """

    def __init__(self, node: Node, model: Model,
                 set_gains: Callable[[Controller, dict[str, Any]], None]) -> None:
        self._node, self._model, self._set_gains = node, model, set_gains
        self._classes: dict[str, type[Controller]] = {}
        self._built: dict[str, Controller] = {}
        self.parameters: dict[str, tuple[Any, str]] = {
            'controller': (DEFAULT_CONTROLLER, 'name of an installed controller; a change is a '
                           'bumpless transfer')}
        for name in available_controllers():
            try:
                self._classes[name] = kind = controller_class(name)
            except ControlError as error:      # of another package: the others still work
                node.get_logger().warning(str(error))
                continue
            for parameter in kind.PARAMETERS:
                text = parameter.description + (f', {parameter.unit}' if parameter.unit else '')
                default: Any = (list(parameter.default)
                                if isinstance(parameter.default, tuple) else parameter.default)
                self.parameters[f'{name}.{parameter.name}'] = default, text

    def get(self, name: str, changes: Mapping[str, Any] | None = None) -> Controller:
        """The named controller with its parameters as they are, or with changes; ControlError if
        there is none, or it does not suit this robot."""
        if name not in self._classes:
            controller_class(name)             # raises the error that explains it
        if name not in self._built:
            try:
                self._built[name] = self._classes[name](self._model, self._given(name, changes))
            except (ControlError, *CALCULATION_ERRORS) as error:
                raise ControlError(f'controller {name}: {error}') from None
        return self._built[name]

    def change(self, changes: dict[str, Any]) -> ParameterChange:
        """Set changed parameters, and build the controller that is selected; NodeError, and no
        change, if one is bad.

        Only the controller itself can tell whether its gains are possible for this robot.
        """
        done = ParameterChange()
        try:
            gains = self._sort(changes)
            if 'controller' in changes:
                name = str(changes['controller'])
                new = name not in self._built
                done.selected = name, self.get(name, gains.get(name))
                done.newly_built += [name] if new else []
            for name, given in gains.items():
                controller = self._built.get(name)
                if controller is not None:     # the others get them when they are built
                    before = dict(controller.parameters)
                    self._set_gains(controller, given)
                    done.gains_before.append((controller, before))
        except (ControlError, *CALCULATION_ERRORS) as error:
            self.undo(done)
            raise NodeError(shortened(str(error))) from None
        return done

    def undo(self, change: ParameterChange) -> None:
        """Leave all controllers as they were before the change."""
        for controller, before in change.gains_before:
            self._set_gains(controller, before)
        for name in change.newly_built:
            del self._built[name]

    def _sort(self, changes: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Changes of ROS parameters, by controller; ControlError if one is bad."""
        by_controller: dict[str, dict[str, Any]] = defaultdict(dict)
        for full, value in changes.items():
            if full != 'controller':
                name, _, parameter = full.partition('.')
                by_controller[name][parameter] = value
        for name, given in by_controller.items():
            try:
                check_all(self._classes[name].PARAMETERS, self._given(name, given),
                          self._model.n_joints)
            except ControlError as error:
                raise ControlError(f'{name}.{error}') from None
        return by_controller

    def _given(self, name: str, changes: Mapping[str, Any] | None) -> dict[str, Any]:
        given = {}
        for parameter in self._classes[name].PARAMETERS:
            value = self._node.get_parameter(f'{name}.{parameter.name}').value
            given[parameter.name] = [] if value is None else value      # an empty list has no type
        return {**given, **(changes or {})}
