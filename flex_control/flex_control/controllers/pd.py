"""Joint PD control, plain as Cibicik and Egeland ran it, or with the static load carried ahead."""
from __future__ import annotations

from typing import ClassVar

import numpy as np

from flex_control.controllers.base import Controller
from flex_control.parameters import Parameter
from flex_control.static_load import StaticLoad
from flex_dynamics.joint_inertia import largest_joint_inertia

SHARE_OF_FIRST_FREQUENCY = 0.3   # a PD loop near the first flexible mode would excite it
FASTEST = 10.0                   # rad/s, for robots without a flexible link


class PD(Controller):
    """tau = kp (q_d - q) + kd (v_d - v) + tau_static(q_d)."""

    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        Parameter('kp', (), 'position gains; empty: from the largest inertia and the bandwidth',
                  'N m/rad or N/m', 0.0, 1e9, per_joint=True),
        Parameter('kd', (), 'speed gains; empty: critical damping at kp',
                  'N m s/rad or N s/m', 0.0, 1e9, per_joint=True),
        Parameter('bandwidth', 0.0, 'of gains left empty; 0: a share of the first frequency with '
                  'locked joints', 'rad/s', 0.0, 1e4),
        Parameter('static_compensation', True, 'carry gravity and deflection at the wanted pose, '
                  'from the model'),
    )

    def parameters_changed(self) -> None:
        model = self.model
        bandwidth = self.parameters['bandwidth'] or self._safe_bandwidth()
        self.kp, self.kd = self.parameters['kp'], self.parameters['kd']
        if not self.kp.size:
            self.kp = largest_joint_inertia(model) * bandwidth**2
        if not self.kd.size:
            self.kd = 2.0 * np.sqrt(self.kp * largest_joint_inertia(model))
        self._static_load = StaticLoad(model)

    def _safe_bandwidth(self) -> float:
        stretched = np.zeros(self.model.n)
        frequencies, _ = self.model.frequencies(stretched, joints='locked')
        first = frequencies[0] if frequencies.size else np.inf
        return float(min(FASTEST, SHARE_OF_FIRST_FREQUENCY * first))

    def update(self, time: float, period: float) -> np.ndarray:
        joints = self.model.n_joints
        wanted = self.reference
        efforts = (self.kp * (wanted.position - self.q[:joints])
                   + self.kd * (wanted.velocity - self.v[:joints]))
        if self.parameters['static_compensation']:
            efforts += self._static_load.efforts(wanted.position)
        return efforts - self.drive_effort()
