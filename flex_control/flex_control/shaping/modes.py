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
"""Lightly damped modes of a robot at a pose: natural frequencies and damping ratios."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eig, eigh

from flex_control.commanded_joints import commanded_places
from flex_dynamics import Model

RINGS_BELOW = 0.4       # damping ratio: what is damped more is gone within a period


def ringing_modes(model: Model, q: np.ndarray, count: int,
                  joint_stiffness: ArrayLike | None = None,
                  joint_damping: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Natural frequencies (k,) rad/s, rising, and damping ratios (k,) of the lowest modes, k <=
    count, at coordinates q (n,).

    Without gains the joints stand still: what a controller that tracks its joints leaves. With
    joint_stiffness and joint_damping (n_joints,) they are held by springs and dampers: what a PD
    loop leaves. Modes that do not ring, damped above 0.4, are left out.
    """
    held = joint_stiffness is not None
    mass, stiffness = model.mass_matrix(q), model.stiffness_matrix()
    damping = model.damping_matrix()
    first = 0 if held else model.n_joints
    if held:
        inputs = model.input_matrix(q)
        gains = np.zeros(model.n_joints) if joint_damping is None else np.asarray(joint_damping)
        stiffness = stiffness + inputs @ np.diag(np.asarray(joint_stiffness)) @ inputs.T
        damping = damping + inputs @ np.diag(gains) @ inputs.T
    if model.robot.constraints:
        still = [] if held else [model.names[place] for place in commanded_places(model)]
        free = model.free_directions(q, still)
        mass, stiffness, damping = (free.T @ m @ free for m in (mass, stiffness, damping))
    else:
        mass, stiffness, damping = (m[first:, first:] for m in (mass, stiffness, damping))
    if not len(mass):
        return np.zeros(0), np.zeros(0)
    if not damping.any():
        frequencies = np.sqrt(np.maximum(eigh(stiffness, mass, eigvals_only=True), 0.0))
        ratios = np.zeros_like(frequencies)
    else:
        size = len(mass)
        state = np.zeros((2 * size, 2 * size))
        state[:size, size:] = np.eye(size)
        state[size:] = np.linalg.solve(mass, np.hstack((-stiffness, -damping)))
        roots = eig(state, right=False)
        roots = roots[roots.imag > 0.0]
        frequencies = np.abs(roots)
        ratios = -roots.real / np.maximum(frequencies, 1e-12)
    rings = (frequencies > 1e-6) & (ratios < RINGS_BELOW)
    order = np.argsort(frequencies[rings])[:count]
    return frequencies[rings][order], np.maximum(ratios[rings][order], 0.0)
