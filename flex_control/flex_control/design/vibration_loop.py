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
"""How much pushes shake the tip of a sampled arm under a linear control law."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, solve_discrete_lyapunov

from flex_control.design.lqr_design import LEAST_DAMPING, tip_frames
from flex_control.design.rest_model import RestModel, rest_model
from flex_control.design.sampling import exponential_and_gramian
from flex_control.incremental import finish
from flex_dynamics import Model

DECAYS = 1e-9        # poles with |z| below 1 - DECAYS decay
TIME_WEIGHT = 2      # power of the time by which the motion of the tip is weighed
SMALLEST_SHARE = 1e-3     # of the tips' compliance, of modes that are looked at


@dataclass(frozen=True)
class LinearLaw:
    """u_k = D x_k + C c_k,  c_(k+1) = A c_k + B x_k,  with x = (dq, dv) (2 n,) and u (n_joints,).

    `with_joint_loops` adds the proportional and speed feedback of the joints.
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray

    @classmethod
    def of_gains(cls, state: np.ndarray, effort: np.ndarray) -> LinearLaw:
        """u+ = u - K x - K_u u of `LqrGains`: K (n_joints, 2 n), K_u (n_joints, n_joints)."""
        kept = np.eye(len(effort)) - effort
        return cls(kept, -state, kept, -state)

    def with_joint_loops(self, kp: np.ndarray, kd: np.ndarray) -> LinearLaw:
        """The same with -kp dq - kd dv of each joint, (n_joints,)."""
        D, joints = self.D.copy(), len(kp)
        n = D.shape[1] // 2
        D[:, :joints] -= np.diag(kp)
        D[:, n:n + joints] -= np.diag(kd)
        return LinearLaw(self.A, self.B, self.C, D)


class VibrationLoop:
    """A robot at rest at coordinates q (n,), with its drives' damping, sampled with held efforts.

    Pushes are short. Each of them shakes one mode of the robot on the joint springs `springs`
    (n_joints,), as strongly as a push on the tips can. Every mode has a damping ratio of
    LEAST_DAMPING at least, as in the designs.
    """

    def __init__(self, model: Model, q: np.ndarray, drive_damping: np.ndarray,
                 springs: np.ndarray, period: float) -> None:
        self.rest: RestModel = finish(rest_model(model, q, np.zeros(model.n_joints),
                                                 drive_damping))
        self._period = period
        self._tips = np.vstack([model.jacobian(q, frame)[:3] for frame in tip_frames(model)])
        rest, modes = self.rest, len(self.rest.squares)
        A, B = rest.state_space(modes)
        place = range(modes, 2 * modes)
        A[place, place] -= np.where(rest.squares > 0.0, 2.0 * LEAST_DAMPING * rest.scale, 0.0)
        tips = self._tips
        states, inputs = 2 * modes, B.shape[1]
        system = np.zeros((states + inputs, states + inputs))
        system[:states, :states], system[:states, states:] = A, B
        sampled, _ = finish(exponential_and_gramian(system, np.zeros_like(system), period))
        self._F, self._G = sampled[:states, :states], sampled[:states, states:]
        self._tip = np.hstack((tips @ rest.shapes / rest.scale, np.zeros((len(tips), modes))))
        self._coordinates = np.zeros((2 * model.n, states))        # (dq, dv) of the scaled modes
        self._coordinates[:model.n, :modes] = rest.shapes / rest.scale
        self._coordinates[model.n:, modes:] = rest.shapes
        self._pushes, self._weights = self._pushed(tips, springs)

    def _pushed(self, tips: np.ndarray, springs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """States (2 n, k) after the pushes, and their weights (k,): the share of each mode in the
        compliance of the tips."""
        rest = self.rest
        K = rest.K + (rest.B * springs) @ rest.B.T
        squares, shapes = eigh(0.5 * (K + K.T), rest.M, check_finite=False)
        size = np.linalg.norm(tips @ shapes, axis=0)
        weights = np.divide(size**2, squares, out=np.zeros_like(squares), where=squares > 1e-6)
        weights /= max(weights.sum(), 1e-300)
        kept = weights > SMALLEST_SHARE
        speeds = rest.projection @ (shapes[:, kept] * size[kept])
        return np.vstack((np.zeros_like(speeds), speeds)), weights[kept] / weights[kept].sum()

    def compliance(self, springs: np.ndarray) -> float:
        """How far (m) a constant push of 1 N moves the tips, with joint springs (n_joints,): root
        of the sum of squares over the tips and directions."""
        rest = self.rest
        K = rest.K + (rest.B * springs) @ rest.B.T
        return float(np.linalg.norm(self._tips @ np.linalg.solve(K, self._tips.T)))

    def closed(self, law: LinearLaw, late: int = 0) -> np.ndarray:
        """The matrix of one period of the loop; efforts act `late` periods later."""
        F, G, T = self._F, self._G, self._coordinates
        states, inputs, own = len(F), G.shape[1], len(law.A)
        size = states + own + late * inputs
        loop = np.zeros((size, size))
        loop[:states, :states] = F
        loop[states:states + own, :states] = law.B @ T
        loop[states:states + own, states:states + own] = law.A
        asked = np.hstack((law.D @ T, law.C))
        first = states + own
        if not late:
            loop[:states, :first] += G @ asked
            return loop
        loop[:states, size - inputs:] = G
        loop[first:first + inputs, :first] = asked
        for k in range(1, late):
            loop[first + k * inputs:first + (k + 1) * inputs,
                 first + (k - 1) * inputs:first + k * inputs] = np.eye(inputs)
        return loop

    def stable(self, law: LinearLaw, late: int = 0) -> bool:
        """Whether every motion of the loop decays."""
        loop = self.closed(law, late)
        return bool(np.isfinite(loop).all()
                    and np.abs(np.linalg.eigvals(loop)).max() < 1.0 - DECAYS)

    def tip_motion(self, law: LinearLaw, late: int = 0) -> float:
        """Geometric mean over the pushes, weighed, of the root of the integral of the tips'
        motion squared times time squared / 2 (m s^1.5) that a push leaves; infinite if the loop
        is not stable.

        A mode that the joints cannot damp takes the same part in all loops, and so does not hide
        what a control law does with the others.
        """
        if not self.stable(law, late):
            return np.inf
        loop = self.closed(law, late)
        tip = np.zeros((len(self._tip), len(loop)))
        states = self._tip.shape[1]
        tip[:, :states] = self._tip
        seen = solve_discrete_lyapunov(loop.T, tip.T @ tip)
        for _ in range(TIME_WEIGHT):
            seen = solve_discrete_lyapunov(loop.T, seen)
        seen = seen[:states, :states]
        squares = self._period**(1 + TIME_WEIGHT) * np.einsum('ik,ij,jk->k', self._pushes, seen,
                                                              self._pushes)
        return float(np.exp(0.5 * self._weights @ np.log(np.maximum(squares, 1e-300))))
