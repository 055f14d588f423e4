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
"""Linear models about any state: A and B of d(q, v)/dt, by exact derivatives."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.model.derivatives import state_derivatives

if TYPE_CHECKING:
    from flex_dynamics.model.data import Data
    from flex_dynamics.model.model import Model


def linearize(model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike,
              data: Data) -> tuple[Array, Array]:
    """A (2n, 2n) and B (2n, n_joints) of d(q, v)/dt about (q, v, tau)."""
    n = model.n
    by = state_derivatives.forward_dynamics(model, q, v, tau, None, data)[1]
    A, B = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, model.n_joints))
    A[:n, n:] = np.eye(n)
    A[n:, :n], A[n:, n:], B[n:] = by
    return A, B
