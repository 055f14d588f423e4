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
"""The last seconds of a run, for plots over time."""
from __future__ import annotations

import numpy as np


class History:
    """The last `span` s of rows of `width` numbers, at most `rate` rows a second."""

    def __init__(self, width: int, span: float = 15.0, rate: float = 20.0) -> None:
        self._gap, self._span = 1.0 / rate, span
        self._rows = np.zeros((int(span * rate) + 2, 1 + width))
        self._count = 0

    def clear(self) -> None:
        self._count = 0

    def add(self, time: float, values: np.ndarray) -> bool:
        """Add a row at `time` (s), unless the last one is too recent; clear the history if the
        clock was set back."""
        if self._count:
            last = self._rows[self._count - 1, 0]
            if time < last:
                self._count = 0
            elif time < last + self._gap - 1e-9:
                return False
        if self._count == len(self._rows):
            self._rows[:-1] = self._rows[1:]
            self._count -= 1
        self._rows[self._count] = (time, *values)
        self._count += 1
        return True

    def rows(self) -> np.ndarray:
        """(k, 1 + width): time and values of the last `span` s."""
        rows = self._rows[:self._count]
        return rows[rows[:, 0] >= rows[-1, 0] - self._span] if self._count else rows
