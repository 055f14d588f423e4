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
"""A planar biped by the semi-inverse method (Mladenova, section 10).

Seven coordinates: hip (x, z), trunk theta, thighs alpha_1, alpha_2, shanks beta_1, beta_2, all
angles clockwise from the vertical, as seen with x to the right and z upwards. The trunk's centre
is at (x + rho sin theta, z + rho cos theta), a knee at (x - 2 a sin alpha, z - 2 a cos alpha), a
foot 2 b (sin beta, cos beta) below its knee. q_i: moments at the hip on the thighs, u_i: at the
knees on the shanks, R_i: forces of the ground on the feet; no moments at the feet (p_i = 0).

The leg angles are given functions of time. Found are, with the seven equations before (399),

    swing            x, z, theta, u_i, q_i            both R_i are zero
    single support   theta, u_i, q_i, R_1             x and z follow from the standing foot 1
    double support   theta, u_i, q_i, R_1, R_2        two conditions more: foot 1 carries a given
                                                      share of R_1 + R_2, in x and in z

In the z equation -k_rho(...) stands for the printed +k_rho(...), without which M is not symmetric.
The paper's list for single support names R_2z for R_1z, and leaves open the two conditions.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.errors import DynamicsError

PHASES = ('swing', 'single', 'double')
THETA, ALPHA, BETA = 2, (3, 5), (4, 6)      # q = x, z, theta, alpha1, beta1, alpha2, beta2
LEGS = [3, 4, 5, 6]


@dataclass(frozen=True)
class Biped:
    """Masses kg, lengths m, moments of inertia kg m2: about the hip of trunk (I) and thigh (I_a0),
    about the knee of the shank (I_b). Thighs have the length 2 a, shanks 2 b, their centres are in
    their middle. The paper gives none; these are of a person of 70 kg."""

    pelvis: float = 6.0
    trunk: float = 40.0
    rho: float = 0.3
    I: float = 40.0 * (0.3**2 + 0.18**2)  # noqa: E741
    thigh: float = 8.0
    a: float = 0.22
    I_a0: float = 8.0 * (0.22**2 + 0.13**2)
    shank: float = 4.0
    b: float = 0.22
    I_b: float = 4.0 * (0.22**2 + 0.13**2)
    gravity: float = 9.81

    @property
    def mass(self) -> float:
        return self.pelvis + self.trunk + 2.0 * (self.thigh + self.shank)

    @property
    def k_rho(self) -> float:
        return self.trunk * self.rho

    @property
    def k_a(self) -> float:
        return self.a * (self.thigh + 2.0 * self.shank)

    @property
    def k_b(self) -> float:
        return self.b * self.shank

    @property
    def I_a(self) -> float:
        return self.I_a0 + 4.0 * self.shank * self.a**2

    @property
    def I_ab(self) -> float:
        return 2.0 * self.shank * self.a * self.b


class Motion(NamedTuple):
    """acceleration (7,); knee (2,), hip (2,): moments u_i, q_i, N m; reaction (2, 2): R_i (x, z)
    on the feet, N."""

    acceleration: Array
    knee: Array
    hip: Array
    reaction: Array


def sine_cosine(angle: ArrayLike) -> tuple[Array, Array]:
    """Sine and cosine by the vector-parameter c = tan(angle / 2): (398)."""
    c = np.tan(0.5 * np.asarray(angle, dtype=np.float64))
    return 2.0 * c / (1.0 + c * c), (1.0 - c * c) / (1.0 + c * c)


def mass_matrix(biped: Biped, q: ArrayLike, printed: bool = False) -> Array:
    """M (7, 7) of the equations before (399). printed: with the sign of their z equation."""
    s, c = sine_cosine(q)
    M = np.diag([biped.mass, biped.mass, biped.I, biped.I_a, biped.I_b, biped.I_a, biped.I_b])
    M[0, THETA] = M[THETA, 0] = biped.k_rho * c[THETA]
    M[1, THETA] = M[THETA, 1] = -biped.k_rho * s[THETA]
    if printed:
        M[1, THETA] = biped.k_rho * s[THETA]
    for alpha, beta in zip(ALPHA, BETA, strict=True):
        for k, weight in ((alpha, biped.k_a), (beta, biped.k_b)):
            M[0, k] = M[k, 0] = -weight * c[k]
            M[1, k] = M[k, 1] = weight * s[k]
        M[alpha, beta] = M[beta, alpha] = biped.I_ab * (c[alpha] * c[beta] + s[alpha] * s[beta])
    return M


def bias(biped: Biped, q: ArrayLike, v: ArrayLike) -> Array:
    """What the equations have beside M a on their left, and the weight, (7,)."""
    s, c = sine_cosine(q)
    squares = np.square(np.asarray(v, dtype=np.float64))
    h = np.zeros(7)
    h[0] = -biped.k_rho * squares[THETA] * s[THETA]
    h[1] = -biped.k_rho * squares[THETA] * c[THETA] + biped.mass * biped.gravity
    h[THETA] = -biped.gravity * biped.k_rho * s[THETA]
    for alpha, beta in zip(ALPHA, BETA, strict=True):
        for k, weight in ((alpha, biped.k_a), (beta, biped.k_b)):
            h[0] += weight * squares[k] * s[k]
            h[1] += weight * squares[k] * c[k]
            h[k] = biped.gravity * weight * s[k]
        turn = s[alpha] * c[beta] - c[alpha] * s[beta]
        h[alpha] += biped.I_ab * squares[beta] * turn
        h[beta] -= biped.I_ab * squares[alpha] * turn
    return h


def efforts() -> Array:
    """Q (7, 4) of (399) per unit of u_1, q_1, u_2, q_2."""
    Q = np.zeros((7, 4))
    for i, (alpha, beta) in enumerate(zip(ALPHA, BETA, strict=True)):
        Q[beta, 2 * i], Q[alpha, 2 * i] = 1.0, -1.0
        Q[alpha, 2 * i + 1], Q[THETA, 2 * i + 1] = 1.0, -1.0
    return Q


def foot(biped: Biped, q: ArrayLike, leg: int) -> tuple[Array, Array]:
    """Place (2,) of a foot, x and z, and its Jacobian (2, 7), the transpose of which is the part
    of R in (399)."""
    q = np.asarray(q, dtype=np.float64)
    s, c = sine_cosine(q)
    place, J = q[:2].copy(), np.zeros((2, 7))
    J[0, 0] = J[1, 1] = 1.0
    for k, length in ((ALPHA[leg], 2.0 * biped.a), (BETA[leg], 2.0 * biped.b)):
        place -= length * np.array([s[k], c[k]])
        J[:, k] = -length * c[k], length * s[k]
    return place, J


def foot_rate(biped: Biped, q: ArrayLike, v: ArrayLike, leg: int) -> Array:
    """dJ/dt v (2,) of a foot: its acceleration at constant speeds."""
    s, c = sine_cosine(q)
    squares = np.square(np.asarray(v, dtype=np.float64))
    return sum(length * squares[k] * np.array([s[k], c[k]]) for k, length in (
        (ALPHA[leg], 2.0 * biped.a), (BETA[leg], 2.0 * biped.b)))


def standing(biped: Biped, q: ArrayLike, v: ArrayLike, place: ArrayLike,
             ) -> tuple[Array, Array]:
    """q and v (7,) with x, z and their rates such that foot 1 stands at `place` (2,)."""
    q, v = np.array(q, dtype=np.float64), np.array(v, dtype=np.float64)
    q[:2], v[:2] = 0.0, 0.0
    there, J = foot(biped, q, 0)
    q[:2] = np.asarray(place, dtype=np.float64) - there
    v[:2] = -J @ v
    return q, v


def semi_inverse(biped: Biped, phase: str, q: ArrayLike, v: ArrayLike, legs: ArrayLike,
                 share: float = 0.5) -> Motion:
    """Accelerations, moments and reactions where the leg angles have the accelerations legs (4,):
    alpha_1, beta_1, alpha_2, beta_2.

    share: of foot 1 in the forces of both feet, in double support.
    """
    if phase not in PHASES:
        raise DynamicsError(f'phase: expected one of {", ".join(PHASES)}, found {phase!r}')
    q, v = np.asarray(q, dtype=np.float64), np.asarray(v, dtype=np.float64)
    feet = {'swing': (), 'single': (0,), 'double': (0, 1)}[phase]
    Js = [foot(biped, q, leg)[1] for leg in feet]
    # Unknown: accelerations (7), u_1, q_1, u_2, q_2, then the forces on the standing feet
    size = 11 + 2 * len(feet)
    left, right = np.zeros((size, size)), np.zeros(size)
    left[:7, :7], left[:7, 7:11] = mass_matrix(biped, q), -efforts()
    right[:7] = -bias(biped, q, v)
    for i, J in enumerate(Js):
        left[:7, 11 + 2 * i:13 + 2 * i] = -J.T
    left[7:11, LEGS], right[7:11] = np.eye(4), np.asarray(legs, dtype=np.float64)
    if feet:
        left[11:13, :7], right[11:13] = Js[0], -foot_rate(biped, q, v, 0)
    if phase == 'double':      # (1 - share) R_1 - share R_2 = 0; foot 2 stands by its leg angles
        left[13:15, 11:13], left[13:15, 13:15] = (1.0 - share) * np.eye(2), -share * np.eye(2)
    found: Array = np.asarray(np.linalg.solve(left, right), dtype=np.float64)
    reaction = np.zeros((2, 2))
    for i in range(len(feet)):
        reaction[i] = found[11 + 2 * i:13 + 2 * i]
    return Motion(found[:7], found[[7, 9]], found[[8, 10]], reaction)
