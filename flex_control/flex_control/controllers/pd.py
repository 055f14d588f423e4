"""Joint PD control, plain as Cibicik and Egeland ran it, or with the static load carried ahead."""
from __future__ import annotations

from typing import ClassVar

import numpy as np

from flex_control.controllers.base import Controller
from flex_control.gains import safe_bandwidth
from flex_control.parameters import Parameter
from flex_control.static_load import StaticLoad
from flex_control.tip_compensation import TipCompensation
from flex_control.trajectories.base import Reference
from flex_dynamics.joint_inertia import largest_joint_inertia

SHARE_OF_FIRST_FREQUENCY = 0.3


class PD(Controller):
    """tau = kp (q_d - q) + kd (v_d - v) + tau_static(q_d).

    With `tip_compensation` q_d is moved so that the sagging tip is where the straight robot's
    would be.
    """

    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        Parameter('kp', (), 'position gains; empty: from the largest inertia and the bandwidth',
                  'N m/rad or N/m', 0.0, 1e9, per_joint=True),
        Parameter('kd', (), 'speed gains; empty: critical damping at kp',
                  'N m s/rad or N s/m', 0.0, 1e9, per_joint=True),
        Parameter('bandwidth', 0.0, 'of gains left empty; 0: a share of the first frequency with '
                  'locked joints', 'rad/s', 0.0, 1e4),
        Parameter('static_compensation', True, 'carry gravity and deflection at the wanted pose, '
                  'from the model'),
        Parameter('tip_compensation', False, 'move the joints so that the sagging tip is where '
                  'the straight robot would have it'),
        Parameter('tip_frame', '', 'link or frame that is the tip; empty: the last link'),
    )

    def parameters_changed(self) -> None:
        model, given = self.model, self.parameters
        bandwidth = given['bandwidth'] or safe_bandwidth(model, SHARE_OF_FIRST_FREQUENCY)
        self.kp, self.kd = given['kp'], given['kd']
        if not self.kp.size:
            self.kp = largest_joint_inertia(model) * bandwidth**2
        if not self.kd.size:
            self.kd = 2.0 * np.sqrt(self.kp * largest_joint_inertia(model))
        self._static_load = StaticLoad(model)
        self._tip = TipCompensation(model, given['tip_frame'])

    def drive_gains(self) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(self.model.n_joints), self.kd

    def reset(self) -> None:
        self._tip.reset()

    def wanted(self, period: float) -> Reference:
        """The reference, with the tip's compensation if asked for."""
        if self.parameters['tip_compensation']:
            return self._tip.reference(self.reference, period)
        return self.reference

    def efforts_towards(self, wanted: Reference) -> np.ndarray:
        """Efforts (n_joints,) of the law, less what the drives add."""
        joints = self.model.n_joints
        # To take damping away from drives that have more would act with a period's delay.
        damping = np.maximum(self.kd, self.drive_damping)
        efforts = (self.kp * (wanted.position - self.q[:joints])
                   + damping * (wanted.velocity - self.v[:joints]))
        if self.parameters['static_compensation']:
            efforts += self._static_load.efforts(wanted.position)
        return efforts - self.drive_effort()

    def update(self, time: float, period: float) -> np.ndarray:
        return self.efforts_towards(self.wanted(period))
