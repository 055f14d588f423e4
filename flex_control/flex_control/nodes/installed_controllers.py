"""The installed controllers and their ROS parameters, `<controller>.<parameter>`."""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from rclpy.node import Node

from flex_control import ControlError, Controller, available_controllers, controller_class
from flex_control.controllers.parameters import check_all
from flex_dynamics import Model
from flex_ros.message_guard import CALCULATION_ERRORS


class InstalledControllers:
    """Builds each controller when it is first asked for, with its parameters of the node.

    parameters: those of all controllers, name to default and description, to be declared.
    """

    def __init__(self, node: Node, model: Model) -> None:
        self._node, self._model = node, model
        self._classes: dict[str, type[Controller]] = {}
        self._built: dict[str, Controller] = {}
        self.parameters: dict[str, tuple[Any, str]] = {}
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
        there is none, or it cannot be for this robot."""
        if name not in self._classes:
            controller_class(name)             # raises the error that explains it
        if name not in self._built:
            try:
                self._built[name] = self._classes[name](self._model, self._given(name, changes))
            except (ControlError, *CALCULATION_ERRORS) as error:
                raise ControlError(f'controller {name}: {error}') from None
        return self._built[name]

    def sort(self, changes: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Changes of ROS parameters, by controller; ControlError if one is bad."""
        sorted_changes: dict[str, dict[str, Any]] = defaultdict(dict)
        for full, value in changes.items():
            if full in self.parameters:
                name, _, parameter = full.partition('.')
                sorted_changes[name][parameter] = value
        for name, given in sorted_changes.items():
            try:
                check_all(self._classes[name].PARAMETERS, self._given(name, given),
                          self._model.n_joints)
            except ControlError as error:
                raise ControlError(f'{name}.{error}') from None
        return sorted_changes

    def built(self, name: str) -> Controller | None:
        """The named controller, if it was asked for before."""
        return self._built.get(name)

    def forget(self, name: str) -> None:
        """Build the named controller anew when it is asked for again."""
        self._built.pop(name, None)

    def _given(self, name: str, changes: Mapping[str, Any] | None) -> dict[str, Any]:
        given = {}
        for parameter in self._classes[name].PARAMETERS:
            value = self._node.get_parameter(f'{name}.{parameter.name}').value
            given[parameter.name] = [] if value is None else value      # an empty list has no type
        return {**given, **(changes or {})}
