"""What every controller is: an object with `update(time, period)`, `reset` and parameters."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from flex_control.controllers.parameters import Parameter, check_all
from flex_control.errors import ControlError
from flex_control.estimators.measurements import Measurements
from flex_control.trajectories.base import Reference
from flex_dynamics import DynamicsError, Model
from flex_dynamics.model.model import Terms


class Controller:
    """Joint efforts from a state and a reference.

    A subclass lists its `PARAMETERS` and gives `update`. Before each update the caller sets

    - `reference`, the wanted joint motion;
    - `q`, `v` (n,), the measured state. A controller with `needs_elastic_state` reads the elastic
      part of it; the others read joints only, and then that part may be a guess;
    - `terms`, M, C, K, D, g, B at that state, if `needs_terms` (else it may stay None);
    - `measurements`, what the sensors say, if `needs_measurements` (else it may stay None).

    Drives may close loops of their own, far faster than the updates: drive_stiffness (position -
    q) + drive_damping (velocity - v) about the reference that goes with each command. Who knows
    their gains tells them by `set_drives`; `update` then gives the effort of its law less the
    drives' share, so that the joint gets the law.
    """

    PARAMETERS: ClassVar[tuple[Parameter, ...]] = ()
    needs_elastic_state: ClassVar[bool] = False
    needs_terms: ClassVar[bool] = False
    needs_measurements: ClassVar[bool] = False

    def __init__(self, model: Model, parameters: Mapping[str, Any] | None = None) -> None:
        self.model = model
        self.q = np.zeros(model.n)
        self.v = np.zeros(model.n)
        self.reference = Reference.at_rest(np.zeros(model.n_joints))
        self.terms: Terms | None = None
        self.measurements: Measurements | None = None
        self.drive_stiffness = np.zeros(model.n_joints)
        self.drive_damping = np.zeros(model.n_joints)
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

    def set_drives(self, stiffness, damping) -> None:
        """Gains (n_joints,) of the drives' own loops, N m/rad and N m s/rad (prismatic: per m)."""
        model = self.model
        self.drive_stiffness = model.finite_vector(stiffness, 'stiffness', model.n_joints)
        self.drive_damping = model.finite_vector(damping, 'damping', model.n_joints)

    def drive_gains(self) -> tuple[np.ndarray, np.ndarray]:
        """Stiffness and damping (n_joints,) that drives had better close by themselves, as told
        by the law's gains: a light beam end answers faster than updates come. Zero: none."""
        return np.zeros(self.model.n_joints), np.zeros(self.model.n_joints)

    def drive_effort(self) -> np.ndarray:
        """What the drives add by themselves (n_joints,) at this state and reference."""
        joints, wanted = self.model.n_joints, self.reference
        return (self.drive_stiffness * (wanted.position - self.q[:joints])
                + self.drive_damping * (wanted.velocity - self.v[:joints]))

    def reset(self) -> None:
        """Forget the past: the robot was put somewhere else, or time was set back."""

    def update(self, time: float, period: float) -> np.ndarray:
        """Efforts (n_joints,), N m or N, at `time` (s), `period` (s) after the update before."""
        raise TypeError(f'{type(self).__name__} has no update')

    def ahead(self) -> None:
        """Work for later updates that no effort has to wait for; called once after each one."""

    def law(self, time: float, period: float) -> np.ndarray:
        """What `update` gives, without the checks that it may make of the loop around it."""
        return self.update(time, period)
