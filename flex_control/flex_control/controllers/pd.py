"""Joint PD control, as Cibicik and Egeland used it, or with feedforward of the static load."""
from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from flex_control.controllers.base import Controller
from flex_control.controllers.parameters import Parameter
from flex_control.design.gains import safe_bandwidth, shared_inertia
from flex_control.reference.static_load import StaticLoad
from flex_control.reference.tip_compensation import TipCompensation
from flex_control.trajectories.base import Reference

SHARE_OF_FIRST_FREQUENCY = 0.3


class PD(Controller):
    """tau = kp (q_d - q) + kd (v_d - v) + tau_static(q_d).

    With `tip_compensation` q_d is moved so that the tip of the sagging robot is where that of the
    straight robot would be.
    """

    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        Parameter('kp', (), 'position gains; empty: from the inertia and the bandwidth',
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
        inertia = shared_inertia(model)
        if not self.kp.size:
            self.kp = inertia * bandwidth**2
        if not self.kd.size:
            self.kd = 2.0 * np.sqrt(self.kp * inertia)
        self._share()
        self._static_load = StaticLoad(model)
        self._tip = TipCompensation(model, given['tip_frame'])

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

    def reset(self) -> None:
        self._tip.reset()

    def wanted(self, period: float) -> Reference:
        """The reference, with the compensation of the tip if it is on."""
        if self.parameters['tip_compensation']:
            return self._tip.reference(self.reference, period)
        return self.reference

    def efforts_towards(self, wanted: Reference) -> np.ndarray:
        """Efforts (n_joints,) of the control law, less those of the drives."""
        joints = self.model.n_joints
        efforts = self._stiffness * (wanted.position - self.q[:joints])
        if self._damps:
            efforts += self._damping * (wanted.velocity - self.v[:joints])
        if wanted is not self.reference:     # about which the drives close their loops
            efforts += (self.drive_stiffness * (wanted.position - self.reference.position)
                        + self.drive_damping * (wanted.velocity - self.reference.velocity))
        if self.parameters['static_compensation']:
            efforts += self._static_load.efforts(wanted.position)
        return efforts

    def update(self, time: float, period: float) -> np.ndarray:
        return self.efforts_towards(self.wanted(period))
