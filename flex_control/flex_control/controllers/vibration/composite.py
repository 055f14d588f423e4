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
"""Composite control: slow computed torque of the joints, fast feedback of the modes."""
from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from flex_control.controllers.parameters import Parameter
from flex_control.controllers.scheduled_gains import ScheduledGains
from flex_control.design.composite_design import TUNED_BY, CompositeDesign
from flex_control.design.gains import USUAL_PERIOD, shared_inertia
from flex_control.design.lqr_design import LqrGains, check_size
from flex_control.design.rest_model import RestModel, rest_model
from flex_control.errors import ControlError
from flex_control.incremental import Pieces, finish
from flex_control.reference.deflected_reference import DeflectedReference
from flex_control.reference.soft_steps import SoftSteps

LONGER = 1.2         # times the period of the tuning: the energy is tuned again


class Composite(ScheduledGains):
    """tau = tau_r + J (w^2 (q_r - q) + 2 z w (v_r - v)) + u,  u+ = u - K (x - x_r) - K_u u.

    Slow: tau_r, the inverse dynamics of the reference with its quasi-static deflection x_r, and
    the feedback of the joints. Fast: x = (z, z', v), elastic coordinates and speeds, on their way
    to the slow manifold x_r; K and K_u are optimal for the fast subsystem (design/fast_design.py,
    Siciliano and Book 1988) and are designed anew as the pose changes.
    """

    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        Parameter('bandwidth', 0.0, 'w of all joints; 0: what lets pushes shake the tip '
                  'least, between 0.6 and 1.7 of the first frequency with locked joints, at most '
                  '30 rad/s', 'rad/s', 0.0, 1e4),
        Parameter('damping_ratio', 0.7, 'damping ratio of every joint', '', 0.01, 10.0),
        Parameter('energy', 0.0, 'energy of the fast motion that costs as much as `effort`; 0: '
                  'what lets pushes move the tip least', 'J', 0.0, 1e9),
        Parameter('effort', (), 'effort of the fast feedback that costs as much as `energy`; '
                  'empty: what a force that moves the tip by 0.7 % of the reach asks of the joint '
                  'in its longest reach', 'N m or N', 1e-6, 1e9, per_joint=True),
        Parameter('effort_time', 0.03, 'time in which the fast effort may change by `effort` for '
                  'the same cost', 's', 1e-4, 10.0),
        Parameter('highest_mode', 0.0, 'modes above are left alone; 0: 0.4 times the sampling '
                  'rate', 'Hz', 0.0, 1e6),
        Parameter('period', 0.0, 'time between updates for which the gains are designed; 0: as '
                  'the updates come', 's', 0.0, 1.0),
        Parameter('step_time', 0.0, 'time in which a step of the reference is taken; 0: what '
                  'the first mode and the limits of the robot ask for', 's', 0.0, 1e4),
        Parameter('pose_step', 0.05, 'change of a wanted joint position after which the gains are '
                  'designed anew; 0: never', 'rad or m', 0.0, 1e3),
    )
    needs_elastic_state: ClassVar[bool] = True

    def parameters_changed(self) -> None:
        given, model = self.parameters, self.model
        check_size(model, 'composite')
        if model.n == model.n_joints:
            raise ControlError('composite: expected flexible links or joints, found none in robot '
                               f'{model.robot.name}: there is no fast subsystem; use '
                               'computed_torque or pid')
        if not hasattr(self, '_wanted'):
            self._schedule()
            self._wanted = DeflectedReference(model)
            self._steps = SoftSteps(model)
            self._target = self.reference
            self._u, self._tuned_by = np.zeros(model.n_joints), [None]
            self._limits, self._inertia = model.joint_limits.effort, shared_inertia(model)
        self._steps.duration = given['step_time']
        self._period = given['period'] or self._period
        key = [np.asarray(given[name]).tolist() for name in TUNED_BY]
        if key != self._tuned_by:
            self._design, self._tuned_by = CompositeDesign(model, given), key
            self._tuned_for = given['period'] or self._period or USUAL_PERIOD
            tuning = self._design.tuned(self._tuned_for)
            self.energy, self.bandwidth = tuning.energy, tuning.bandwidth
            self.kp, self.kd = self._design.joint_gains(self.bandwidth)
        self._share()
        self._stale = True

    def _share(self) -> None:
        # Extra drive damping is kept: subtracting it would act with a delay of one period.
        self._damping = np.maximum(self.kd - self.drive_damping, 0.0)
        self._stiffness = self.kp - self.drive_stiffness

    def set_drives(self, stiffness: ArrayLike, damping: ArrayLike) -> None:
        super().set_drives(stiffness, damping)
        self._share()

    def drive_gains(self) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(self.model.n_joints), self.kd

    def reset(self) -> None:
        self._u[:] = 0.0
        self._wanted.reset()
        self._steps.reset()
        self._gains = None

    # Gains ----------------------------------------------------------------------------------

    def design(self, q: np.ndarray) -> Pieces[tuple[RestModel, LqrGains]]:
        rest = yield from rest_model(self.model, q, np.zeros(self.model.n_joints),
                                     self.drive_damping)
        gains = yield from self._design.gains(rest, self.energy, self._period)
        return rest, gains

    def first_design(self, q: np.ndarray) -> tuple[RestModel, LqrGains]:
        if self._period > LONGER * self._tuned_for:
            # Slower updates than the gains were tuned for; the joints' loops are in the drives.
            tuning = self._design.at_bandwidth(self.bandwidth, self._period)
            self._design.check(tuning, self._period)
            self._tuned_for, self.energy = self._period, tuning.energy
        return finish(self.design(q))

    # Control law ----------------------------------------------------------------------------

    def update(self, time: float, period: float) -> np.ndarray:
        joints, drives = self.model.n_joints, self.reference
        target = self._steps.follow(drives, self.q[:joints], period)
        self._target = target
        self._wanted.move_to(target, period)
        planned = self.planned_effort(period) if target is drives else None
        ahead = self._wanted.effort if planned is None else planned
        slow = (ahead + self._stiffness * (target.position - self.q[:joints])
                + self._damping * (target.velocity - self.v[:joints])
                # the drives act about the reference of the command, not about its softened steps
                + self.drive_stiffness * (target.position - drives.position)
                + self.drive_damping * (target.velocity - drives.velocity))
        if not self._watch(period):
            held: np.ndarray = np.clip(slow, -self._limits, self._limits)
            return held
        gains, wanted = self._present(), self._wanted
        off = np.concatenate((self.q - wanted.q, self.v - wanted.v))
        fast = self._u - gains.effort @ self._u - gains.state @ off
        # anti-windup: the fast effort remembers what the slow one leaves of the motors
        self._u = np.clip(fast, np.minimum(-self._limits - slow, 0.0),
                          np.maximum(self._limits - slow, 0.0))
        efforts: np.ndarray = np.clip(slow + self._u, -self._limits, self._limits)
        return efforts
