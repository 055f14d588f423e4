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
"""Controllers by name: those of this package and those that other packages install.

A package adds a controller by an entry point of the group `flex_control.controllers` that names a
subclass of `Controller`.
"""
from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from flex_control.controllers.base import Controller
from flex_control.controllers.pd import PD
from flex_control.errors import ControlError
from flex_description.suggestion import nearest
from flex_dynamics import Model

GROUP = 'flex_control.controllers'
DEFAULT_CONTROLLER = 'pid'      # that suits every robot: see doc/pid.md

__all__ = ['DEFAULT_CONTROLLER', 'PD', 'Controller', 'available_controllers',
           'controller_class', 'make_controller']


def available_controllers() -> list[str]:
    """Names of all installed controllers, sorted."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def controller_class(name: str) -> type[Controller]:
    """The class of a named controller; ControlError if there is none or it is no controller."""
    points = {point.name: point for point in entry_points(group=GROUP)}
    if name not in points:
        near = nearest(name, points)
        hint = '' if near is None else f'; did you mean {near!r}?'
        raise ControlError(f'unknown controller {name!r}: expected one of '
                           f'{", ".join(sorted(points)) or "none"}{hint}')
    try:
        found = points[name].load()
    except (ImportError, AttributeError) as error:
        raise ControlError(f'controller {name!r} ({points[name].value}) cannot be loaded: '
                           f'{error}') from error
    if not (isinstance(found, type) and issubclass(found, Controller)):
        raise ControlError(f'controller {name!r} ({points[name].value}): expected a subclass of '
                           f'flex_control.Controller, found {found!r}')
    return found


def make_controller(name: str, model: Model,
                    parameters: Mapping[str, Any] | None = None) -> Controller:
    """The named controller for a robot.

    Parameters
    ----------
    name : str
        One of `available_controllers()`.
    model : flex_dynamics.Model
        The robot.
    parameters : mapping, optional
        Values by name, as in the `PARAMETERS` of its class; the others have their defaults.

    Returns
    -------
    Controller

    Raises
    ------
    ControlError
        If the name is unknown, a parameter is bad, or the controller does not suit the robot.

    Examples
    --------
    >>> from flex_control import make_controller
    >>> from flex_description import load_robot
    >>> from flex_dynamics import Model
    >>> controller = make_controller('pd', Model(load_robot('lab_link')), {'kp': 20.0})
    >>> controller.kp
    array([20.])
    """
    return controller_class(name)(model, parameters)
