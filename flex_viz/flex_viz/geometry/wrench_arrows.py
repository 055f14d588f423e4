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
"""Wrenches on the robot as arrows, the same in RViz and in the browser."""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

FORCE, MOMENT = (0.85, 0.10, 0.55, 1.0), (0.10, 0.65, 0.60, 1.0)      # RGB and opacity
SHAFT_WIDTH = 0.006      # diameter, share of the robot's reach


@dataclass(frozen=True)
class AppliedWrench:
    """A wrench on a frame of the robot, along the axes of that frame: force (3,) N, moment (3,)
    N m."""

    frame: str
    force: np.ndarray
    moment: np.ndarray

    def text(self) -> str:
        """Magnitudes with units."""
        sizes = ((math.hypot(*self.force), 'N'), (math.hypot(*self.moment), 'N m'))
        return ', '.join(f'{size:.3g} {unit}' for size, unit in sizes if size) or '0 N'


def arrow(tip: np.ndarray, vector: np.ndarray, reach: float) -> np.ndarray | None:
    """Start and end (2, 3), m, of an arrow along `vector` (3,) that ends at `tip` (3,).

    The length grows with the logarithm of the magnitude, from a twentieth of the robot's reach
    (m): 1 N is visible, and 1 kN does not fill the view. None for a vector without direction.
    """
    size = math.hypot(*vector)
    if size < 1e-12:
        return None
    length = reach * min(0.05 * (1.0 + np.log10(1.0 + size)), 0.4)
    return np.array([tip - length * vector / size, tip])
