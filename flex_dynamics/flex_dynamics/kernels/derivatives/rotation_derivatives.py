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
"""Rotation vectors twice differentiated: coefficients, the right Jacobian and its rates.

With x the square of the angle, b = (1 - cos t) / x and c = (t - sin t) / (x t), the right Jacobian
is Jr = 1 - b [theta] + c [theta]^2. Its rates need the first two derivatives of b and c by x.
"""
from __future__ import annotations

import math

from numba import njit

from flex_dynamics.kernels.base.layout import OPTIONS
from flex_dynamics.kernels.base.vector import load, spread, store
from flex_dynamics.kernels.beam.fields import ZERO

# Squares of the angle up to which the short and the long series are right to rounding.
SHORT, LONG = 0.02, 2.5
TERMS = 13                # of the long series; of the short one 5
LONG_B = tuple((-1.0) ** k / math.factorial(2 * k + 2) for k in range(TERMS))
LONG_C = tuple((-1.0) ** k / math.factorial(2 * k + 3) for k in range(TERMS))
B0, C0 = LONG_B[:11], LONG_C[:11]
B1 = tuple((k + 1) * LONG_B[k + 1] for k in range(11))
C1 = tuple((k + 1) * LONG_C[k + 1] for k in range(11))
B2 = tuple((k + 2) * (k + 1) * LONG_B[k + 2] for k in range(11))
C2 = tuple((k + 2) * (k + 1) * LONG_C[k + 2] for k in range(11))


@njit(**OPTIONS)
def _series(x, a):
    s = a[10]
    for k in range(10):
        s = a[9 - k] + x * s
    return s


@njit(**OPTIONS)
def second_coefficients(t2):
    """b, c and their first and second derivatives by t2: b, c, db, dc, ddb, ddc."""
    if t2 < LONG:
        return (_series(t2, B0), _series(t2, C0), _series(t2, B1), _series(t2, C1),
                _series(t2, B2), _series(t2, C2))
    t = math.sqrt(t2)
    sine, cosine = math.sin(t), math.cos(t)
    s = sine / t
    b, c = (1.0 - cosine) / t2, (t - sine) / (t2 * t)
    db, dc, ds = (s - 2.0 * b) / (2.0 * t2), (b - 3.0 * c) / (2.0 * t2), (cosine - s) / (2.0 * t2)
    return b, c, db, dc, (ds - 4.0 * db) / (2.0 * t2), (db - 5.0 * dc) / (2.0 * t2)


@njit(**OPTIONS)
def _short(x, a0, a1, a2, a3, a4):
    return spread(a0) + x * (spread(a1) + x * (spread(a2) + x * (spread(a3) + x * a4)))


@njit(**OPTIONS)
def second_coefficients_of_four(t2, spare):
    """The same of four angles, in vectors. spare: 4 numbers."""
    store(spare, ZERO, t2)
    largest = max(max(spare[0], spare[1]), max(spare[2], spare[3]))
    if largest < SHORT:
        return (_short(t2, B0[0], B0[1], B0[2], B0[3], B0[4]),
                _short(t2, C0[0], C0[1], C0[2], C0[3], C0[4]),
                _short(t2, B1[0], B1[1], B1[2], B1[3], B1[4]),
                _short(t2, C1[0], C1[1], C1[2], C1[3], C1[4]),
                _short(t2, B2[0], B2[1], B2[2], B2[3], B2[4]),
                _short(t2, C2[0], C2[1], C2[2], C2[3], C2[4]))
    b0, c0, d0, e0, f0, g0 = second_coefficients(spare[0])
    b1, c1, d1, e1, f1, g1 = second_coefficients(spare[1])
    b2, c2, d2, e2, f2, g2 = second_coefficients(spare[2])
    b3, c3, d3, e3, f3, g3 = second_coefficients(spare[3])
    return (_gathered(b0, b1, b2, b3, spare), _gathered(c0, c1, c2, c3, spare),
            _gathered(d0, d1, d2, d3, spare), _gathered(e0, e1, e2, e3, spare),
            _gathered(f0, f1, f2, f3, spare), _gathered(g0, g1, g2, g3, spare))


@njit(**OPTIONS)
def _gathered(a, b, c, d, spare):
    spare[0], spare[1], spare[2], spare[3] = a, b, c, d
    return load(spare, ZERO)


@njit(**OPTIONS)
def set_jacobian_rates(x, y, z, xd, yd, zd, xa, ya, za, K):
    """K (3, 3, 3) flat, address: Jr, its first and its second time derivative, rows first, of a
    rotation vector with rate (xd, yd, zd) and second rate (xa, ya, za)."""
    t2 = x * x + y * y + z * z
    dot = 2.0 * (x * xd + y * yd + z * zd)
    ddot = 2.0 * (xd * xd + yd * yd + zd * zd + x * xa + y * ya + z * za)
    b, c, db, dc, ddb, ddc = second_coefficients(t2)
    bd, cd = db * dot, dc * dot
    ba, ca = ddb * dot * dot + db * ddot, ddc * dot * dot + dc * ddot
    t, td, ta = (x, y, z), (xd, yd, zd), (xa, ya, za)
    for i in range(3):
        for j in range(3):
            own, cross = t[i] * t[j], td[i] * t[j] + t[i] * td[j]
            K[3 * i + j] = c * own
            K[9 + 3 * i + j] = cd * own + c * cross
            K[18 + 3 * i + j] = (ca * own + 2.0 * cd * cross
                                 + c * (ta[i] * t[j] + 2.0 * td[i] * td[j] + t[i] * ta[j]))
        K[4 * i] += 1.0 - c * t2
        K[9 + 4 * i] -= cd * t2 + c * dot
        K[18 + 4 * i] -= ca * t2 + 2.0 * cd * dot + c * ddot
    _less_cross(b * x, b * y, b * z, K, 0)
    _less_cross(bd * x + b * xd, bd * y + b * yd, bd * z + b * zd, K, 9)
    _less_cross(ba * x + 2.0 * bd * xd + b * xa, ba * y + 2.0 * bd * yd + b * ya,
                ba * z + 2.0 * bd * zd + b * za, K, 18)


@njit(**OPTIONS)
def _less_cross(x, y, z, K, at):
    """K[at:] -= [x, y, z]."""
    K[at + 1] += z
    K[at + 2] -= y
    K[at + 3] -= z
    K[at + 5] += x
    K[at + 6] += y
    K[at + 7] -= x


@njit(**OPTIONS)
def times3(K, at, x, y, z):
    """The matrix (3, 3) at K[at] times a vector."""
    return (K[at] * x + K[at + 1] * y + K[at + 2] * z,
            K[at + 3] * x + K[at + 4] * y + K[at + 5] * z,
            K[at + 6] * x + K[at + 7] * y + K[at + 8] * z)


@njit(**OPTIONS)
def cross(a0, a1, a2, b0, b1, b2):
    return a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
