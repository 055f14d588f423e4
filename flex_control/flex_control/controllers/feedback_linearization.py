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
"""Feedback linearisation of the joint positions, with the elastic state measured or estimated."""
from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from flex_control.controllers.base import Controller
from flex_control.controllers.parameters import Parameter
from flex_control.controllers.sampled_loop import sampled_loop
from flex_control.design.gains import (
    LINEARIZATION_SHARE,
    LINEARIZATION_VIBRATION_DAMPING,
    USUAL_PERIOD,
    first_frequency,
    poses,
    safe_bandwidth,
    shared_inertia,
)
from flex_control.design.zero_dynamics import check_joint_outputs
from flex_control.errors import ControlError
from flex_control.kernels import linearizing_efforts as rows
from flex_control.kernels.linearizing_efforts import SIGNATURE, linearizing_efforts
from flex_dynamics.kernels.base.handle import prepare
from flex_dynamics.kernels.base.layout import FRICTION_SPEED

LONG = 3.0              # s: a vibration that takes longer to decay to 1 % is warned of
FEW = 3.0               # times the first frequency: up to there motions excite modes
MOST_GROWTH = 50.0      # 1/s; what grows faster throws the arm about within tenths of a second


class FeedbackLinearization(Controller):
    """tau = (M_jj - M_je M_ee^-1 M_ej) u + h_j - M_je M_ee^-1 h_e,
    u = a_d + 2 z w (v_d - v) + w^2 (q_d - q), h = C v + D v + K q + g at the robot's state.

    The elastic accelerations are eliminated through M_ee, so that the joints obey
    e'' + 2 z w e' + w^2 e = 0 exactly, whatever the links do; the links then vibrate with locked
    joints, stable because clamped shapes make them so. Efforts are held for a period, in which
    light beam ends move far: M, D and K are taken by the implicit midpoint rule over the period,
    M + T/2 D + T^2/4 K at q + T/2 v, and what the drives will do by then is taken off in advance.
    Dry friction is fed forward at the wanted speed: M_jj - M_je M_ee^-1 M_ej is small where links
    are light, so that feedback alone would leave large errors.
    Where drives damp, v of the joints is their mean speed since the update before, so that they
    obey e'' + 2 z w e' + w^2 e = 0 in differences of their positions.
    Updates too slow for the arm are refused with the first one, by the poles of the sampled loop.
    """

    needs_elastic_state: ClassVar[bool] = True
    needs_terms: ClassVar[bool] = True
    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        Parameter('bandwidth', (), 'bandwidth of each joint; empty: 0.3 of the first frequency '
                  'with locked joints, at most 30 rad/s', 'rad/s', 0.01, 1e4, per_joint=True),
        Parameter('damping_ratio', 1.0, 'damping ratio of every joint', '', 0.0, 10.0),
        Parameter('vibration_damping', LINEARIZATION_VIBRATION_DAMPING, 'damping ratio that the '
                  'joints give the first mode; 0: they keep to their path, and the links vibrate '
                  'with their own damping', '', 0.0, 1.0),
    )

    def parameters_changed(self) -> None:
        check_joint_outputs(self.model, 'feedback_linearization')
        bandwidth = self.parameters['bandwidth']
        if not bandwidth.size:
            bandwidth = np.full(self.model.n_joints,
                                safe_bandwidth(self.model, LINEARIZATION_SHARE))
        self.stiffness = bandwidth**2                                          # 1/s2
        self.damping = 2.0 * self.parameters['damping_ratio'] * bandwidth      # 1/s
        self._inertia = shared_inertia(self.model)
        friction = {joint.name: joint.friction for joint in self.model.robot.joints}
        self._friction = np.array([friction.get(name, 0.0) for name in self.model.joint_names])
        first = first_frequency(self.model)
        self._absorbed = (2.0 * self.parameters['vibration_damping'] * first
                          if np.isfinite(first) else 0.0)
        self._checked, self._too_slow = False, ''
        self._gather_gains()
        if not hasattr(self, '_last'):
            prepare(linearizing_efforts, *SIGNATURE)
            n = self.model.n
            self._last: np.ndarray | None = None     # joint positions at the update before
            self._matrices = np.zeros((rows.MATRICES, n, n))
            self._made: tuple[Any, ...] = None, None, 0.0    # K, D, half, for which they hold
            self._work = np.zeros((n + 1, n))

    def reset(self) -> None:
        self._checked, self._last = False, None

    def drive_gains(self) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(self.model.n_joints), self._inertia * self.damping

    def set_drives(self, stiffness: ArrayLike, damping: ArrayLike) -> None:
        super().set_drives(stiffness, damping)
        self._gather_gains()
        self._checked = False

    def _gather_gains(self) -> None:
        self._gains = np.array((self.stiffness, self.damping, self.drive_stiffness,
                                self.drive_damping))
        self._drives_damp = bool(self.drive_damping.any())

    def update(self, time: float, period: float) -> np.ndarray:
        if self.terms is None:
            raise ControlError('feedback_linearization: expected terms of the model with each '
                               'state, found none')
        if not self._checked and period > 0.0:
            self._checked, self._too_slow = True, self._why_too_slow(period)
        if self._too_slow:
            raise ControlError(self._too_slow)
        joints = self.model.n_joints
        position, last = self.q[:joints], self._last
        self._last = position.copy()
        if last is None or period <= 0.0 or not self._drives_damp:
            return self.law(time, period)
        # A light joint on a drive that damps settles many times within a period: its speed at one
        # instant says nothing of how far it goes.
        return self._efforts((position - last) / period, period, period)

    def warning(self) -> str:
        """About the slowest of the vibrations that a motion excites most, if it rings on."""
        first = first_frequency(self.model)
        if not np.isfinite(first):
            return ''
        kept = self.drive_stiffness, self.drive_damping
        try:
            self.set_drives(*self.drive_gains())
            poles = sampled_loop(self, poses(self.model)[0], USUAL_PERIOD).poles
        finally:
            self.set_drives(*kept)
        with np.errstate(divide='ignore'):
            roots = np.log(poles.astype(complex)) / USUAL_PERIOD
        slow = roots[(np.abs(roots) < FEW * first) & (np.abs(roots.imag) > 0.1 * first)]
        if not slow.size:
            return ''
        worst = slow[np.argmax(slow.real)]
        lasts = np.log(100.0) / max(-worst.real, 1e-3)
        if lasts <= LONG:
            return ''
        frequency = abs(worst) / (2.0 * np.pi)
        return (f'feedback_linearization: a vibration of {frequency:.3g} Hz takes '
                f'{lasts:.2g} s or more to decay to 1 % (at the default pose, without a payload), '
                'since the joints hardly leave their path; shape the motions (parameter shaper: '
                'zvd), or use pid or lqr')

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
        if (self.drive_gains()[1] > self.drive_damping + 1e-9).any():
            advice = f'let the drives damp as this controller asks, {advice}'
        return (f'feedback_linearization every {period * 1e3:g} ms would not be stable: a motion '
                f'of {loop.frequency:.3g} Hz grows by {loop.rate:.3g} /s at joints '
                f'{np.round(at, 3).tolist()}; {advice}, or take computed_torque, which asks '
                'for less')

    def law(self, time: float, period: float) -> np.ndarray:
        return self._efforts(self.v[:self.model.n_joints], 0.5 * period, period)

    def _efforts(self, speed: np.ndarray, ahead: float, period: float) -> np.ndarray:
        """Efforts (n_joints,) to hold over the coming period (s), whose middle is `ahead` (s) of
        the instant of the joint speeds (n_joints,)."""
        assert self.terms is not None
        terms, wanted, half = self.terms, self.reference, 0.5 * period
        matrices = self._matrices
        matrices[rows.MASS], matrices[rows.CORIOLIS] = terms.M, terms.C
        if terms.K is not self._made[0] or terms.D is not self._made[1] or half != self._made[2]:
            self._made = terms.K, terms.D, half
            matrices[rows.ADDED_INERTIA] = half * terms.D + half**2 * terms.K
            matrices[rows.DAMPING] = terms.D + half * terms.K
            matrices[rows.STIFFNESS] = terms.K
        acceleration = wanted.acceleration
        if self._absorbed > 0.0:
            joints = self.model.n_joints
            acceleration = acceleration + self._absorbed * np.linalg.solve(
                terms.M[:joints, :joints], terms.M[:joints, joints:] @ self.v[joints:])
        efforts = np.empty(self.model.n_joints)
        bad = linearizing_efforts(
            matrices, piece(terms.g), self._gains, piece(self.q), piece(self.v), piece(speed),
            piece(wanted.position), piece(wanted.velocity), piece(acceleration), half,
            ahead, self._work, efforts)
        if bad:
            raise ControlError('feedback_linearization: the inertia of the elastic coordinates '
                               'among the terms is not positive definite')
        if self._friction.any():
            efforts += self._friction * np.tanh(wanted.velocity / FRICTION_SPEED)
        return efforts


def piece(values: ArrayLike) -> np.ndarray:
    """The same numbers as one piece of memory, as the kernel takes them; mostly they are."""
    return np.ascontiguousarray(values, dtype=float)
