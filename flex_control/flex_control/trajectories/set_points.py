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
"""Steps from set-point to set-point, as the manoeuvre of Cibicik and Egeland (section VI-B)."""
from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import ArrayLike

from flex_control.trajectories.base import Reference, Trajectory, checked_points


class SetPoints(Trajectory):
    """Each of the positions (k, n_joints), rad or m, is the set-point from its time (k,) s on.

    Between the steps the velocity is zero, so limits of speed do not apply to it.
    """

    def __init__(self, times: ArrayLike, positions: ArrayLike) -> None:
        self.times, self.positions = checked_points(times, positions)
        self.start, self.end = float(self.times[0]), float(self.times[-1])
        self._steps = self.times.tolist()
        self._references = [Reference.at_rest(position) for position in self.positions]

    def sample(self, time: float) -> Reference:
        return self._references[max(bisect_right(self._steps, time) - 1, 0)]

    def extremes(self, order: int) -> tuple[np.ndarray, np.ndarray]:
        values = self.positions if order == 0 else np.zeros_like(self.positions)
        return values.min(axis=0), values.max(axis=0)
