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
"""Rotation vectors: exponential, right Jacobian and its rate, on flat arrays."""
from __future__ import annotations

import math

from numba import njit

from flex_dynamics.kernels.base.layout import OPTIONS


@njit(**OPTIONS)
def coefficients(t2):
    """sin t / t, (1 - cos t) / t2, (t - sin t) / t3 and the derivatives of the last two by t2."""
    if t2 < 0.04:
        # Series in t2 to rounding for t < 0.2; the closed forms lose digits there.
        s = 1.0 - t2 / 6.0 * (1.0 - t2 / 20.0 * (1.0 - t2 / 42.0 * (1.0 - t2 / 72.0
            * (1.0 - t2 / 110.0))))
        b = 0.5 * (1.0 - t2 / 12.0 * (1.0 - t2 / 30.0 * (1.0 - t2 / 56.0 * (1.0 - t2 / 90.0
            * (1.0 - t2 / 132.0)))))
        c = (1.0 - t2 / 20.0 * (1.0 - t2 / 42.0 * (1.0 - t2 / 72.0 * (1.0 - t2 / 110.0
             * (1.0 - t2 / 156.0))))) / 6.0
        db = (-1.0 / 24.0 + t2 * (1.0 / 360.0 - t2 * (1.0 / 13440.0 - t2 * (1.0 / 907200.0
              - t2 / 95800320.0))))
        dc = (-1.0 / 120.0 + t2 * (1.0 / 2520.0 - t2 * (1.0 / 120960.0 - t2 * (1.0 / 9979200.0
              - t2 / 1245404160.0))))
        return s, b, c, db, dc
    t = math.sqrt(t2)
    sine, cosine = math.sin(t), math.cos(t)
    s = sine / t
    b = (1.0 - cosine) / t2
    c = (t - sine) / (t2 * t)
    db = (s - 2.0 * b) / (2.0 * t2)
    dc = (b - 3.0 * c) / (2.0 * t2)
    return s, b, c, db, dc


@njit(**OPTIONS)
def set_exponential(s, b, x, y, z, R):
    """R (3, 3) = exp of the rotation vector (x, y, z), from its first two coefficients."""
    R[0, 0] = 1.0 - b * (y * y + z * z)
    R[1, 1] = 1.0 - b * (x * x + z * z)
    R[2, 2] = 1.0 - b * (x * x + y * y)
    R[0, 1] = b * x * y - s * z
    R[1, 0] = b * x * y + s * z
    R[0, 2] = b * x * z + s * y
    R[2, 0] = b * x * z - s * y
    R[1, 2] = b * y * z - s * x
    R[2, 1] = b * y * z + s * x


@njit(**OPTIONS)
def exponential(x, y, z, R):
    """R (3, 3) = exp of the rotation vector (x, y, z)."""
    s, b, _, _, _ = coefficients(x * x + y * y + z * z)
    set_exponential(s, b, x, y, z, R)


@njit(**OPTIONS)
def right_jacobian(b, c, x, y, z, u0, u1, u2):
    """Jr(theta) u = u - b theta x u + c theta x (theta x u): body rate of a rotation vector."""
    w0, w1, w2 = y * u2 - z * u1, z * u0 - x * u2, x * u1 - y * u0
    return (u0 - b * w0 + c * (y * w2 - z * w1),
            u1 - b * w1 + c * (z * w0 - x * w2),
            u2 - b * w2 + c * (x * w1 - y * w0))


@njit(**OPTIONS)
def right_jacobian_rate(b, c, db, dc, x, y, z, xd, yd, zd, u0, u1, u2):
    """dJr/dt u at theta rate (xd, yd, zd)."""
    dot = 2.0 * (x * xd + y * yd + z * zd)
    bd, cd = db * dot, dc * dot
    w0, w1, w2 = y * u2 - z * u1, z * u0 - x * u2, x * u1 - y * u0
    r0, r1, r2 = yd * u2 - zd * u1, zd * u0 - xd * u2, xd * u1 - yd * u0
    return (-bd * w0 - b * r0 + cd * (y * w2 - z * w1) + c * (yd * w2 - zd * w1 + y * r2 - z * r1),
            -bd * w1 - b * r1 + cd * (z * w0 - x * w2) + c * (zd * w0 - xd * w2 + z * r0 - x * r2),
            -bd * w2 - b * r2 + cd * (x * w1 - y * w0) + c * (xd * w1 - yd * w0 + x * r1 - y * r0))
