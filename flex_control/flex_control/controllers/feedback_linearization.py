"""Feedback linearisation of the joint positions, with the elastic state measured or estimated."""
from __future__ import annotations

from typing import ClassVar

import numpy as np

from flex_control.controllers.base import Controller
from flex_control.errors import ControlError
from flex_control.gains import safe_bandwidth
from flex_control.parameters import Parameter
from flex_control.sampled_loop import sampled_loop
from flex_control.zero_dynamics import check_joint_outputs

SHARE_OF_FIRST_FREQUENCY = 0.4
MOST_GROWTH = 50.0      # 1/s; what grows faster throws the arm about within tenths of a second


class FeedbackLinearization(Controller):
    """tau = (M_jj - M_je M_ee^-1 M_ej) u + h_j - M_je M_ee^-1 h_e,
    u = a_d + 2 z w (v_d - v) + w^2 (q_d - q), h = C v + D v + K q + g at the robot's state.

    The elastic accelerations are eliminated through M_ee, so that the joints obey
    e'' + 2 z w e' + w^2 e = 0 exactly, whatever the links do; the links then vibrate with locked
    joints, stable because clamped shapes make them so. Efforts are held for a period, in which
    light beam ends move far: M, D and K are taken by the implicit midpoint rule over the period,
    M + T/2 D + T^2/4 K at q + T/2 v, so that the joints' speeds come out right at its end.
    Updates too slow for the arm are refused with the first one, by the poles of the sampled loop.
    """

    needs_elastic_state: ClassVar[bool] = True
    needs_terms: ClassVar[bool] = True
    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        Parameter('bandwidth', (), 'w of each joint; empty: 0.4 of the first frequency with '
                  'locked joints', 'rad/s', 0.01, 1e4, per_joint=True),
        Parameter('damping_ratio', 1.0, 'z of every joint', '', 0.0, 10.0),
    )

    def parameters_changed(self) -> None:
        check_joint_outputs(self.model, 'feedback_linearization')
        bandwidth = self.parameters['bandwidth']
        if not bandwidth.size:
            bandwidth = np.full(self.model.n_joints,
                                safe_bandwidth(self.model, SHARE_OF_FIRST_FREQUENCY))
        self.stiffness = bandwidth**2                                          # 1/s2
        self.damping = 2.0 * self.parameters['damping_ratio'] * bandwidth      # 1/s
        self._checked, self._too_slow = False, ''

    def reset(self) -> None:
        self._checked = False

    def set_drives(self, stiffness, damping) -> None:
        super().set_drives(stiffness, damping)
        self._checked = False

    def update(self, time: float, period: float) -> np.ndarray:
        if self.terms is None:
            raise ControlError('feedback_linearization: expected terms of the model with each '
                               'state, found none')
        if not self._checked and period > 0.0:
            self._checked, self._too_slow = True, self._why_too_slow(period)
        if self._too_slow:
            raise ControlError(self._too_slow)
        return self.law(time, period)

    def _why_too_slow(self, period: float) -> str:
        """Why updates every `period` (s) would throw the arm about; empty if they do not."""
        at = self.reference.position
        loop = sampled_loop(self, at, period)
        if loop.rate <= MOST_GROWTH:
            return ''
        faster = next((period / 2**k for k in range(1, 6)
                       if sampled_loop(self, at, period / 2**k).rate <= MOST_GROWTH), None)
        advice = (f'update every {faster * 1e3:g} ms (state rate {1.0 / faster:.0f} Hz: parameter '
                  'rate of the simulator)' if faster else 'lower the bandwidth')
        return (f'feedback_linearization every {period * 1e3:g} ms would not be stable: a motion '
                f'of {loop.frequency:.3g} Hz grows by {loop.rate:.3g} /s at joints '
                f'{np.round(at, 3).tolist()}; {advice}, or take computed_torque, which asks '
                'for less')

    def law(self, time: float, period: float) -> np.ndarray:
        assert self.terms is not None
        joints, wanted = self.model.n_joints, self.reference
        M, C, K, D, g, _ = self.terms
        half = 0.5 * period
        inertia = M + half * D + half**2 * K
        force = (C + D) @ self.v + K @ (self.q + half * self.v) + g
        acceleration = (wanted.acceleration
                        + self.damping * (wanted.velocity - self.v[:joints])
                        + self.stiffness * (wanted.position - self.q[:joints]))
        elastic = np.linalg.solve(inertia[joints:, joints:],
                                  -force[joints:] - inertia[joints:, :joints] @ acceleration)
        efforts = inertia[:joints, :joints] @ acceleration + inertia[:joints, joints:] @ elastic
        return efforts + force[:joints] - self.drive_effort()
