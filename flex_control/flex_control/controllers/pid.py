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
"""Joint PID control: PD with an integral and anti-windup at the effort limits."""
from __future__ import annotations

from typing import ClassVar

import numpy as np

from flex_control.controllers.parameters import Parameter
from flex_control.controllers.pd import PD
from flex_control.design.gains import INTEGRAL_SLOWER


class PID(PD):
    """tau = kp e + kd e' + ki int e dt + tau(q_d, v_d, a_d), e = q_d - q.

    Anti-windup: the integral of a joint is held while its effort is beyond the robot's limit and
    the error would increase it further; it is never larger than `integral_limit`.
    """

    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        *PD.PARAMETERS,
        Parameter('ki', (), 'gains of the integral; empty: kp^2 / kd / 4',
                  'N m/(rad s) or N/(m s)', 0.0, 1e9, per_joint=True),
        Parameter('integral_limit', (), 'largest effort of the integral; empty: the effort limit',
                  'N m or N', 0.0, 1e9, per_joint=True),
    )

    def parameters_changed(self) -> None:
        super().parameters_changed()
        model = self.model
        self.ki = self.parameters['ki']
        if not self.ki.size:
            self.ki = np.divide(self.kp**2, INTEGRAL_SLOWER * self.kd, out=np.zeros_like(self.kp),
                                where=self.kd > 0.0)
        self._effort_limit = model.joint_limits.effort
        self._most = self.parameters['integral_limit']
        if not self._most.size:
            self._most = self._effort_limit
        if not hasattr(self, '_integral'):
            self._integral = np.zeros(model.n_joints)      # N m or N

    def reset(self) -> None:
        super().reset()
        self._integral = np.zeros(self.model.n_joints)

    def update(self, time: float, period: float) -> np.ndarray:
        wanted = self.wanted(period)
        efforts = self.efforts_towards(wanted, period)
        growth = self.ki * (wanted.position - self.q[:self.model.n_joints]) * period
        total = efforts + self._integral
        outwards = (np.abs(total) >= self._effort_limit) & (growth * total > 0.0)
        self._integral = np.clip(self._integral + np.where(outwards, 0.0, growth),
                                 -self._most, self._most)
        return efforts + self._integral
