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
"""Bumpless transfer: commanded efforts stay continuous when controller or gains change."""
from __future__ import annotations

import numpy as np

FEWEST_UPDATES = 8   # a transfer takes at least these, so that a delayed update causes no jump


class BumplessTransfer:
    """Adds an offset to the efforts of a new control law and reduces it to zero.

    The offset is the difference of the efforts at the moment of the change. It decreases along a
    cubic with zero slope at both ends within `duration` (s).

    The new control law closes the loop from that moment on; the offset is a disturbance that
    ends. (A weighted sum of both control laws would need the sensors and model terms of both, and
    an old one that still works.)
    """

    def __init__(self, joints: int, duration: float) -> None:
        self.duration = duration
        self._last = np.zeros(joints)
        self._offset: np.ndarray | None = None
        self._time = 0.0         # s, of the last update
        self._progress = 0.0     # share of the duration that has passed
        self._due = False
        self._known = False

    def reset(self) -> None:
        """Forget the last efforts: the next ones are used as they are."""
        self._offset, self._due, self._known = None, False, False

    def start(self) -> None:
        """Begin a transfer: the next efforts are those of another control law."""
        self._due = self._known

    def apply(self, time: float, efforts: np.ndarray) -> np.ndarray:
        """The efforts (n_joints,), N m or N, to command at `time` (s).

        efforts (n_joints,): those of the control law.
        """
        if self._due:
            self._offset, self._progress, self._due = self._last - efforts, 0.0, False
        elif self._offset is not None and self.duration > 0.0:
            self._progress += min((time - self._time) / self.duration, 1.0 / FEWEST_UPDATES)
        if self._offset is not None:
            u = self._progress
            if u >= 1.0 or self.duration <= 0.0:
                self._offset = None
            else:
                efforts = efforts + (1.0 - u * u * (3.0 - 2.0 * u)) * self._offset
        self._time, self._last, self._known = time, efforts, True
        return efforts
