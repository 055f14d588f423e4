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
"""Exponential, logarithm and left Jacobian of SO(3), and the block Q that couples them in G1.

Psi(phi) = sum of (phi^x)^k / (k + 1)!; Q is its derivative along gamma. Closed forms divide by
powers of the angle, so below SMALL their series are taken, which are exact to rounding there.
"""
from __future__ import annotations

import numpy as np

from flex_description.math import quaternion_from_rotation, skew
from flex_dynamics.errors import DynamicsError
from flex_dynamics.papers.vector_parameters import checked_rotation

SMALL = 0.5


def _series(first: float, start: int, square: float) -> float:
    """first (1 - t2 / (s (s + 1)) (1 - t2 / ((s + 2) (s + 3)) (...)))."""
    value = 1.0
    for k in range(start + 16, start - 1, -2):
        value = 1.0 - square / (k * (k + 1.0)) * value
    return first * value


def coefficients(phi: np.ndarray) -> tuple[float, float, float, float, float]:
    """sin t / t, (1 - cos t) / t2, (t - sin t) / t3, (t2 / 2 - 1 + cos t) / t4 and
    (t3 / 6 - t + sin t) / t5 of t = |phi|."""
    square = float(phi @ phi)
    if square < SMALL**2:
        return (_series(1.0, 2, square), _series(0.5, 3, square), _series(1.0 / 6.0, 4, square),
                _series(1.0 / 24.0, 5, square), _series(1.0 / 120.0, 6, square))
    t = np.sqrt(square)
    s, c = np.sin(t), np.cos(t)
    return (s / t, (1.0 - c) / square, (t - s) / (t * square),
            (0.5 * square - 1.0 + c) / square**2, (t * square / 6.0 - t + s) / (t * square**2))


def exponential(phi: np.ndarray) -> np.ndarray:
    """Rotation (3, 3) by |phi| rad about phi."""
    a, b, *_ = coefficients(phi)
    P = skew(phi)
    return np.eye(3) + a * P + b * P @ P


def logarithm(A: np.ndarray) -> np.ndarray:
    """phi (3,) rad, |phi| < pi, of a rotation (3, 3)."""
    *d, root = quaternion_from_rotation(checked_rotation(A))
    size = np.linalg.norm(d)
    if root < 1e-12:
        raise DynamicsError('logarithm: expected a turn below a half-turn, found a half-turn, '
                            'whose axis has no sign')
    return np.array(d) * (2.0 * np.arctan2(size, root) / size if size > 0.0 else 2.0)


def left_jacobian(phi: np.ndarray) -> np.ndarray:
    """Psi (3, 3)."""
    _, b, c, *_ = coefficients(phi)
    P = skew(phi)
    return np.eye(3) + b * P + c * P @ P


def inverse_left_jacobian(phi: np.ndarray) -> np.ndarray:
    """Psi^-1 (3, 3), for |phi| < 2 pi."""
    a, b, *_ = coefficients(phi)
    square = float(phi @ phi)
    P = skew(phi)
    # 1 - (t / 2) cot(t / 2) over t2, of which a / (2 b) is the cotangent part
    c = ((1.0 - 0.5 * a / b) / square if square > 0.01 else
         1.0 / 12.0 + square * (1.0 / 720.0 + square * (1.0 / 30240.0 + square / 1209600.0)))
    return np.eye(3) - 0.5 * P + c * P @ P


def coupling(phi: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """Q (3, 3): (144)."""
    _, _, c, d, e = coefficients(phi)
    P, G = skew(phi), skew(gamma)
    return (0.5 * G + c * (P @ G + G @ P + P @ G @ P)
            + d * (P @ P @ G + G @ P @ P - 3.0 * P @ G @ P)
            + 0.5 * (d - 3.0 * e) * (P @ G @ P @ P + P @ P @ G @ P))
