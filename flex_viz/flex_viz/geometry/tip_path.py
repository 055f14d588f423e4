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
"""The path of the tip over the last seconds."""
from __future__ import annotations

import numpy as np


class TipPath:
    """Points of the last `span` s of the robot's clock; cleared when the clock is set back.

    gap: s between two stored points; the newest point is always stored.
    """

    def __init__(self, span: float, gap: float = 0.0) -> None:
        self._span, self._gap = span, gap
        self._rows = np.zeros((0, 4))      # time, x, y, z

    def clear(self) -> None:
        self._rows = self._rows[:0]

    def add(self, time: float, point: np.ndarray) -> np.ndarray:
        """The path (k, 3), m, with the tip now at `point` (3,); `time` is in s.

        A second call with the same time adds nothing.
        """
        rows = self._rows
        if len(rows) and time < rows[-1, 0]:
            rows = rows[:0]
        if not len(rows) or time > rows[-1, 0]:
            first = int(np.searchsorted(rows[:, 0], time - self._span))
            young = len(rows) > 1 and rows[-1, 0] < rows[-2, 0] + self._gap
            rows = np.concatenate((rows[first:len(rows) - young], [(time, *point)]))
        self._rows = rows
        return rows[:, 1:]
