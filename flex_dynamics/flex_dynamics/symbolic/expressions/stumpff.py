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
"""Stumpff functions, by which a rotation of any size is written without dividing by its angle."""
from __future__ import annotations

import math

import numpy as np


def stumpff(order, s):
    """c_k(s) = 1/k! - s/(k + 2)! + s2/(k + 4)! ..., of a number or an array of them, s >= 0.

    c_0 = cos(sqrt s), c_1 = sin(sqrt s) / sqrt s, and c_k = (1/(k - 2)! - c_{k - 2}) / s.
    """
    if np.ndim(s):
        return np.array([stumpff(order, x) for x in np.ravel(s)]).reshape(np.shape(s))
    if s > 1.0:
        t = math.sqrt(s)
        values = [math.cos(t), math.sin(t) / t]
        for k in range(2, order + 1):
            values.append((1.0 / math.factorial(k - 2) - values[k - 2]) / s)
        return values[order]
    term, total, k = 1.0 / math.factorial(order), 0.0, order
    while abs(term) > 1e-18:
        total += term
        term *= -s / ((k + 1.0) * (k + 2.0))
        k += 2
    return total
