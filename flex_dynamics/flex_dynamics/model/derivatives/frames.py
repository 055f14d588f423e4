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
"""Derivatives of the Jacobians of frames, by kernels/derivatives/frame_derivatives.py."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flex_dynamics.arrays import Array
from flex_dynamics.kernels.derivatives.frame_derivatives import jacobian_derivative
from flex_dynamics.model.loads import Loads, point_wrenches
from flex_dynamics.model.places import place

if TYPE_CHECKING:
    from flex_dynamics.model.data import Data
    from flex_dynamics.model.model import Model


def jacobian_slope(q: Array, node: int, section: Array, offset: Array, data: Data) -> Array:
    """(6, n, n): [:, m, j] is the derivative of the Jacobian's column m by q_j, of a frame as
    places.place describes it."""
    slope, work = np.empty((6, len(q), len(q))), data.derivatives
    jacobian_derivative(*data.assembly.arrays, data.work, q, node, section, offset,
                        *data.frame_work, work.columns, work.places, slope)
    return slope


def load_slope(model: Model, q: Array, loads: Loads, data: Data) -> Array:
    """d(sum of J'w)/dq (n, n) of loads that keep their world axes."""
    slope = np.zeros((model.n, model.n))
    for load in point_wrenches(model, loads):
        wrench = np.concatenate((load.force, load.moment))
        frame = place(model.assembly, load.frame, load.x, data)
        slope += np.tensordot(wrench, jacobian_slope(q, *frame, data), 1)
    return slope
