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
"""Gains of the fast subsystem of a flexible robot: its modes while the slow motion stands still.

Singular perturbation (Siciliano and Book 1988): with M^-1 = [[H_jj, H_je], [H_ej, H_ee]] of joints
and elastic coordinates, the elastic motion about its quasi-static deflection obeys, as long as the
slow motion and gravity hardly change, z'' = -H_ee K z + H_ej u. These are the modes of the robot
with its joints free.
"""
from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from flex_control.design.lqr_design import LEAST_DAMPING, LqrGains
from flex_control.design.rest_model import RestModel
from flex_control.design.riccati import riccati
from flex_control.design.sampling import exponential_and_gramian
from flex_control.incremental import Pieces
from flex_dynamics import Model


def fast_modes(model: Model, rest: RestModel) -> RestModel:
    """The same linear model with the springs of links and joints alone: the first n_joints modes
    are the motions of the rigid robot."""
    K = np.array(model.stiffness_matrix())
    squares, shapes = eigh(K, rest.M, check_finite=False)
    squares[:model.n_joints] = 0.0
    return RestModel(rest.q, rest.M, K, rest.D, rest.B, shapes, squares)


def fast_gains(model: Model, rest: RestModel, effort: np.ndarray, effort_time: float,
               energy: float, highest: float, period: float) -> Pieces[LqrGains]:
    """Gains at the pose of `rest` for updates every `period` (s), of LqrGains without integral.

    Minimises the time integral of
        T / energy + V / energy + |u / effort|^2 + |du/dt effort_time / effort|^2
    over efforts u (n_joints,) held between updates. T: kinetic energy of all fast motion, V:
    strain energy, of the modes below `highest` (rad/s). The damping of the drives in `rest` acts,
    as it is fast at light joints; the positions of the joints are no part of the fast subsystem.
    """
    joints, n = model.n_joints, model.n
    fast = fast_modes(model, rest)
    modes = max(fast.kept(highest), joints)
    yield
    A, B = fast.state_space(modes)
    least = 2.0 * LEAST_DAMPING * fast.scale[joints:modes]
    bends = np.arange(modes + joints, 2 * modes)
    A[bends, bends] -= least
    kept = np.r_[joints:2 * modes]                     # without the positions of the joints
    A, B = A[np.ix_(kept, kept)], B[kept]
    states = len(kept)
    size = states + joints
    system, cost = np.zeros((2, size, size))
    system[:states, :states], system[:states, states:] = A, B
    cost[:states, :states] = np.eye(states) * (0.5 / energy)
    cost[states:, states:] = np.diag(1.0 / effort**2)
    yield
    transposed, summed = yield from exponential_and_gramian(system.T, cost, period)
    F = transposed.T.copy()
    G = F[:, states:].copy()
    change = np.diag((effort_time / effort)**2) / period
    sampled = yield from riccati(F, G, summed, summed[states:, states:] + change,
                                 summed[:, states:])
    gain = sampled.gain
    projection, bending = fast.projection[:modes], modes - joints
    state = np.zeros((joints, 2 * n))
    state[:, :n] = gain[:, :bending] @ (fast.scale[joints:modes, None] * projection[joints:])
    state[:, :joints] = 0.0                            # to rounding they are
    state[:, n:] = gain[:, bending:states] @ projection
    return LqrGains(state, np.zeros((joints, joints)), gain[:, states:], np.zeros((joints, n)))
