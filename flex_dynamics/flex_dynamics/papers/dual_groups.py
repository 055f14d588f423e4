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
"""Dual rotations and dual homogeneous matrices as matrix groups (Cibicik and Egeland, III).

G1, (6, 6): X = [[A, 0], [theta^x A, A]], A a rotation, theta a small rotation of first order.
G2, (7, 7): Y = [[X, v], [0, 1]], v = [real; dual] (6,) a position with its elastic part.
Their algebras: [w]^ (6, 6) of w (6,) = [real; dual], and [t]^ (7, 7) of the dual twist t (12,) =
[w; v]. Exponentials and logarithms in closed form are those of the paper's Appendix A.
"""
from __future__ import annotations

import numpy as np

from flex_description.math import skew, unskew
from flex_dynamics.errors import DynamicsError
from flex_dynamics.papers.left_jacobian import (
    coupling,
    exponential,
    inverse_left_jacobian,
    left_jacobian,
    logarithm,
)


def wedge(w: np.ndarray) -> np.ndarray:
    """[w]^ (6, 6) in g1 of a dual vector w (6,): (38). It is also ad of G1: (13)."""
    return _lower(skew(w[:3]), skew(w[3:]))


def vee(W: np.ndarray) -> np.ndarray:
    """The dual vector (6,) of an element of g1."""
    return np.concatenate((unskew(W[:3, :3]), unskew(W[3:, :3])))


def lower_wedge(w: np.ndarray) -> np.ndarray:
    """[w]_ (6, 6): (100), the wedge of forces: hat @ wedge(w) = lower_wedge(w) @ hat."""
    return np.block([[skew(w[:3]), skew(w[3:])], [np.zeros((3, 3)), skew(w[:3])]])


# G1: dual rotations ----------------------------------------------------------------------------

def dual_rotation(A: np.ndarray, theta: np.ndarray | None = None) -> np.ndarray:
    """X (6, 6) of a rotation A (3, 3) followed, in the outer axes, by a small theta (3,): (8)."""
    return _lower(A, np.zeros((3, 3)) if theta is None else skew(theta) @ A)


def small_rotation(X: np.ndarray) -> np.ndarray:
    """theta (3,) of a dual rotation."""
    return unskew(X[3:, :3] @ X[:3, :3].T)


def inverse_rotation(X: np.ndarray) -> np.ndarray:
    """X^-1, which is not the transpose: (32)."""
    return _lower(X[:3, :3].T, X[3:, :3].T)


def exp_rotation(w: np.ndarray) -> np.ndarray:
    """exp [w]^ of w (6,): (136)."""
    return dual_rotation(exponential(w[:3]), left_jacobian(w[:3]) @ w[3:])


def log_rotation(X: np.ndarray) -> np.ndarray:
    """w (6,) with exp_rotation(w) = X, for turns below a half-turn: (137)."""
    _check(X, 6)
    phi = logarithm(X[:3, :3])
    return np.concatenate((phi, inverse_left_jacobian(phi) @ small_rotation(X)))


# G2: dual homogeneous matrices -----------------------------------------------------------------

def dual_pose(X: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Y (7, 7) of a dual rotation X (6, 6) and a dual position v (6,): (14)."""
    return np.block([[X, v[:, None]], [np.zeros((1, 6)), np.ones((1, 1))]])


def inverse_pose(Y: np.ndarray) -> np.ndarray:
    """Y^-1: (51)."""
    back = inverse_rotation(Y[:6, :6])
    return dual_pose(back, -back @ Y[:6, 6])


def wedge_twist(t: np.ndarray) -> np.ndarray:
    """[t]^ (7, 7) in g2 of a dual twist t (12,): (16)."""
    return np.block([[wedge(t[:6]), t[6:, None]], [np.zeros((1, 7))]])


def vee_twist(T: np.ndarray) -> np.ndarray:
    """The dual twist (12,) of an element of g2."""
    return np.concatenate((vee(T[:6, :6]), T[:6, 6]))


def adjoint(Y: np.ndarray) -> np.ndarray:
    """Ad (12, 12) of G2: (19). That of G1 is X itself: (12)."""
    X = Y[:6, :6]
    return np.block([[X, np.zeros((6, 6))], [wedge(Y[:6, 6]) @ X, X]])


def small_adjoint(t: np.ndarray) -> np.ndarray:
    """ad (12, 12) of g2, with ad(a) b the bracket of a and b."""
    rotation = wedge(t[:6])
    return np.block([[rotation, np.zeros((6, 6))], [wedge(t[6:]), rotation]])


def exp_pose(t: np.ndarray) -> np.ndarray:
    """exp [t]^ of a dual twist t (12,): (141)."""
    return dual_pose(exp_rotation(t[:6]), dual_left_jacobian(t[:6]) @ t[6:])


def log_pose(Y: np.ndarray) -> np.ndarray:
    """t (12,) with exp_pose(t) = Y, for turns below a half-turn: (145)."""
    _check(Y, 7)
    w = log_rotation(Y[:6, :6])
    J = inverse_left_jacobian(w[:3])
    inverse = _lower(J, -J @ coupling(w[:3], w[3:]) @ J)
    return np.concatenate((w, inverse @ Y[:6, 6]))


def dual_left_jacobian(w: np.ndarray) -> np.ndarray:
    """Psi (6, 6) of G1, the sum of [w]^k / (k + 1)!: (143)."""
    return _lower(left_jacobian(w[:3]), coupling(w[:3], w[3:]))


def _lower(diagonal: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.block([[diagonal, np.zeros((3, 3))], [below, diagonal]])


def _check(X: np.ndarray, size: int) -> None:
    if np.shape(X) != (size, size) or not np.isfinite(X).all():
        raise DynamicsError(f'dual matrix: expected ({size}, {size}) finite numbers, found an '
                            f'array {np.shape(X)}')
