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
"""The base class of controllers: `update(time, period)`, `reset` and declared parameters."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from flex_control.commanded_joints import commanded_places
from flex_control.controllers.affine_law import AffineLaw
from flex_control.controllers.parameters import Parameter, check_all
from flex_control.errors import ControlError, refuse_constraints
from flex_control.estimators.measurements import Measurements
from flex_control.trajectories.base import Reference
from flex_dynamics import DynamicsError, Model, Terms


class Controller:
    """Joint efforts from a state and a reference.

    A subclass lists its `PARAMETERS` and defines `update`. Before each update the caller sets

    - `reference`, the desired joint motion;
    - `q`, `v` (n,), the measured state. A controller with `needs_elastic_state` reads its elastic
      part; the others read the joints only, and the elastic part may then be inaccurate;
    - `terms`, M, C, K, D, g, B at that state, if `needs_terms` (otherwise it may be None);
    - `measurements`, the sensor readings, if `needs_measurements` (otherwise it may be None);
    - `preview`, the reference at any time (s) to come as far as it is known now, or None.

    Drives may close loops of their own, far faster than the updates: drive_stiffness (position -
    q) + drive_damping (velocity - v) about the reference that is sent with each command. Their
    gains are set by `set_drives`; `update` then returns the effort of the control law less the
    drives' share, so that the sum of both is the control law.

    Parameters
    ----------
    model : flex_dynamics.Model
        The robot.
    parameters : mapping, optional
        Values of `PARAMETERS` by name; the others have their defaults. ControlError if one is
        unknown or out of range.
    """

    PARAMETERS: ClassVar[tuple[Parameter, ...]] = ()
    needs_elastic_state: ClassVar[bool] = False
    needs_terms: ClassVar[bool] = False
    needs_measurements: ClassVar[bool] = False
    #: whether it can control robots with closed loops and supports: efforts of the commanded
    #: joints (commanded_joints.py), the others follow
    knows_constraints: ClassVar[bool] = False
    #: whether `carry` takes payloads over that are known while the robot works
    knows_payload: ClassVar[bool] = False

    def __init__(self, model: Model, parameters: Mapping[str, Any] | None = None) -> None:
        if self.knows_constraints and model.robot.constraints:
            commanded_places(model)      # ControlError if they do not determine the others
        else:
            refuse_constraints(model, f'controller {type(self).__name__}')
        self.model = model
        self.q = np.zeros(model.n)
        self.v = np.zeros(model.n)
        self.reference = Reference.at_rest(np.zeros(model.n_joints))
        self.terms: Terms | None = None
        self.measurements: Measurements | None = None
        self.preview: Callable[[float], Reference] | None = None
        self.drive_stiffness = np.zeros(model.n_joints)
        self.drive_damping = np.zeros(model.n_joints)
        #: what thrusters on a base that floats have to give after an update: the link, and force
        #: and moment (6,) in its axes, N and N m; None: the controller has no thrusters
        self.thrust: tuple[str, np.ndarray] | None = None
        self.parameters: dict[str, Any] = {}
        self.set_parameters(parameters or {})

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Set some parameters, the others stay; ControlError, and no change, if one is bad."""
        before, given = self.parameters, {**self.parameters, **parameters}
        self.parameters = check_all(self.PARAMETERS, given, self.model.n_joints)
        try:
            self.parameters_changed()
        except (ControlError, DynamicsError):
            self.parameters = before
            if before:
                self.parameters_changed()
            raise

    def parameters_changed(self) -> None:
        """Called after each change of parameters, to derive from them what `update` needs."""

    def set_drives(self, stiffness: ArrayLike, damping: ArrayLike) -> None:
        """Set the gains (n_joints,) of the drives' own loops, N m/rad and N m s/rad (prismatic:
        N/m and N s/m)."""
        model = self.model
        self.drive_stiffness = model.finite_vector(stiffness, 'stiffness', model.n_joints)
        self.drive_damping = model.finite_vector(damping, 'damping', model.n_joints)

    def drive_gains(self) -> tuple[np.ndarray, np.ndarray]:
        """Stiffness and damping (n_joints,) that the drives should have, N m/rad and N m s/rad
        (prismatic: N/m and N s/m). A light beam end responds faster than the update rate. Zero:
        none."""
        return np.zeros(self.model.n_joints), np.zeros(self.model.n_joints)

    def drive_effort(self) -> np.ndarray:
        """Effort (n_joints,) of the drives' own loops at this state and reference, N m or N."""
        joints, wanted = self.model.n_joints, self.reference
        return (self.drive_stiffness * (wanted.position - self.q[:joints])
                + self.drive_damping * (wanted.velocity - self.v[:joints]))

    def planned_effort(self, period: float) -> np.ndarray | None:
        """Efforts (n_joints,) of a reference that has a feedforward, else None.

        It is their mean over the next `period` (s), in which the command is held while the motion
        goes on, and the drives, too, act about a held reference.
        """
        wanted = self.reference
        if wanted.feedforward is None:
            return None
        rate = (wanted.feedforward.rate + self.drive_stiffness * wanted.velocity
                + self.drive_damping * wanted.acceleration)
        effort: np.ndarray = wanted.feedforward.effort + 0.5 * period * rate
        return effort

    def carry(self, model: Model) -> None:
        """Go on with a model of the same robot that carries another payload; gains stay. Called
        often, in small steps of the payload, of controllers with `knows_payload`."""
        raise TypeError(f'{type(self).__name__} does not take payloads over')

    def warning(self) -> str:
        """What the user should know of this controller on this robot, such as a vibration that it
        does not damp; empty: nothing. The control node logs it when the controller takes over."""
        return ''

    def trouble(self) -> str:
        """What the user should know of the last updates, such as a limit that could not be kept;
        empty: nothing. The control node logs it, and has it in its diagnostics."""
        return ''

    def figures(self) -> dict[str, object]:
        """What the controller has to say of its run so far, for the node's diagnostics."""
        return {}

    def reset(self) -> None:
        """Forget the past: the robot was moved elsewhere, or time was set back."""

    def update(self, time: float, period: float) -> np.ndarray:
        """Efforts (n_joints,), N m or N, at `time` (s), `period` (s) after the last update."""
        raise TypeError(f'{type(self).__name__} has no update')

    def affine_law(self) -> AffineLaw | None:
        """The control law of the last update as gains about a reference that does not depend on
        the state, so that a compiled loop may apply it; None: it is no such law. With
        `needs_measurements` the law is one of the state that `estimator` gives."""
        return None

    def ahead(self) -> None:
        """Work for later updates, such as a new design; called once after each update, when the
        efforts have been sent."""

    def law(self, time: float, period: float) -> np.ndarray:
        """The control law: the efforts of `update`, without its checks of the loop."""
        return self.update(time, period)
