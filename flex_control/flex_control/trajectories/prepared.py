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
"""A trajectory that is planned while the previous one is still followed."""
from __future__ import annotations

import math

from flex_control.incremental import Job, Pieces
from flex_control.trajectories.base import Reference, Trajectory


class Prepared(Trajectory):
    """Follows `before` until `start` (s), then the motion that the calculation `pieces` returns.

    `work` does one piece. Until the motion is planned its `end` is infinite. Pieces that are left
    at `start` are all done then.
    """

    def __init__(self, before: Trajectory, pieces: Pieces[Trajectory], start: float) -> None:
        self.before, self.start = before, start
        self._job = Job(pieces)

    @property
    def motion(self) -> Trajectory | None:
        """What was planned; None until it is there."""
        return self._job.result

    @property
    def end(self) -> float:             # type: ignore[override]
        return math.inf if self.motion is None else self.motion.end

    def work(self) -> None:
        """One piece of the planning, if one is left."""
        if self._job.result is None:
            self._job.work()

    def at(self, time: float) -> Trajectory:
        """What is followed at `time` (s)."""
        if time < self.start:
            return self.before
        while self._job.result is None:
            self._job.work()
        return self._job.result

    def sample(self, time: float) -> Reference:
        return self.at(time).sample(time)
