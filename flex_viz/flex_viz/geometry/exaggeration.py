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
"""A factor of the deflection with which bending is visible, and which changes gently."""
from __future__ import annotations

import numpy as np

VISIBLE = 0.12        # largest deflection as drawn, share of the reach, about
LARGEST = 1000.0
NOTHING = 1e-7        # deflection, share of the reach, that is not drawn larger
MEMORY = 10.0         # s of the robot's clock
SETTLING = 0.4        # s of wall time in which most of a change is done
STEPS = (1.0, 2.0, 5.0)


class AutomaticExaggeration:
    """The factor of a robot that reaches `reach` m: 1, 2, 5, 10, 20 ... 1000.

    The largest deflection of the last 10 to 20 s is then drawn as 5 to 12 % of the reach, or as it
    is if that is more. From one factor to another the picture changes within a second, not in one
    frame, which would look like motion of the robot.
    """

    def __init__(self, reach: float) -> None:
        self._reach = reach
        self._drawn = 1.0
        self._wall = -np.inf
        self.reset()

    def reset(self) -> None:
        self._before = self._now = 0.0
        self._since = -np.inf

    def factor(self, wall: float, time: float, deflection: float) -> float:
        """The factor to draw with, at `wall` s of the wall clock and `time` s of the robot's; the
        largest deflection at present in m."""
        if not self._since <= time <= self._since + MEMORY:
            recent = 0.0 <= time - self._since <= 2.0 * MEMORY
            self._before, self._now = (self._now if recent else 0.0), 0.0
            self._since = time
        self._now = max(self._now, deflection)
        wanted = self.target(max(self._before, self._now))
        passed, self._wall = wall - self._wall, wall
        share = 1.0 - np.exp(-max(passed, 0.0) / SETTLING)
        self._drawn *= (wanted / self._drawn)**share
        if abs(np.log(wanted / self._drawn)) < 0.02:
            self._drawn = wanted
        return float(self._drawn)

    def target(self, deflection: float) -> float:
        """The factor for this deflection, m, as the largest."""
        if not deflection > NOTHING * self._reach:
            return 1.0
        wanted = min(VISIBLE * self._reach / deflection, LARGEST) * (1.0 + 1e-9)
        if wanted < 2.0:
            return 1.0
        power = 10.0 ** np.floor(np.log10(wanted))
        return float(power * max(step for step in STEPS if step * power <= wanted))
