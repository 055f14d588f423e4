"""One closed loop without ROS: a controller, its trajectory and the sequence of states."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from flex_control.controllers import Controller
from flex_control.errors import ControlError
from flex_control.fade import Fade
from flex_control.measurements import Measurements
from flex_control.trajectories import SetPoints, Trajectory
from flex_dynamics import DynamicsError, Model
from flex_dynamics.all_finite import all_finite
from flex_dynamics.model.model import Terms


class ControlLoop:
    """States in, efforts out, in the order of time.

    trajectory is what runs from time zero on, and again after every restart; None: the joints are
    held where the first state finds them. A state before the one before it (simulated time was
    set back) restarts the loop. The wanted motion of the last step is `controller.reference`.
    Efforts do not jump when the controller or its gains change: they fade over within `fade` (s).
    """

    def __init__(self, model: Model, controller: Controller,
                 trajectory: Trajectory | None = None, fade: float = 0.1) -> None:
        self.model, self.controller = model, controller
        self._shape = (model.n_joints,)
        self.first_trajectory = trajectory
        self.trajectory: Trajectory | None = None
        self.time: float | None = None       # s, of the last state
        self._fade = Fade(model.n_joints, fade)
        self._due = False                    # the controller has work for later
        self._failed = ''                    # why that did not come to its end

    def reset(self) -> None:
        """Forget the past: the next state is a first one."""
        self.trajectory, self.time, self._due, self._failed = None, None, False, ''
        self._fade.reset()
        self.controller.reset()

    def set_trajectory(self, trajectory: Trajectory) -> None:
        """Follow this one from the next step on, until another is set or the loop restarts."""
        self.trajectory = trajectory

    def set_controller(self, controller: Controller) -> None:
        """Go on with another controller, without a jump of the efforts."""
        controller.reset()
        self._due, self._failed = False, ''
        controller.reference = self.controller.reference
        self.controller = controller
        self._fade.changed()

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Parameters of the controller, without a jump of the efforts; ControlError if bad."""
        self.controller.set_parameters(parameters)
        self._fade.changed()

    def work_ahead(self) -> None:
        """Let the controller do what later updates need, when the efforts are on their way. Who
        does not call it has it done with the next step, to the same result; if it fails, it is
        that step that tells."""
        if self._due:
            self._due = False
            try:
                self.controller.ahead()
            except (ControlError, DynamicsError) as error:
                self._failed = str(error)

    def step(self, time: float, q: np.ndarray, v: np.ndarray, terms: Terms | None = None,
             measurements: Measurements | None = None) -> np.ndarray:
        """Efforts (n_joints,), N m or N, for the state q, v (n,) at `time` (s).

        terms: flex_dynamics Terms at that state; None: from the model, if the controller needs
        them. measurements: what sensors read. ControlError if there is no good effort; the loop
        then goes on with the next state.
        """
        if self.time is not None and time < self.time:
            self.reset()
        self.work_ahead()
        period = 0.0 if self.time is None else time - self.time
        self.time = time
        if self._failed:
            why, self._failed = self._failed, ''
            raise ControlError(why)
        if self.trajectory is None:
            self.trajectory = self.first_trajectory or SetPoints([0.0], [q[:self.model.n_joints]])
        controller = self.controller
        controller.q, controller.v = q, v
        try:
            if terms is None and controller.needs_terms:
                terms = self.model.terms(q, v)
            controller.terms, controller.measurements = terms, measurements
            controller.reference = self.trajectory.sample(time)
            efforts = np.asarray(controller.update(time, period), dtype=float)
            self._due = True
        except DynamicsError as error:
            raise ControlError(str(error)) from None
        if efforts.shape != self._shape or not all_finite(efforts):
            raise ControlError(f'{type(controller).__name__}: expected {self.model.n_joints} '
                               f'finite efforts, found {efforts}')
        return self._fade.apply(time, efforts)
