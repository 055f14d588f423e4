"""What every controller is: an object with `update(time, period)`, `reset` and parameters."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from flex_control.parameters import Parameter, check_all
from flex_control.trajectories.base import Reference
from flex_dynamics import Model


class Controller:
    """Joint efforts from a state and a reference.

    A subclass lists its `PARAMETERS` and gives `update`. Before each update the caller sets
    `q`, `v` (n,), the measured state, and `reference`, the wanted joint motion. A controller with
    `needs_elastic_state` reads the elastic part of the state; the others read joints only, and
    then that part may be a guess.
    """

    PARAMETERS: ClassVar[tuple[Parameter, ...]] = ()
    needs_elastic_state: ClassVar[bool] = False

    def __init__(self, model: Model, parameters: Mapping[str, Any] | None = None) -> None:
        self.model = model
        self.q = np.zeros(model.n)
        self.v = np.zeros(model.n)
        self.reference = Reference.at_rest(np.zeros(model.n_joints))
        self.parameters: dict[str, Any] = {}
        self.set_parameters(parameters or {})

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Set some parameters, the others stay; ControlError, and no change, if one is bad."""
        given = {**self.parameters, **parameters}
        self.parameters = check_all(self.PARAMETERS, given, self.model.n_joints)
        self.parameters_changed()

    def parameters_changed(self) -> None:
        """Called after each change of parameters, to derive from them what `update` needs."""

    def reset(self) -> None:
        """Forget the past: the robot was put somewhere else, or time was set back."""

    def update(self, time: float, period: float) -> np.ndarray:
        """Efforts (n_joints,), N m or N, at `time` (s), `period` (s) after the update before."""
        raise TypeError(f'{type(self).__name__} has no update')
