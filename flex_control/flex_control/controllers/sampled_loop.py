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
"""Stability of a sampled control loop: its poles with efforts held between updates."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import expm

from flex_control.controllers.base import Controller
from flex_control.errors import ControlError
from flex_control.trajectories.base import Reference
from flex_description.math import derivative

STEP = 1e-5             # rad or m, for slopes of a control law
LEAST_GROWTH = 1e-2     # 1/s; undamped links lie on the border, to rounding


class SampledLoop(NamedTuple):
    """Discrete poles (2 n,) of a loop about rest at a pose, and the fastest growing one in
    continuous time: rate (1/s, negative: it decays) and frequency (Hz)."""

    poles: np.ndarray
    rate: float
    frequency: float

    @property
    def stable(self) -> bool:
        """Whether no motion grows, to the accuracy of the linearisation."""
        return self.rate < LEAST_GROWTH


def sampled_loop(controller: Controller, joints: ArrayLike, period: float) -> SampledLoop:
    """The loop of a controller about rest at joints (n_joints,), sampled every `period` (s).

    The control law is differentiated at that pose; drives, with the gains of `set_drives`, act
    continuously. x' = A x + B tau is sampled exactly, x+ = A_d x + B_d tau, and closed by
    tau = -F x: poles of A_d - B_d F.
    """
    model, n = controller.model, controller.model.n
    if controller.needs_measurements:
        raise ControlError(f'{type(controller).__name__}: expected a control law of the state, '
                           'found one of measurements, whose estimator is part of the loop')
    q, tau = model.statics(joints)
    still = np.zeros(n)
    A, B = model.linearize(q, still, tau)
    # What the motor sees of each joint is the transpose of how it acts.
    sees = np.asarray(model.input_matrix()).T
    A[n:, :n] -= B[n:] @ (controller.drive_stiffness[:, None] * sees)
    A[n:, n:] -= B[n:] @ (controller.drive_damping[:, None] * sees)
    block = np.zeros((2 * n + B.shape[1],) * 2)
    block[:2 * n] = np.hstack((A, B))
    held = expm(block * period)[:2 * n]
    kept = controller.q, controller.v, controller.reference, controller.terms
    controller.reference = Reference.at_rest(q[:model.n_joints])

    def law(state: np.ndarray) -> np.ndarray:
        controller.q, controller.v = state[:n], state[n:]
        if controller.needs_terms:
            controller.terms = model.terms(controller.q, controller.v)
        return controller.law(0.0, period)

    try:
        slope = derivative(law, np.concatenate((q, still)), STEP)
    finally:
        controller.q, controller.v, controller.reference, controller.terms = kept
    poles = np.linalg.eigvals(held[:, :2 * n] + held[:, 2 * n:] @ slope)
    worst = poles[np.argmax(np.abs(poles))]
    root = np.log(complex(worst)) / period
    return SampledLoop(poles, float(root.real), float(abs(root.imag)) / (2.0 * np.pi))


def sampling_problem(controller: Controller, joints: ArrayLike, period: float) -> str:
    """Why a controller is not stable at joints (n_joints,) and `period` (s), with advice; empty if
    it is, to the first order, about rest."""
    loop = sampled_loop(controller, joints, period)
    if loop.stable:
        return ''
    _, damping = controller.drive_gains()
    missing = damping > controller.drive_damping + 1e-9
    advice = 'sample faster or lower the bandwidth'
    if missing.any():
        advice = (f'let the drives damp ({", ".join(f"{d:.3g}" for d in damping)} N m s/rad, or N '
                  f's/m), {advice}')
    return (f'{type(controller).__name__} every {period * 1e3:g} ms is unstable at joints '
            f'{np.round(np.asarray(joints, dtype=float), 3).tolist()}: a motion of '
            f'{loop.frequency:.3g} Hz grows by {loop.rate:.3g} /s; {advice}')
