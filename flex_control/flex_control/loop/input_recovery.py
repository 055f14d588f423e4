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
"""When inputs that were lost count as recovered."""
from __future__ import annotations


class InputRecovery:
    """Hysteresis for lost inputs: they are back once nothing was missing for `duration` (s), by
    the stamps of the states.

    Without it the fail-safe and the controller would take turns while inputs come and go. Stamps,
    not the wall clock: a busy machine makes simulated time slow, and its gaps are no losses.
    """

    def __init__(self, duration: float) -> None:
        self._duration = round(1e9 * duration)
        self._since: int | None = None       # ns, stamp of the first good state

    def lost(self) -> None:
        """Something is missing."""
        self._since = None

    def good(self, stamp_ns: int) -> bool:
        """A state for which nothing is missing; whether the inputs are back."""
        if self._since is None or stamp_ns < self._since:
            self._since = stamp_ns
        return stamp_ns - self._since >= self._duration
