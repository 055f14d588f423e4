"""Keeps simulated time on the wall clock, and counts where it could not."""
from __future__ import annotations

import math

LONGEST_LAG = 0.1     # s; a simulator further behind lets time slip instead of racing
ROUNDING = 1e-4       # of a period


class Pacing:
    """How many output periods are due. All times in s, wall times from any steady clock.

    The first question after a restart is time zero, or as late as periods are due at once.
    """

    def __init__(self, period: float, factor: float) -> None:
        self.period, self.factor = period, factor
        self.overruns = 0
        self.slips = 0          # questions in a row at which time was dropped
        self.restart()

    def restart(self, due: int = 0) -> None:
        """Begin to count at the next question, at which so many periods are due."""
        self._origin: float | None = None
        self._first = due

    def due(self, now: float) -> int:
        """Periods to run now to be on time. More than one is an overrun: one is late by a whole
        period. What is more than LONGEST_LAG late is dropped."""
        if self._origin is None:
            self._origin, self._done = now - self._first * self.period / self.factor, 0
        due = int((now - self._origin) * self.factor / self.period - self._done + ROUNDING)
        if due > 1:
            self.overruns += 1
        most = max(1, int(LONGEST_LAG * self.factor / self.period))
        self.slips = self.slips + 1 if due > most else 0
        if due > most:
            self._origin += (due - most) * self.period / self.factor
            due = most
        self._done += due
        return due

    def pause(self, now: float) -> float:
        """Wall time until the next period is due; infinite before the first question."""
        if self._origin is None:
            return math.inf
        return self._origin + (self._done + 1) * self.period / self.factor - now
