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
"""Derivatives by differences."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flex_description.math.arrays import Array


def derivative(function: Callable[[Array], Array], point: Array, step: float) -> Array:
    """Jacobian by fourth-order central differences: columns d function / d point_j."""
    columns = []
    for j in range(len(point)):
        offset = np.zeros(len(point))
        offset[j] = step * max(1.0, abs(point[j]))
        columns.append((8.0 * (function(point + offset) - function(point - offset))
                        - (function(point + 2.0 * offset) - function(point - 2.0 * offset)))
                       / (12.0 * offset[j]))
    return np.array(columns).T
