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
"""Attitude of a rigid body in vector-parameters (Mladenova, section 2.7).

The state is x = J omega (3,), the angular momentum about the centre of mass in the axes of the
body, N m s, and the vector-parameter c of the rotation O(c) from the body to the fixed frame.
Equation numbers are the paper's. With its S_b(omega) = -omega x, (95) and (97) have the wrong
sign: dO/dt = -O S_b(omega), dx/dt = -S(x) J^-1 x + B u.
"""
from __future__ import annotations

import numpy as np

from flex_dynamics.arrays import Array
from flex_dynamics.papers.vector_parameters import rotation


def rate_matrix(c: Array) -> Array:
    """A (3, 3) of dc/dt = A omega, omega in the fixed frame: (102), which is (81)."""
    return (rotation(-c) + np.eye(3)) / (1.0 + np.trace(rotation(c)))


def attitude_rates(inertia: Array, x: Array, c: Array, moment: Array) -> tuple[Array, Array]:
    """dx/dt and dc/dt, each (3,): (103), with the sign corrected, and (104).

    inertia (3, 3): about the centre of mass, kg m2; moment (3,): B u of (96), N m; both in the
    axes of the body.
    """
    omega = np.linalg.solve(inertia, x)
    return np.cross(x, omega) + moment, rate_matrix(c) @ rotation(c) @ omega


def body_momentum(inertia: Array, c: Array, rate: Array) -> Array:
    """y (3,), the same as x, of c and dc/dt: (105)."""
    return inertia @ rotation(c).T @ np.linalg.solve(rate_matrix(c), rate)
