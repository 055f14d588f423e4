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
"""Computed torque along the reference, with the elastic motion predicted by an internal model."""
from __future__ import annotations

from typing import ClassVar

import numpy as np

from flex_control.controllers.base import Controller
from flex_control.controllers.parameters import Parameter
from flex_control.design.gains import (
    COMPUTED_TORQUE_SHARE,
    first_frequency,
    safe_bandwidth,
    shared_inertia,
)
from flex_control.design.zero_dynamics import check_joint_outputs
from flex_control.reference.constrained_zero_dynamics import ConstrainedZeroDynamics

DAMPING_RAMP = 0.1      # s after the arrival until the internal model has its extra damping


class ComputedTorque(Controller):
    """tau = M_jj a_d + M_je a_e + h_j(q_d, q_e, v_d, v_e) + J (w^2 (q_d - q) + 2 z w (v_d - v)).

    q_e, v_e, a_e are the elastic coordinates of an internal model whose joints are on the
    reference: M_ee a_e + D_ee v_e + K_ee q_e = -(M_ej a_d + h_e), the zero dynamics of the joints,
    which are stable for clamped shapes. The robot's own elastic state is not fed back: sampled,
    that would cancel the joints' damping (doc/feedback_linearization.md). With closed loops the
    joints are the commanded ones, and the internal model has the constraints
    (ConstrainedZeroDynamics). A reference that has a feedforward
    (`TipTrajectory`) takes the place of the internal model.
    """

    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        Parameter('bandwidth', (), 'bandwidth of each joint; empty: half the first frequency with '
                  'locked joints', 'rad/s', 0.01, 1e4, per_joint=True),
        Parameter('damping_ratio', 0.7, 'damping ratio of every joint', '', 0.0, 10.0),
        Parameter('model_damping', 0.3, 'damping ratio of the first mode in the internal model, '
                  'besides its own, once the reference rests, so that the joints damp the '
                  'vibration that is left', '', 0.0, 10.0),
    )

    knows_constraints: ClassVar[bool] = True

    def parameters_changed(self) -> None:
        model, given = self.model, self.parameters
        check_joint_outputs(model, 'computed_torque')
        bandwidth = given['bandwidth']
        if not bandwidth.size:
            bandwidth = np.full(model.n_joints, safe_bandwidth(model, COMPUTED_TORQUE_SHARE))
        inertia = shared_inertia(model)
        self.kp = inertia * bandwidth**2
        self.kd = 2.0 * given['damping_ratio'] * inertia * bandwidth
        joints = model.n_joints
        self._stiffness = np.array(model.stiffness_matrix()[joints:, joints:])
        self._extra_damping = (2.0 * given['model_damping'] / first_frequency(model)
                               * self._stiffness)
        self._damping = np.array(model.damping_matrix()[joints:, joints:])
        if not hasattr(self, '_q'):
            self._constrained = (ConstrainedZeroDynamics(model) if model.robot.constraints
                                 else None)
            self.reset()

    def reset(self) -> None:
        self._q, self._v, self._a = (np.zeros(self.model.n) for _ in range(3))
        self._started, self._rested = False, 0.0

    def drive_gains(self) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(self.model.n_joints), self.kd

    def update(self, time: float, period: float) -> np.ndarray:
        joints, wanted = self.model.n_joints, self.reference
        if not self._started:
            if self._constrained is not None:
                self._constrained.begin(wanted)
            else:
                self._q = self.model.statics(wanted.position)[0]
            self._started = True
        moves = wanted.velocity.any() or wanted.acceleration.any()
        self._rested = 0.0 if moves else self._rested + period
        feedforward = self._step(period)
        # Extra drive damping is kept: subtracting it would act with a delay of one period.
        damping = np.maximum(self.kd, self.drive_damping)
        feedback = (self.kp * (wanted.position - self.q[:joints])
                    + damping * (wanted.velocity - self.v[:joints]))
        efforts: np.ndarray = feedforward + feedback - self.drive_effort()
        return efforts

    def _step(self, period: float) -> np.ndarray:
        """Efforts (n_joints,) of the internal model over the next period; its elastic coordinates
        are integrated by the implicit midpoint rule."""
        model, joints, wanted = self.model, self.model.n_joints, self.reference
        extra = min(1.0, self._rested / DAMPING_RAMP) * self._extra_damping
        if self._constrained is not None:
            whole = np.zeros((model.n, model.n))
            whole[joints:, joints:] = extra
            return self._constrained.step(wanted, whole, period)
        q, v, a = self._q, self._v, self._a
        planned = self.planned_effort(period)
        if planned is not None and wanted.feedforward is not None:
            q[joints:], v[joints:] = wanted.feedforward[:2]
            return planned
        q[:joints], v[:joints], a[:joints] = (wanted.position, wanted.velocity,
                                              wanted.acceleration)
        a[joints:] = 0.0
        if model.n > joints:
            force = model.inverse_dynamics(q, v, a)[joints:] + extra @ v[joints:]
            half = 0.5 * period
            matrix = (model.mass_matrix(q)[joints:, joints:] + half * (self._damping + extra)
                      + half**2 * self._stiffness)
            a[joints:] = np.linalg.solve(matrix, -force - half * self._stiffness @ v[joints:])
        efforts = model.inverse_dynamics(q, v, a)[:joints]
        q[joints:] += period * (v[joints:] + 0.5 * period * a[joints:])
        v[joints:] += period * a[joints:]
        return efforts
