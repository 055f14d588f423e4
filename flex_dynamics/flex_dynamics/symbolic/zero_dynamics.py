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
"""Poles, zeros and the phase of a flexible robot about a pose (Lin and Lewis, 4.2).

With the outputs y = H q held at zero, what still moves is the zero dynamics. Of

    M a + D v + K q = B tau,   y = H q,

q = N z with H N = 0, and L'B = 0, it is L'(M s2 + D s + K) N z = 0, a problem as large as there
are coordinates beside the outputs. Zeros with a positive real part: non-minimum phase; a
controller that inverts the plant makes such a motion grow without bound.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eig, null_space

from flex_dynamics.arrays import ArrayLike
from flex_dynamics.errors import DynamicsError
from flex_dynamics.model.model import Model

AXES = ('x', 'y', 'z', 'rx', 'ry', 'rz')
PHASES = ('minimum phase', 'marginally stable zeros', 'non-minimum phase')


@dataclass(frozen=True)
class ZeroDynamics:
    """poles, zeros: complex, 1/s, sorted by size. phase: one of PHASES. outputs: their names."""

    outputs: tuple[str, ...]
    poles: np.ndarray
    zeros: np.ndarray
    phase: str

    @property
    def minimum_phase(self) -> bool:
        """No zero in the right half-plane (those on the imaginary axis are allowed)."""
        return self.phase != PHASES[2]

    def __str__(self) -> str:
        shown = ', '.join(_shown(z) for z in self.zeros)
        if not shown:
            return f'output {", ".join(self.outputs)}: {self.phase} (no zeros)'
        words = {'minimum phase': 'every zero decays',
                 'marginally stable zeros': 'zeros on the imaginary axis, none to the right of it',
                 'non-minimum phase': 'a zero in the right half-plane: to hold the output, the '
                                      'deflections must grow'}[self.phase]
        return f'output {", ".join(self.outputs)}: {self.phase} ({words}); zeros {shown} 1/s'


def zero_dynamics(model: Model, output: str | ArrayLike = 'joints',
                  q: ArrayLike | None = None, frame: str | None = None,
                  x: float | None = None, axes: Sequence[int] | None = None,
                  damping: bool = True) -> ZeroDynamics:
    """Poles and zeros about the equilibrium at joint positions q (n_joints,), zero if left out.

    output: 'joints', the coordinates of the joints; 'tip', the position of `frame` and x (m along
    its beam), the end of the last link if left out, along as many world `axes` as there are
    joints, by default those in which the joints move it most; or rows H (n_joints, n) of your own.
    """
    position, tau = model.statics(np.zeros(model.n_joints) if q is None else q)
    M = model.mass_matrix(position)
    D = model.damping_matrix() if damping else np.zeros_like(M)
    # gravity turns with the pose, so its derivative is a stiffness too
    K = model.stiffness_matrix() + model.gravity_force_derivative(position)
    B = model.input_matrix(position)
    H, names = _outputs(model, output, position, frame, x, axes)
    poles = _roots(M, D, K)
    if np.linalg.matrix_rank(H) < len(H):
        raise DynamicsError(f'output {", ".join(names)}: expected outputs that do not depend on '
                            'one another, found some that do at this pose')
    L, N = null_space(B.T), null_space(H)
    zeros = _roots(L.T @ M @ N, L.T @ D @ N, L.T @ K @ N)
    return ZeroDynamics(names, poles, zeros, _phase(zeros))


def _outputs(model: Model, output: str | ArrayLike, q: np.ndarray, frame: str | None,
             x: float | None, axes: Sequence[int] | None) -> tuple[np.ndarray, tuple[str, ...]]:
    joints = model.n_joints
    if isinstance(output, str) and output == 'joints':
        return np.eye(model.n)[:joints], model.joint_names
    if isinstance(output, str) and output == 'tip':
        if frame is None:
            last = model.robot.links[-1]
            frame, x = last.name, last.flexible.length if last.flexible is not None else None
        J = model.jacobian(q, frame, x)
        if axes is None:
            axes = _best_axes(J[:, :joints])
            if len(axes) < joints:
                raise DynamicsError(f'tip: expected a pose in which {joints} joints move it in as '
                                    f'many ways, found {len(axes)}: an arm is stretched out, or '
                                    'two joints do the same; choose another pose q or another '
                                    'frame')
        if len(axes) != joints or any(not 0 <= axis < 6 for axis in axes):
            raise DynamicsError(f'axes: expected {joints} of 0 to 5 (x, y, z, then turns), one '
                                f'for each joint, found {tuple(axes)}')
        return J[list(axes)], tuple(f'{frame}/{AXES[a]}' for a in axes)
    if isinstance(output, str):
        raise DynamicsError("output: expected 'joints', 'tip' or rows (n_joints, n), found "
                            f'{output!r}')
    H = np.asarray(output, dtype=float)
    if H.shape != (joints, model.n) or not np.isfinite(H).all():
        raise DynamicsError(f'output: expected {joints} rows of {model.n} finite numbers, found '
                            f'an array {H.shape}')
    return H, tuple(f'row {k + 1}' for k in range(joints))


def _best_axes(J: np.ndarray) -> list[int]:
    """World directions, as many as joints, positions before turns, that the joints move most and
    that do not depend on one another."""
    chosen: list[int] = []
    sizes = np.linalg.norm(J, axis=1)
    for axis in sorted(range(6), key=lambda a: (a >= 3, -sizes[a])):
        rows = J[[*chosen, axis]]
        if len(chosen) < J.shape[1] and sizes[axis] > 0.0 and (
                np.linalg.svd(rows, compute_uv=False)[-1] > 1e-6 * sizes.max()):
            chosen.append(axis)
    return sorted(chosen)


def _roots(M: np.ndarray, D: np.ndarray, K: np.ndarray) -> np.ndarray:
    """s (k,) of det(M s2 + D s + K) = 0, the infinite ones left out."""
    n = len(M)
    if n == 0:
        return np.zeros(0, dtype=complex)
    scale = np.sqrt(max(np.abs(K).max(), 1e-12) / max(np.abs(M).max(), 1e-12))
    if not D.any():
        # in s2, which keeps pairs on the axes exactly there
        above, below = eig(-K, M * scale**2, right=False, homogeneous_eigvals=True)
        squares = _finite(above, below)
        roots = np.sqrt(squares.astype(complex))
        s = np.concatenate((roots, -roots))
    else:
        left = np.block([[np.zeros((n, n)), np.eye(n)], [-K, -D * scale]])
        right = np.block([[np.eye(n), np.zeros((n, n))], [np.zeros((n, n)), M * scale**2]])
        s = _finite(*eig(left, right, right=False, homogeneous_eigvals=True))
    s = s * scale
    s.real[np.abs(s.real) < 1e-9 * np.abs(s)] = 0.0
    s.imag[np.abs(s.imag) < 1e-9 * np.abs(s)] = 0.0
    ordered: np.ndarray = s[np.lexsort((s.imag, s.real, np.round(np.abs(s), 9)))]
    return ordered


def _finite(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    keep = np.abs(below) > 1e-12 * np.hypot(np.abs(above), np.abs(below))
    ratios: np.ndarray = above[keep] / below[keep]
    return ratios


def _phase(zeros: np.ndarray) -> str:
    size = max(1.0, float(np.abs(zeros).max(initial=0.0)))
    if np.any(zeros.real > 1e-7 * size):
        return PHASES[2]
    return PHASES[0] if np.all(zeros.real < -1e-12 * size) else PHASES[1]


def _shown(z: complex) -> str:
    if z.imag == 0.0:
        return f'{z.real:.6g}'
    sign = '+' if z.imag > 0.0 else '-'
    return f'{z.real:.6g} {sign} j{abs(z.imag):.6g}' if z.real else f'{sign}j{abs(z.imag):.6g}'
