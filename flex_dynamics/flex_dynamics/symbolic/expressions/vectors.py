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
"""Vectors and matrices of tape scalars: numpy arrays of objects, some of which are plain numbers.
"""
from __future__ import annotations

import numpy as np

from flex_dynamics.symbolic.expressions.tape import Tape


def scalars(shape) -> np.ndarray:
    """Zeros, as objects."""
    out = np.empty(shape, dtype=object)
    out.fill(0.0)
    return out


def clean(numbers, relative: float = 1e-14) -> np.ndarray:
    """Numbers with zeros and ones where rounding left nearly that, so that the tape folds them."""
    numbers = np.array(numbers, dtype=float)
    size = np.abs(numbers).max(initial=0.0)
    numbers[np.abs(numbers) <= relative * size] = 0.0
    for whole in (-1.0, 1.0):
        numbers[np.abs(numbers - whole) <= 1e-14] = whole
    return numbers


def cross(a) -> np.ndarray:
    """a^x (3, 3)."""
    out = scalars((3, 3))
    out[0, 1], out[0, 2], out[1, 2] = -a[2], a[1], -a[0]
    out[1, 0], out[2, 0], out[2, 1] = a[2], -a[1], a[0]
    return out


def times(a, b):
    """Cross product (3,) of vectors of scalars."""
    out = scalars(3)
    out[:] = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    return out


def turn_about(tape: Tape, axis: np.ndarray, angle) -> np.ndarray:
    """Rotation (3, 3) about a unit axis of numbers."""
    s, c = tape.sin(angle), tape.cos(angle)
    outer, skew = clean(np.outer(axis, axis)), cross(axis)
    out = scalars((3, 3))
    for i in range(3):
        for j in range(3):
            level = clean([(1.0 if i == j else 0.0) - outer[i, j]])[0]
            out[i, j] = level * c + skew[i, j] * s + outer[i, j]
    return out


def exponential(tape: Tape, theta) -> tuple[np.ndarray, np.ndarray]:
    """exp(theta^x) (3, 3) and the right Jacobian (3, 3), of a rotation vector of scalars.

    About one axis it is a plain turn, and the Jacobian the identity for that axis; else Stumpff
    functions of the square of the angle.
    """
    used = [k for k in range(3) if not _zero(theta[k])]
    if not used:
        return np.eye(3).astype(object), np.eye(3).astype(object)
    if len(used) == 1:
        return turn_about(tape, np.eye(3)[used[0]], theta[used[0]]), np.eye(3).astype(object)
    square = sum(theta[k] * theta[k] for k in used)
    one, two, three = (tape.stumpff(k, square) for k in (1, 2, 3))
    T = cross(theta)
    TT = T @ T
    return np.eye(3) + one * T + two * TT, np.eye(3) - two * T + three * TT


def to_child(R, p, twist) -> np.ndarray:
    """A twist [angular; linear] (6,) of the parent, at the child's origin p, in its axes R."""
    out = scalars(6)
    out[:3] = R.T @ twist[:3]
    out[3:] = R.T @ (twist[3:] + times(twist[:3], p))
    return out


def twist_cross(a, b) -> np.ndarray:
    """a x b of twists: [w x w'; w x v' + v x w']."""
    out = scalars(6)
    out[:3] = times(a[:3], b[:3])
    out[3:] = times(a[:3], b[3:]) + times(a[3:], b[:3])
    return out


def rigid_inertia(mass: float, moment, tensor) -> np.ndarray:
    """Inertia (6, 6) of a rigid body for twists at its frame's origin."""
    out = scalars((6, 6))
    skew = cross(moment)
    out[:3, :3], out[:3, 3:], out[3:, :3] = tensor, skew, -skew
    out[3:, 3:] = mass * np.eye(3)
    return out


def _zero(value) -> bool:
    return isinstance(value, float) and value == 0.0
