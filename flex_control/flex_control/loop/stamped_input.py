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
"""Messages that belong to a state: found by its stamp, or the newest that is not too old."""
from __future__ import annotations

from collections import OrderedDict
from typing import Any

KEPT = 32            # messages; a node that is held up for longer loses the oldest
AHEAD = 500_000_000  # ns; what is further ahead of the state comes from before a reset


class StampedInput:
    """Values by their stamp (ns).

    exact: `at` gives the value of the newest stamp that is less than `period` (ns) before the
    state's, and None until it is there; with period 0 that of the state's own stamp. Since who
    sends once a period does so by the same stamps, the answer does not depend on when messages
    arrive. Not exact: the newest, if it is at most `timeout` (ns) old.
    """

    def __init__(self, exact: bool, period: int, timeout: int) -> None:
        self._exact, self._period, self._timeout = exact, period, timeout
        self._values: OrderedDict[int, Any] = OrderedDict()
        self._latest: int | None = None      # ns, of the last state

    def put(self, stamp_ns: int, value: Any) -> None:
        if self._latest is not None and stamp_ns > self._latest + AHEAD:
            return
        self._values[stamp_ns] = value
        self._values.move_to_end(stamp_ns)
        while len(self._values) > KEPT:
            self._values.popitem(last=False)

    def clear(self) -> None:
        """Forget all: time was set back."""
        self._values.clear()
        self._latest = 0

    def _newest(self, stamp_ns: int) -> tuple[int, Any] | None:
        """The newest one that can belong to a state at `stamp_ns` or before."""
        ahead = 0 if self._exact else AHEAD
        stamps = [stamp for stamp in self._values if stamp <= stamp_ns + ahead]
        return (max(stamps), self._values[max(stamps)]) if stamps else None

    def at(self, stamp_ns: int) -> tuple[int, Any] | None:
        """Stamp and value that go with the state at `stamp_ns`; None if there is none (yet)."""
        self._latest = stamp_ns
        found = self._newest(stamp_ns)
        if found is None:
            return None
        age = stamp_ns - found[0]
        good = (age == 0 or age < self._period) if self._exact else age <= self._timeout
        return found if good else None
