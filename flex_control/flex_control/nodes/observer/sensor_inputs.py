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
"""Readings of one sensor as they come: kept by their stamps, handed out once, watched."""
from __future__ import annotations

import time
from collections import deque

import numpy as np

from flex_description.math import within
from flex_ros.message_guard import LARGEST

KEPT = 64            # readings that wait for a joint state
SILENT = 0.5         # s of wall time without a reading until it is reported
BAD_FOR = 2.0        # s of wall time for which a bad reading is reported
USUAL = 0.2          # share of the last interval in the usual one
LONGEST = 10**9      # ns: a longer interval is a clock that was set, or a pause


class SensorInput:
    """The readings of one topic. Numbers that are not finite, or beyond 1e9, become NaN."""

    def __init__(self, topic: str, names: list[str]) -> None:
        self.topic, self._names = topic, names
        self._waiting: deque[tuple[int, np.ndarray]] = deque(maxlen=KEPT)
        self._newest_ns, self._interval_ns = -1, 0.0
        self._heard = self._bad_until = 0.0
        self._bad = ''
        self.received = self.stale = self.rejected = 0

    @property
    def interval(self) -> float:
        """Usual time (s) between two readings; 0: not known."""
        return 1e-9 * self._interval_ns

    def note(self, stamp_ns: int) -> None:
        """A reading has come."""
        self.received += 1
        self._heard = time.monotonic()
        if stamp_ns < self._newest_ns:      # time was set back
            self.clear()
        elif self._newest_ns >= 0:
            apart = min(stamp_ns - self._newest_ns, LONGEST)
            self._interval_ns += USUAL * (apart - self._interval_ns)
        self._newest_ns = stamp_ns

    def put(self, stamp_ns: int, values: np.ndarray, absent: np.ndarray | None = None) -> None:
        """Keep a reading, of which some numbers may be absent."""
        self.note(stamp_ns)
        self._waiting.append((stamp_ns, self.checked(values, absent)))

    def checked(self, values: np.ndarray, absent: np.ndarray | None = None) -> np.ndarray:
        """The same with NaN for what is absent, and for what no sensor reads, which is reported.

        values: (k,) or (k, 3), one row a name; absent: (k,), of bool.
        """
        if absent is None and within(values.ravel()):
            return values
        absent = np.zeros(len(values), dtype=bool) if absent is None else absent
        wrong = ~(np.abs(values) <= LARGEST)
        told = np.flatnonzero(wrong.reshape(len(values), -1).any(axis=1) & ~absent)
        if len(told):
            at = int(told[0])
            number = np.atleast_1d(values[at])[np.atleast_1d(wrong[at])][0]
            self.report(f'{self.topic}: {number:g} for {self._names[at]}')
        wrong[absent] = True
        return np.where(wrong, np.nan, values)

    def report(self, text: str, rejected: bool = False) -> None:
        """Something is wrong with a reading that has just come."""
        self.rejected += rejected
        self._bad, self._bad_until = text, time.monotonic() + BAD_FOR

    def clear(self) -> None:
        """Forget what waits."""
        self._waiting.clear()
        self._newest_ns, self._interval_ns = -1, 0.0

    def awaited(self, stamp_ns: int) -> bool:
        """Whether the reading that belongs to a joint state of that time will come in a moment."""
        live = self.received > 1 and time.monotonic() - self._heard < SILENT
        return bool(live and self._newest_ns < stamp_ns
                    and self._newest_ns + self._interval_ns <= stamp_ns + 0.5 * self._interval_ns)

    def take(self, stamp_ns: int, oldest_ns: int) -> np.ndarray | None:
        """The newest reading up to `stamp_ns`, if it is new and not before `oldest_ns`."""
        found = None
        while self._waiting and self._waiting[0][0] <= stamp_ns:
            found = self._waiting.popleft()
        if found is None:
            return None
        if found[0] < oldest_ns:
            self.stale += 1
            self.report(f'{self.topic}: a reading {1e-9 * (stamp_ns - found[0]):.3g} s older than '
                        'the joint state is not used; is it stamped by another clock?')
            return None
        return found[1]

    @property
    def problem(self) -> str:
        """What diagnostics report; empty if all is well."""
        now = time.monotonic()
        if not self.received:
            return self._bad if now < self._bad_until else f'nothing on {self.topic} yet'
        if now - self._heard > SILENT:
            return f'nothing on {self.topic} for {now - self._heard:.1f} s'
        if len(self._waiting) == KEPT:
            return (f'{self.topic} is stamped {1e-9 * (self._waiting[0][0]):.6g} s and later, '
                    'after the joint states; is it stamped by another clock?')
        return self._bad if now < self._bad_until else ''
