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
"""One closed loop without ROS: a controller, its trajectory and the sequence of states."""
from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from flex_control.controllers.base import Controller
from flex_control.errors import ControlError
from flex_control.estimators.measurements import Measurements
from flex_control.loop.bumpless_transfer import BumplessTransfer
from flex_control.reference.constrained_reference import ConstrainedReference
from flex_control.trajectories import SetPoints, Trajectory
from flex_description.math import all_finite
from flex_dynamics import DynamicsError, Model, Terms

SWITCH_TIME = 0.1      # s


class ControlLoop:
    """States in, efforts out, in the order of time.

    The reference of the last step is `controller.reference`. A state older than the last one
    (simulated time was set back) restarts the loop.

    Parameters
    ----------
    model : flex_dynamics.Model
        The robot.
    controller : Controller
        Computes the efforts.
    trajectory : Trajectory, optional
        Followed from time zero on, and again after every restart. Without one the joints are held
        where the first state finds them.
    switch_time : float
        Duration (s) of the bumpless transfer when the controller or its gains change.
    fade : float, optional
        Deprecated name of `switch_time`.

    Examples
    --------
    >>> import numpy as np
    >>> from flex_control import ControlLoop, MinimumJerk, make_controller
    >>> from flex_description import load_robot
    >>> from flex_dynamics import Model
    >>> model = Model(load_robot('lab_link'))
    >>> loop = ControlLoop(model, make_controller('pd', model), MinimumJerk([0.0], [1.0], 2.0))
    >>> loop.step(0.0, np.zeros(model.n), np.zeros(model.n)).shape
    (1,)
    """

    def __init__(self, model: Model, controller: Controller,
                 trajectory: Trajectory | None = None, switch_time: float = SWITCH_TIME, *,
                 fade: float | None = None) -> None:
        if fade is not None:
            warnings.warn('ControlLoop: fade is now switch_time; the old name will be removed',
                          DeprecationWarning, stacklevel=2)
            switch_time = fade
        self.model, self.controller = model, controller
        self._shape = (model.n_joints,)
        self.first_trajectory = trajectory
        self.trajectory: Trajectory | None = None
        self.time: float | None = None       # s, of the last state
        self._completes = (ConstrainedReference(model) if model.robot.constraints else None)
        self._transfer = BumplessTransfer(model.n_joints, switch_time)
        self._due = False                    # the controller has work for later
        self._failed = ''                    # why that work failed

    def reset(self) -> None:
        """Forget the past: the next state is a first one."""
        self.trajectory, self.time, self._due, self._failed = None, None, False, ''
        self._transfer.reset()
        if self._completes is not None:
            self._completes.reset()
        self.controller.reset()

    def set_trajectory(self, trajectory: Trajectory) -> None:
        """Follow this one from the next step on, until another is set or the loop restarts.

        From a motion with a feedforward to another one the efforts go by a bumpless transfer: the
        elastic motion that was planned ends with it.
        """
        if self.controller.reference.feedforward is not None:
            self._transfer.start()
        self.trajectory = trajectory

    def set_controller(self, controller: Controller) -> None:
        """Go on with another controller, by a bumpless transfer."""
        controller.reset()
        self._due, self._failed = False, ''
        controller.reference = self.controller.reference
        self.controller = controller
        self._transfer.start()

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Set parameters of the controller, by a bumpless transfer; ControlError if one is bad."""
        self.controller.set_parameters(parameters)
        self.parameters_changed()

    def parameters_changed(self) -> None:
        """Begin a bumpless transfer: somebody has changed the parameters of the controller."""
        self._transfer.start()

    def work_ahead(self) -> None:
        """Let the controller do the work for later updates, after the efforts have been sent.

        Without this call the next step does it, with the same result. If it fails, the next step
        raises the error.
        """
        if self._due:
            self._due = False
            try:
                self.controller.ahead()
            except (ControlError, DynamicsError) as error:
                self._failed = str(error)

    def step(self, time: float, q: np.ndarray, v: np.ndarray, terms: Terms | None = None,
             measurements: Measurements | None = None) -> np.ndarray:
        """Efforts for one state.

        Parameters
        ----------
        time : float
            Time of the state (s).
        q, v : array, shape (n,)
            Coordinates and their speeds.
        terms : Terms, optional
            Model terms at that state. Without them they are computed from the model, if the
            controller needs them.
        measurements : Measurements, optional
            Sensor readings, for controllers that estimate the state.

        Returns
        -------
        array, shape (n_joints,)
            Efforts, N m or N.

        Raises
        ------
        ControlError
            If the controller fails or its efforts are not finite. The loop can go on with the
            next state.
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
            wanted = self.trajectory.sample(time)
            if self._completes is not None:      # of its joints only the commanded ones count
                self._completes.move_to(wanted, period)
                wanted = self._completes.completed(wanted)
            controller.reference, controller.preview = wanted, self.trajectory.sample
            efforts = np.asarray(controller.update(time, period), dtype=float)
            self._due = True
        except DynamicsError as error:
            raise ControlError(str(error)) from None
        if efforts.shape != self._shape or not all_finite(efforts):
            raise ControlError(f'{type(controller).__name__}: expected {self.model.n_joints} '
                               f'finite efforts, found {efforts}')
        return self._transfer.apply(time, efforts)
