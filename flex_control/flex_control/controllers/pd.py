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
"""Joint PD control with feedforward of the wanted motion, or as Cibicik and Egeland used it."""
from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from flex_control.controllers.affine_law import AffineLaw
from flex_control.controllers.base import Controller
from flex_control.controllers.parameters import Parameter
from flex_control.design.gains import pd_bandwidth, shared_inertia
from flex_control.errors import ControlError
from flex_control.reference.deflected_reference import deflected_reference
from flex_control.reference.static_load import StaticLoad
from flex_control.reference.tip_compensation import TipCompensation
from flex_control.trajectories.base import Reference
from flex_dynamics import Model


class PD(Controller):
    """tau = kp (q_d - q) + kd (v_d - v) + tau(q_d, v_d, a_d).

    tau(q_d, v_d, a_d) carries gravity, deflection and the wanted motion (`static_compensation`,
    `feedforward`), by the model.

    With `tip_compensation` q_d is moved so that the tip of the sagging robot is where that of the
    straight robot would be.
    """

    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        Parameter('kp', (), 'position gains; empty: from the inertia and the bandwidth',
                  'N m/rad or N/m', 0.0, 1e9, per_joint=True),
        Parameter('kd', (), 'speed gains; empty: critical damping at kp',
                  'N m s/rad or N s/m', 0.0, 1e9, per_joint=True),
        Parameter('bandwidth', 0.0, 'for gains that are empty; 0: 0.6 of the first frequency with '
                  'locked joints, at most 30 rad/s', 'rad/s', 0.0, 1e4),
        Parameter('static_compensation', True, 'carry gravity and deflection at the wanted pose, '
                  'from the model'),
        Parameter('feedforward', True, 'add the efforts of the wanted accelerations and speeds, '
                  'from the model; only with static_compensation'),
        Parameter('tip_compensation', False, 'move the joints so that the sagging tip is where '
                  'the straight robot would have it'),
        Parameter('tip_frame', '', 'link or frame that is the tip; empty: the last link'),
    )

    knows_constraints: ClassVar[bool] = True
    knows_payload: ClassVar[bool] = True

    def parameters_changed(self) -> None:
        model, given = self.model, self.parameters
        if not hasattr(self, '_inertia'):
            self._inertia, self._bandwidth = shared_inertia(model), pd_bandwidth(model)
            self._static_load = StaticLoad(model)
            self._moving_load = deflected_reference(model)
        bandwidth = given['bandwidth'] or self._bandwidth
        self.kp, self.kd = given['kp'], given['kd']
        if not self.kp.size:
            self.kp = self._inertia * bandwidth**2
        if not self.kd.size:
            self.kd = 2.0 * np.sqrt(self.kp * self._inertia)
        self._share()
        if given['tip_compensation'] and model.robot.constraints:
            raise ControlError('tip_compensation: expected a tree of links, found constraints '
                               f'of robot {model.robot.name}, whose joints do not move alone')
        self._tip = TipCompensation(model, given['tip_frame'])

    def carry(self, model: Model) -> None:
        self.model = model
        self._static_load = StaticLoad(model)
        self._moving_load = deflected_reference(model)
        self._tip.carry(model)

    def set_drives(self, stiffness: ArrayLike, damping: ArrayLike) -> None:
        super().set_drives(stiffness, damping)
        self._share()

    def _share(self) -> None:
        """Split the gains into those of the drives and those of the commanded efforts."""
        self._stiffness = self.kp - self.drive_stiffness
        # Extra drive damping is kept: subtracting it would act with a delay of one period.
        self._damping = np.maximum(self.kd - self.drive_damping, 0.0)
        self._damps = bool(self._damping.any())

    def drive_gains(self) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(self.model.n_joints), self.kd

    def warning(self) -> str:
        for link in self.model.robot.links:
            if link.flexible is not None and link.flexible.pinned:
                return (f'joint control of a pinned basis ({link.name}): its motor bends the link '
                        'itself, so that the joint may run away; take a clamped basis or '
                        'craig-bampton for the model of the controller')
        return ''

    def reset(self) -> None:
        self._tip.reset()
        self._moving_load.reset()

    def wanted(self, period: float) -> Reference:
        """The reference, with the compensation of the tip if it is on."""
        if self.parameters['tip_compensation']:
            return self._tip.reference(self.reference, period)
        return self.reference

    def efforts_towards(self, wanted: Reference, period: float) -> np.ndarray:
        """Efforts (n_joints,) of the control law, less those of the drives."""
        joints, self._towards = self.model.n_joints, wanted
        efforts: np.ndarray = self._stiffness * (wanted.position - self.q[:joints])
        if self._damps:
            efforts += self._damping * (wanted.velocity - self.v[:joints])
        if wanted is not self.reference:     # about which the drives close their loops
            efforts += (self.drive_stiffness * (wanted.position - self.reference.position)
                        + self.drive_damping * (wanted.velocity - self.reference.velocity))
        if self.parameters['static_compensation']:
            if self.parameters['feedforward']:
                self._moving_load.move_to(wanted, period)
                planned = self.planned_effort(period) if wanted is self.reference else None
                efforts += self._moving_load.effort if planned is None else planned
            else:
                efforts += self._static_load.efforts(wanted.position)
        return efforts

    def update(self, time: float, period: float) -> np.ndarray:
        return self.efforts_towards(self.wanted(period), period)

    def affine_law(self) -> AffineLaw | None:
        model, joints, wanted = self.model, self.model.n_joints, self._towards
        ahead = np.zeros(joints)
        if wanted is not self.reference:
            ahead += (self.drive_stiffness * (wanted.position - self.reference.position)
                      + self.drive_damping * (wanted.velocity - self.reference.velocity))
        if self.parameters['static_compensation']:
            ahead += (self._moving_load.effort if self.parameters['feedforward']
                      else self._static_load.efforts(wanted.position))
        q, v, gains = np.zeros(model.n), np.zeros(model.n), np.zeros((joints, 2 * model.n))
        q[:joints], v[:joints] = wanted.position, wanted.velocity
        gains[:, :joints] = np.diag(self._stiffness)
        gains[:, model.n:model.n + joints] = np.diag(self._damping)
        return AffineLaw(ahead, q, v, gains, None, np.zeros((joints, 0)), np.zeros((0, model.n)),
                         np.full(joints, np.inf))
