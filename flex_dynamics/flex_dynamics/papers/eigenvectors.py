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
"""Eigenvectors of a symmetric 3 x 3 matrix by vector-parameters (Mladenova, section 5).

Two rotations, each by a vector-parameter in closed form: the first, c = (x, 0, z), turns the first
axis into an eigenvector, x being a root of a cubic (179) and z of a quadratic; the second,
(u, 0, 0), removes what is left between the other two axes, u by (184) to (188). Roots of a cubic
lose digits where eigenvalues are close, so rotations of the second kind, about each axis in turn,
polish the result to rounding; they converge quadratically.
"""
from __future__ import annotations

import numpy as np

from flex_description.math import ArrayLike, quaternion_product, rotation_from_quaternion
from flex_dynamics.errors import DynamicsError
from flex_dynamics.papers.vector_parameters import IDENTITY, from_rotation, quaternion

SWEEPS = 8


def principal_axes(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (3,), rising, and the vector-parameter c (3,) of a rotation O(c) whose columns
    are their eigenvectors: O' A O = diag, (190).

    Of the rotations that do, which differ by signs of the columns, it is the one of least angle,
    which is never a half-turn.
    """
    A = np.asarray(A, dtype=float)
    if A.shape != (3, 3) or not np.isfinite(A).all():
        raise DynamicsError(f'principal axes: expected a matrix (3, 3) of finite numbers, found '
                            f'{A.tolist()}')
    scale = np.abs(A).max()
    if np.abs(A - A.T).max() > 1e-9 * scale:
        raise DynamicsError(f'principal axes: expected a symmetric matrix, found {A.tolist()}')
    if scale == 0.0:
        return np.zeros(3), np.zeros(3)
    A = 0.5 * (A + A.T) / scale
    first = _first_level(A)
    q = quaternion_product(first, _turn(_about(A, first), 0))
    for _ in range(SWEEPS):
        if np.abs(_about(A, q)[np.triu_indices(3, 1)]).max() < 1e-17:
            break
        for axis in range(3):
            q = quaternion_product(q, _turn(_about(A, q), axis))
    values = np.diag(_about(A, q))
    order = np.argsort(values, kind='stable')
    return scale * values[order], _least_turn(rotation_from_quaternion(q)[:, order])


def inertia_fault(tensor: np.ndarray) -> str:
    """'' for the inertia tensor (3, 3) of a body or a rod or a point; else what no body has.

    The tolerance of the triangle inequality is 1 %, because published tensors are rounded.
    """
    try:
        moments, _ = principal_axes(tensor)
    except DynamicsError as error:
        return str(error)
    shown = ', '.join(f'{value:g}' for value in moments)
    if moments[0] < -1e-9 * abs(moments[2]):
        return f'inertia: expected principal moments not below 0, found {shown} kg m2'
    if moments[2] > 1.01 * (moments[0] + moments[1]):
        return ('inertia: expected principal moments of which each is at most the sum of the '
                f'other two, found {shown} kg m2')
    return ''


def first_level_cubic(A: np.ndarray) -> np.ndarray:
    """Coefficients (4,) of P(x), highest power first: (179). Its roots are the ratios of third
    to second component of the eigenvectors, so that all are real."""
    a11, a22, a33 = np.diag(A)
    a12, a13, a23 = A[0, 1], A[0, 2], A[1, 2]
    return np.array([
        a12 * a23 * (a11 - a33) - a13 * (a12**2 - a23**2),
        a12 * (a11 * a22 - a12**2 + 2 * a13**2 - a23**2 - a11 * a33 - a22 * a33 + a33**2)
        + a13 * a23 * (2 * a22 - a11 - a33),
        a13 * (2 * a12**2 - a13**2 - a11 * a22 + a22**2 - a23**2 - a22 * a33 + a11 * a33)
        + a12 * a23 * (2 * a33 - a11 - a22),
        a13 * a23 * (a11 - a22) - a12 * (a13**2 - a23**2)])


def second_level_roots(a: float) -> np.ndarray:
    """The four roots u (4,) of u4 - 2 a u3 - 6 u2 + 2 a u + 1 = 0: (185) to (188)."""
    m = np.sqrt(a * a + 4.0)
    plus, minus = np.sqrt(2.0 * (m * m + a * m)), np.sqrt(2.0 * (m * m - a * m))
    return 0.5 * np.array([a + m - plus, a - m + minus, a - m - minus, a + m + plus])


def _first_level(A: np.ndarray) -> np.ndarray:
    """Quaternion x, y, z, w of (x, 0, z), a rotation that makes the first axis an eigenvector."""
    if np.hypot(A[0, 1], A[0, 2]) < 1e-14:
        return IDENTITY

    def left(q: np.ndarray) -> float:
        B = _about(A, q)
        return float(np.hypot(B[0, 1], B[0, 2]))

    return min(_candidates(A), key=left)


def _candidates(A: np.ndarray) -> list[np.ndarray]:
    """Quaternions of the roots of (179), and of the root at infinity: a half-turn."""
    cubic = first_level_cubic(A)
    # any x will do where (179) vanishes; near a double root rounding makes a conjugate pair
    roots = [0.0, *np.roots(cubic).real] if np.abs(cubic).max() > 0.0 else [0.0]
    result = []
    for x in roots:
        if abs(x) > 1e8:
            continue                   # as good as infinite, which is below
        # v = (v1, 1, x) v2 in the last two rows of A v = l v: below v1 / v2 = above
        below, above = A[0, 2] - A[0, 1] * x, (A[1, 1] - A[2, 2]) * x + A[1, 2] * (x * x - 1.0)
        # z2 + 2 (v1 / v2) z = 1 + x2, with z = numerator / below
        root = np.hypot(above, below * np.hypot(1.0, x))
        for numerator in (root - above, -root - above):
            result.append(np.array([below * x, 0.0, numerator, below]))
    # an eigenvector (v1, 0, v3), which is in the plane of the half-turn's axis
    v1, v3 = A[1, 2], -A[0, 1]
    plane = (np.arctan2(v3, v1) if np.hypot(v1, v3) > 0.0 else
             0.5 * np.arctan2(2.0 * A[0, 2], A[0, 0] - A[2, 2]))
    result.append(np.array([np.cos(0.5 * plane), 0.0, np.sin(0.5 * plane), 0.0]))
    return [q / np.linalg.norm(q) for q in result if np.linalg.norm(q) > 1e-12]


def _turn(B: np.ndarray, axis: int) -> np.ndarray:
    """Quaternion of the rotation about an axis that removes the element between the other two."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    turn = np.zeros(3)
    if abs(B[j, k]) > 1e-300:
        a = (B[k, k] - B[j, j]) / B[j, k]
        # of the four roots the smallest, written so that nothing cancels: u = tan(turn / 2)
        tangent = (np.sign(a) if a else 1.0) / (0.5 * abs(a) + np.hypot(0.5 * a, 1.0))
        turn[axis] = -tangent / (1.0 + np.hypot(1.0, tangent))
    return quaternion(turn)


def _about(A: np.ndarray, q: ArrayLike) -> np.ndarray:
    R = rotation_from_quaternion(q)
    return R.T @ A @ R


def _least_turn(R: np.ndarray) -> np.ndarray:
    """c of the rotation of least angle that has these columns, each but for its sign."""
    if np.linalg.det(R) < 0.0:
        R = -R
    signs = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    return from_rotation(R * max(signs, key=lambda s: float(np.diag(R) @ s)))
