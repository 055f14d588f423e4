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
"""Vector-parameters of SO(3): c = tan(angle / 2) axis (Mladenova, section 2).

A rotation R takes coordinates of the turned frame to the fixed one. c (3,) has no dimension, lies
along the axis, and c = 0 is the identity, -c the inverse. Half-turns have no c: they are in the
second chart, d = sin(angle / 2) axis, of which d and -d are the same half-turn. Composition
and angular velocity need neither trigonometric functions nor matrices. Equation numbers are the
paper's; (68), (70), (71) and (72) are corrected. Quaternions are x, y, z, w, as everywhere in the
project: (d, root) of the second chart, where the paper has the root first.
"""
from __future__ import annotations

import numpy as np

from flex_description.math import (
    ArrayLike,
    quaternion_from_rotation,
    quaternion_product,
    rotation_from_quaternion,
    skew,
)
from flex_dynamics.errors import DynamicsError

# Below this cosine of half the angle |c| would be above 1e12, and a composition of no meaning.
HALF_TURN = 1e-12
IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])      # quaternion


def rotation(c: np.ndarray) -> np.ndarray:
    """O(c) (3, 3), equation (65)."""
    c = _vector(c)
    square = c @ c
    return ((1.0 - square) * np.eye(3) + 2.0 * np.outer(c, c) + 2.0 * skew(c)) / (1.0 + square)


def from_rotation(R: np.ndarray) -> np.ndarray:
    """c of a rotation matrix (3, 3): (66), by the quaternion, which keeps its digits near
    half-turns."""
    return from_quaternion(quaternion_from_rotation(checked_rotation(R)))


def compose(*parameters: np.ndarray) -> np.ndarray:
    """<c1, c2, ...>, the parameter of O(c1) O(c2) ...: (67). A half-turn is refused."""
    result = np.zeros(3)
    for c in parameters:
        c = _vector(c)
        scale = 1.0 - result @ c
        numerator = result + c + np.cross(result, c)
        if abs(scale) <= HALF_TURN * np.linalg.norm(numerator):
            raise _half_turn()
        result = numerator / scale
    return result


def angular_velocity(c: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """omega (3,) rad/s in the fixed frame, of c and dc/dt: (79)."""
    c, rate = _vector(c), _vector(rate)
    return 2.0 / (1.0 + c @ c) * (np.cross(c, rate) + rate)


def angular_acceleration(c: np.ndarray, rate: np.ndarray, second: np.ndarray) -> np.ndarray:
    """d omega / dt (3,) rad/s2 in the fixed frame, of c, dc/dt and d2c/dt2: (80)."""
    c, rate, second = _vector(c), _vector(rate), _vector(second)
    omega = angular_velocity(c, rate)
    return 2.0 / (1.0 + c @ c) * (np.cross(c, second) + second - omega * (c @ rate))


def parameter_rate(c: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """dc/dt of an angular velocity in the fixed frame: (81), which is (omega + omega x c +
    c (c omega)) / 2."""
    c, omega = _vector(c), _vector(omega)
    return 0.5 * (omega + np.cross(omega, c) + c * (c @ omega))


def parameter_second_rate(c: np.ndarray, rate: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
    """d2c/dt2 of an angular acceleration in the fixed frame: (80) solved for it."""
    c, rate = _vector(c), _vector(rate)
    turned = _vector(acceleration) + 2.0 * angular_velocity(c, rate) * (c @ rate) / (1.0 + c @ c)
    return parameter_rate(c, turned)


# The second chart, for half-turns --------------------------------------------------------------

def second_chart(c: np.ndarray) -> np.ndarray:
    """d = c / sqrt(1 + c2): (68), with the root."""
    c = _vector(c)
    return c / np.sqrt(1.0 + c @ c)


def first_chart(d: np.ndarray) -> np.ndarray:
    """c = d / sqrt(1 - d2); a half-turn is refused."""
    return from_quaternion(second_quaternion(d))


def rotation_second(d: np.ndarray) -> np.ndarray:
    """O'(d) (3, 3): (69), half-turns too."""
    return rotation_from_quaternion(second_quaternion(d))


def second_from_rotation(R: np.ndarray) -> np.ndarray:
    """d of a rotation matrix (3, 3), half-turns too."""
    return np.array(quaternion_from_rotation(checked_rotation(R))[:3])


def compose_second(*parameters: np.ndarray) -> np.ndarray:
    """<d1, d2, ...>: (70), with the sign that keeps the angle at or below a half-turn."""
    result = IDENTITY
    for d in parameters:
        product = np.array(quaternion_product(result, second_quaternion(d)))
        result = product if product[3] >= 0.0 else -product
    return result[:3]


def second_rate(d: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """dd/dt of an angular velocity in the fixed frame, regular at half-turns too."""
    root, omega = second_quaternion(d)[3], _vector(omega)
    return 0.5 * (root * omega + np.cross(omega, d))


# Other parameters of SO(3) ---------------------------------------------------------------------

def quaternion(c: np.ndarray) -> np.ndarray:
    """Unit quaternion x, y, z, w (4,), w > 0."""
    c = _vector(c)
    return np.append(c, 1.0) / np.sqrt(1.0 + c @ c)


def from_quaternion(q: ArrayLike) -> np.ndarray:
    """c = (x, y, z) / w of a quaternion x, y, z, w of any length: (72), corrected."""
    q = _vector(q, 4)
    if abs(q[3]) <= HALF_TURN * np.linalg.norm(q):
        raise _half_turn()
    return q[:3] / q[3]


def second_quaternion(d: np.ndarray) -> np.ndarray:
    """(d, sqrt(1 - d2)), a unit quaternion x, y, z, w; |d| may exceed 1 by rounding only."""
    d = _vector(d)
    square = d @ d
    if square > 1.0 + 1e-9:
        raise DynamicsError(f'second chart: expected |d| = sin(angle / 2) at most 1, found '
                            f'{np.sqrt(square):g}')
    return np.append(d, np.sqrt(max(0.0, 1.0 - square)))


def from_euler(psi: float, theta: float, phi: float) -> np.ndarray:
    """c of Rz(psi) Rx(theta) Rz(phi), rad: (71), corrected."""
    plus, minus = 0.5 * (psi + phi), 0.5 * (psi - phi)
    return from_quaternion(np.array([
        np.sin(theta / 2) * np.cos(minus), np.sin(theta / 2) * np.sin(minus),
        np.cos(theta / 2) * np.sin(plus), np.cos(theta / 2) * np.cos(plus)]))


def to_euler(c: np.ndarray) -> tuple[float, float, float]:
    """psi, theta, phi of Rz(psi) Rx(theta) Rz(phi), 0 <= theta <= pi; phi = 0 where theta = 0."""
    c = _vector(c)
    plus = np.arctan(c[2])
    tilt = np.hypot(c[0], c[1])
    minus = np.arctan2(c[1], c[0]) if tilt > 0.0 else plus
    theta = 2.0 * np.arctan2(tilt, np.hypot(1.0, c[2]))
    return float(plus + minus), float(theta), float(plus - minus)


def from_bryant(phi1: float, phi2: float, phi3: float) -> np.ndarray:
    """c of Rz(phi3) Ry(phi2) Rx(phi1), rad (URDF's yaw, pitch, roll): <c3, c2, c1>, (73), (74)."""
    halves = 0.5 * np.array([phi1, phi2, phi3])
    about_x, about_y, about_z = (np.append(np.sin(half) * axis, np.cos(half))
                                 for half, axis in zip(halves, np.eye(3)))
    return from_quaternion(quaternion_product(quaternion_product(about_z, about_y), about_x))


def to_bryant(c: np.ndarray) -> tuple[float, float, float]:
    """phi1, phi2, phi3 of Rz(phi3) Ry(phi2) Rx(phi1), |phi2| <= pi/2; phi3 = 0 at the pole."""
    R = rotation(c)
    level = np.hypot(R[0, 0], R[1, 0])
    phi2 = np.arctan2(-R[2, 0], level)
    if level < 1e-9:
        return float(np.arctan2(-R[1, 2], R[1, 1])), float(phi2), 0.0
    return (float(np.arctan2(R[2, 1], R[2, 2])), float(phi2),
            float(np.arctan2(R[1, 0], R[0, 0])))


def from_rotation_vector(turn: np.ndarray) -> np.ndarray:
    """c of a rotation by |turn| rad about turn: tan(|turn| / 2) turn / |turn|."""
    turn = _vector(turn)
    angle = np.linalg.norm(turn)
    # sinc keeps the quotient finite at no turn
    return from_quaternion(np.append(0.5 * turn * np.sinc(0.5 * angle / np.pi),
                                     np.cos(0.5 * angle)))


def to_rotation_vector(c: np.ndarray) -> np.ndarray:
    """2 arctan|c| c / |c|, rad."""
    c = _vector(c)
    size = np.linalg.norm(c)
    return 2.0 * np.arctan(size) / size * c if size > 0.0 else 2.0 * c


def checked_rotation(R: np.ndarray) -> np.ndarray:
    """R (3, 3) as an array; DynamicsError if it is no rotation."""
    R = np.asarray(R, dtype=float)
    if R.shape != (3, 3) or not np.abs(R.T @ R - np.eye(3)).max() < 1e-6 or np.linalg.det(R) < 0:
        raise DynamicsError(f'rotation: expected an orthogonal matrix (3, 3) of determinant 1, '
                            f'found {R.tolist()}')
    return R


def _half_turn() -> DynamicsError:
    return DynamicsError('vector-parameter: expected a rotation below a half-turn, found a '
                         'half-turn, which has none; use the second chart (second_from_rotation, '
                         'compose_second)')


def _vector(value: ArrayLike, length: int = 3) -> np.ndarray:
    vector = np.asarray(value, dtype=float)
    if vector.shape != (length,) or not np.isfinite(vector).all():
        raise DynamicsError(f'vector-parameter: expected {length} finite numbers, found {value!r}')
    return vector
