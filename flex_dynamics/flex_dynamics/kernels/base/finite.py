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
"""The check at the door of the fastest calls: finite numbers of a sensible size."""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import OPTIONS

BAD_INPUT = -1
LARGEST = 1e15            # SI units: speeds, accelerations, efforts, gains; can be squared safely
# rad or m: a wheel at 1000 rad/s turns 1e8 rad in a day, a motor behind a gear 100 times that. At
# 1e9 neighbouring floating-point numbers are 1e-7 apart.
LARGEST_POSITION = 1e9


@njit(**OPTIONS)
def finite(vector, most):
    # A loop, which numba compiles to vector code; all() over a generator it does not know.
    for i in range(vector.shape[0]):  # noqa: SIM110
        if not abs(vector[i]) <= most:
            return False
    return True
