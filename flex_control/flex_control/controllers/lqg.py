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
"""LQR on the state that a Kalman filter estimates from encoders, strain gauges and IMUs."""
from __future__ import annotations

from typing import ClassVar

import numpy as np

from flex_control.controllers.affine_law import AffineLaw
from flex_control.controllers.lqr import LQR
from flex_control.controllers.parameters import Parameter
from flex_control.design.lqr_design import LqrGains, check_bending
from flex_control.design.rest_model import RestModel
from flex_control.errors import ControlError
from flex_control.estimators import FilterNoise, FlexibleStateFilter
from flex_control.estimators.filter_model import FilterModel
from flex_control.estimators.flexible_state import MOST_MISSED
from flex_control.estimators.measurements import Measurements
from flex_control.incremental import Pieces
from flex_control.trajectories.base import Reference

SHARE_TRUSTED = 0.1      # of the sampling rate: up to there the filter trusts the modes
OFF = 'standard deviation; 0: not used'


class LQG(LQR):
    """`LQR` with the state of a `FlexibleStateFilter`; it needs no measured elastic state."""

    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        *LQR.PARAMETERS,
        Parameter('encoder', 1e-5, f'noise of joint positions, {OFF}', 'rad or m', 0.0, 1e3),
        Parameter('encoder_speed', 1e-2, f'noise of joint velocities, {OFF}', 'rad/s or m/s', 0.0,
                  1e3),
        Parameter('strain', 1e-6, f'noise of strain gauges, {OFF}', 'm/m', 0.0, 1.0),
        Parameter('gyro', 2e-3, f'noise of IMUs, {OFF}', 'rad/s', 0.0, 1e3),
        Parameter('accelerometer', 5e-2, f'noise of IMUs, {OFF}', 'm/s2', 0.0, 1e3),
        Parameter('effort_noise', (), 'density of errors of efforts; empty: in proportion to the '
                  'longest reach and the softness of the arm',
                  'N m/sqrt(Hz)', 0.0, 1e6, per_joint=True),
        Parameter('shaking', 1e-5, 'power that unknown shaking puts into every mode', 'W', 0.0,
                  1e3),
        Parameter('push', 0.0, 'size of unknown forces on the tip; 0: what moves the tip by 0.3 % '
                  'of the reach', 'N', 0.0, 1e6),
        Parameter('push_time', 2.0, 'for how long they last', 's', 1e-3, 1e4),
        Parameter('trusted_mode', 0.0, 'modes above count as noise of unknown phase; 0: 0.1 times '
                  'the sampling rate', 'Hz', 0.0, 1e6),
    )
    needs_elastic_state: ClassVar[bool] = False
    needs_measurements: ClassVar[bool] = True

    def parameters_changed(self) -> None:
        super().parameters_changed()
        if not hasattr(self, 'estimator'):
            check_bending(self.model, type(self).__name__.lower())
            self.estimator = FlexibleStateFilter(self.model)
            self._usual = self.estimator.noise
            self._acting: tuple[np.ndarray, Reference] | None = None
            self._next_model: FilterModel | None = None

    def filter_noise(self) -> FilterNoise:
        """The parameters in SI units."""
        given = self.parameters
        trusted = 2.0 * np.pi * (given['trusted_mode'] or SHARE_TRUSTED / self._period)
        return FilterNoise(
            given['encoder'], given['encoder_speed'], given['strain'], given['gyro'],
            given['accelerometer'],
            given['effort_noise'] if given['effort_noise'].size else self._usual.effort,
            given['shaking'], given['push'] or self._usual.push, given['push_time'], trusted,
            self._usual.untrusted)

    def reset(self) -> None:
        super().reset()
        self.estimator.reset()
        self._acting = None

    def design(self, q: np.ndarray) -> Pieces[tuple[RestModel, LqrGains]]:
        rest, gains = yield from super().design(q)
        self._prepare()
        self._next_model = yield from self.estimator.model_at(rest)
        return rest, gains

    def _prepare(self) -> None:
        estimator = self.estimator
        estimator.noise, estimator.period = self.filter_noise(), self._period
        estimator.drive_stiffness = self.drive_stiffness
        estimator.drive_damping = self.drive_damping

    def adopt(self, rest: RestModel) -> None:
        if self.estimator.begun and self._next_model is not None:
            self.estimator.use(self._next_model)
        else:
            self._prepare()
            # During a motion the arm has about the speed of its reference.
            self.estimator.begin(self._start(), rest, self._wanted.v)

    def _start(self) -> np.ndarray:
        """Equilibrium (n,) at the joints that are measured."""
        seen = None if self.measurements is None else self.measurements.joint_position
        return self.model.statics(self.q[:self.model.n_joints] if seen is None else seen)[0]

    def update(self, time: float, period: float) -> np.ndarray:
        self._move(period)
        if not self._watch(period):
            return self._remember(self._held())
        if self.estimator.begun and period > MOST_MISSED * self._period:
            self.reset()
            self._move(0.0)
        gains = self._present()
        joints = self.model.n_joints
        readings = self.measurements or Measurements(self.q[:joints], self.v[:joints])
        try:
            if self._acting is None:
                self._acting = self._held(), self.reference
            else:
                self.estimator.predict(*self._acting, period, self.reference)
            effort, held = self._acting
            # Of a planned motion the place it has come to is known, too.
            self.estimator.correct(readings, effort,
                                   held if self.reference.feedforward is None else self.reference)
        except ControlError:
            self.reset()        # restart from the encoders with the next update
            raise
        return self._remember(self._law(gains, self.estimator.q, self.estimator.v, period))

    def affine_law(self) -> AffineLaw | None:
        """Of the state of `estimator`; a table of its gains goes with it (control_schedule)."""
        return super().affine_law()

    def _remember(self, effort: np.ndarray) -> np.ndarray:
        self._acting = effort, self.reference
        return effort
