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
"""Simulated time by the wall clock: which periods are due, how fast time passes, and its cost."""
from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cached_property

LONGEST_LAG = 0.1     # s; a simulator further behind lets time slip instead of racing
ROUNDING = 1e-4       # of a period


@dataclass(frozen=True)
class Timing:
    """How simulated time passes; all in s, and the factor in simulated s a wall s."""

    step: float
    steps: int                  # inner steps a period
    lockstep: bool
    real_time_factor: float
    command_timeout: float
    slip_delay: float           # age of a command at which time waits for one that answers states
    slip_timeout: float         # wall, that it waits at most
    lockstep_timeout: float
    hold_on_silence: bool       # keep the last command; else no effort
    wait_for_command: bool
    start_paused: bool
    independent: bool           # the driver sends on its own schedule, and may be silent
    clock_every: int            # periods from one clock message to the next
    thread_priority: int        # SCHED_FIFO; 0: none

    @cached_property
    def period(self) -> float:
        """From one state to the next."""
        return self.steps * self.step

    def stamp_ns(self, tick: int) -> int:
        """Simulated time after so many periods, ns; counted, so that it does not drift."""
        return round(tick * self.period * 1e9)


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


class Speedometer:
    """Real-time factor, share of a core and longest period between two readings."""

    def __init__(self) -> None:
        self._wall, self._simulated, self._busy = time.monotonic(), 0.0, 0.0
        self._longest = 0.0

    def count(self, busy: float) -> None:
        """So many s of wall time went into the integrator."""
        self._busy += busy
        if busy > self._longest:
            self._longest = busy

    def read(self, simulated: float) -> tuple[float, float, float]:
        """Real-time factor, busy share and longest period (s of wall time) since the last
        reading; `simulated` is the time now, s.

        A reset sets simulated time back: the factor of that one reading is 0.
        """
        now = time.monotonic()
        wall = max(now - self._wall, 1e-9)
        result = max(simulated - self._simulated, 0.0) / wall, self._busy / wall, self._longest
        self._wall, self._simulated, self._busy, self._longest = now, simulated, 0.0, 0.0
        return result
