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
"""A floating base that has turned far goes on in the other chart of its rotation vector."""
from __future__ import annotations

import math

from numba import njit

from flex_dynamics.kernels.base.layout import OPTIONS
from flex_dynamics.kernels.base.so3 import coefficients, right_jacobian


@njit(**OPTIONS)
def recentre(q, v, at):
    """Keep the rotation vector of a floating base below a half turn: same pose, same motion."""
    x, y, z = q[at], q[at + 1], q[at + 2]
    t2 = x * x + y * y + z * z
    if t2 <= math.pi * math.pi:
        return
    _, b, c, _, _ = coefficients(t2)
    o0, o1, o2 = right_jacobian(b, c, x, y, z, v[at], v[at + 1], v[at + 2])
    t = math.sqrt(t2)
    scale = 1.0 - 2.0 * math.pi / t
    x, y, z = scale * x, scale * y, scale * z
    q[at], q[at + 1], q[at + 2] = x, y, z
    # Inverse of the right Jacobian: 1 + 1/2 [r] + d [r]^2.
    t2 = x * x + y * y + z * z
    t = math.sqrt(t2)
    d = (1.0 - 0.5 * t * math.sin(t) / (1.0 - math.cos(t))) / t2
    w0, w1, w2 = y * o2 - z * o1, z * o0 - x * o2, x * o1 - y * o0
    v[at] = o0 + 0.5 * w0 + d * (y * w2 - z * w1)
    v[at + 1] = o1 + 0.5 * w1 + d * (z * w0 - x * w2)
    v[at + 2] = o2 + 0.5 * w2 + d * (x * w1 - y * w0)
