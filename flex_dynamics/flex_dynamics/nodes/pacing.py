"""Keeps simulated time on the wall clock, and counts where it could not."""
from __future__ import annotations

LONGEST_LAG = 0.1     # s; a simulator further behind lets time slip instead of racing


class Pacing:
    """How many output periods are due. All times in s, wall times from any steady clock.

    To be asked once a period, by a timer. The first question after a restart is the middle of a
    period, so that a timer that is a little early or late makes no difference.
    """

    def __init__(self, period: float, factor: float) -> None:
        self.period, self.factor = period, factor
        self.overruns = 0
        self.restart()

    def restart(self) -> None:
        """Begin to count at the next question."""
        self._origin: float | None = None

    def due(self, now: float) -> int:
        """Periods to run now to be on time. More than one is an overrun: it came more than half a
        period late. What is more than LONGEST_LAG late is dropped."""
        if self._origin is None:
            self._origin, self._done = now - 0.5 * self.period / self.factor, 0
        due = int((now - self._origin) * self.factor / self.period) - self._done
        if due > 1:
            self.overruns += 1
        most = max(1, int(LONGEST_LAG * self.factor / self.period))
        if due > most:
            self._origin += (due - most) * self.period / self.factor
            due = most
        self._done += max(due, 0)
        return max(due, 0)
