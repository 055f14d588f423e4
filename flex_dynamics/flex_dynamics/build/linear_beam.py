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
"""A beam to first order in its amplitudes and speeds: the space integrals of the `linear` order.

A section at x carries its slice as a rigid body. Its twist in its own axes, [omega; v], is

    V_section = T (V; etad),   T = T0 + T1 eta,   T0 = [X0, Phi],

with axes turned by I + theta x, theta = t1 eta (24), and omega = theta' in the beam's axes (27).
The slice's inertia turns with it. Cibicik and Egeland (107) leave that turn out of M but keep its
rate in C (105); it is first order, so it is here in both, and dM/dt - 2 C is skew-symmetric.
"""
from __future__ import annotations

import numpy as np

from flex_description.math import gauss_stations
from flex_dynamics.build.beam_fields import LEVI_CIVITA, BeamFields


def section_shapes(fields: BeamFields, x: np.ndarray) -> np.ndarray:
    """Phi (k, 6, m) = [t1; r1]: rotation and displacement of the sections per amplitude."""
    return np.concatenate((fields.rotation_first(x), fields.displacement_first(x)), axis=1)


def largest_turn(fields: BeamFields) -> np.ndarray:
    """(m,) rad per amplitude: by how much it turns the section that it turns most."""
    x = np.linspace(0.0, fields.flexible.length, 33)
    return np.abs(fields.rotation_first(x)).max(axis=(0, 1))


def beam_blocks(fields: BeamFields) -> np.ndarray:
    """The integrals that kernels/linear/linear_order.py reads, flat, with size = 6 + m:

    D0 (size, size) + D1 (m, size, size) eta             inertia of twist and amplitudes
    C0 (6, size, size) V + C1 (m, 6, ...) eta V + C2 (m, ...) etad     matrix of its speed forces
    """
    # Products of three shapes in each smooth interval, to rounding.
    x, weights = gauss_stations(fields.breakpoints, fields.resolution)
    still, moved = _section_motion(x, section_shapes(fields, x))
    properties = fields.flexible.properties(x)
    inertia = np.zeros((len(x), 6))
    inertia[:, 0] = properties.inertia_y + properties.inertia_z
    inertia[:, 1], inertia[:, 2] = properties.inertia_y, properties.inertia_z
    inertia[:, 3:] = properties.mass_per_length[:, None]
    inertia *= weights[:, None]

    def integral(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.einsum('kci,kc,kcj->ij', left, inertia, right, optimize=True)

    def gyroscopic(speed: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Integral of left' B right, B V = V x* D V at the sections' speeds (k, 6)."""
        matrix = _speed_force_matrix(inertia * speed)
        return np.einsum('kci,kcd,kdj->ij', left, matrix, right, optimize=True)

    modes = range(fields.n_modes)
    first = [moved[..., m] for m in modes]
    d0 = integral(still, still)
    d1 = [integral(t, still) + integral(still, t) for t in first]
    c0 = [gyroscopic(still[:, :, a], still, still) for a in range(6)]
    c1 = [gyroscopic(still[:, :, a], t, still) + gyroscopic(still[:, :, a], still, t)
          + gyroscopic(t[:, :, a], still, still) for t in first for a in range(6)]
    c2 = [integral(still, first[m]) + gyroscopic(still[:, :, 6 + m], still, still) for m in modes]
    return np.concatenate([np.ravel(part) for part in (d0, d1, c0, c1, c2)])


def _section_motion(x: np.ndarray, shapes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """T0 (k, 6, 6 + m) and T1 (k, 6, 6 + m, m) of the sections at x."""
    k, _, m = shapes.shape
    arm = np.zeros((k, 3))
    arm[:, 0] = x
    still = np.zeros((k, 6, 6 + m))
    still[:, :, :6] = np.eye(6)
    still[:, 3:, :3] = -_cross(arm)                             # v + w x p
    still[:, :, 6:] = shapes
    turn = np.moveaxis(_cross(np.moveaxis(shapes[:, :3], -1, 0)), 0, -1)      # (k, 3, 3, m)
    moved = np.zeros((k, 6, 6 + m, m))
    for rows in (slice(0, 3), slice(3, 6)):
        moved[:, rows] = -np.einsum('kabm,kbj->kajm', turn, still[:, rows], optimize=True)
    moved[:, 3:, :3] -= np.moveaxis(_cross(np.moveaxis(shapes[:, 3:], -1, 0)), 0, -1)     # w x d
    return still, moved


def _cross(vectors: np.ndarray) -> np.ndarray:
    """Matrices of the cross product (..., 3, 3) of vectors (..., 3)."""
    return -np.einsum('abc,...c->...ab', LEVI_CIVITA, vectors)


def _speed_force_matrix(momentum: np.ndarray) -> np.ndarray:
    """B (k, 6, 6) of momenta [h; l] (k, 6): B V = V x* [h; l], skew-symmetric."""
    out = np.zeros((len(momentum), 6, 6))
    out[:, :3, :3] = -_cross(momentum[:, :3])
    out[:, :3, 3:] = out[:, 3:, :3] = -_cross(momentum[:, 3:])
    return out
