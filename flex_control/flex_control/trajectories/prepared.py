"""A motion that is planned while the one before it goes on."""
from __future__ import annotations

import math

from flex_control.incremental import Job, Pieces
from flex_control.trajectories.base import Reference, Trajectory


class Prepared(Trajectory):
    """Goes on as `before` until `start` (s), then as the motion that `pieces` make.

    `work` does one piece. Until the motion is there its `end` is not known: infinite. Pieces that
    are left at the start are done then, all at once.
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
