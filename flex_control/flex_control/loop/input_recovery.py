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
