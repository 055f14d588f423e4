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
"""Linear equations with the mass matrix in full."""
from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from flex_dynamics.arrays import Array


def solve_mass(mass: Array, right: Array) -> Array:
    """M^-1 right, with M scaled to a unit diagonal: amplitudes and joints differ in size."""
    scale = 1.0 / np.sqrt(np.diag(mass))
    factor = cho_factor(mass * np.outer(scale, scale), lower=True, check_finite=False)
    solved: Array = cho_solve(factor, scale[:, None] * right, check_finite=False)
    return scale[:, None] * solved
