"""How fast simulated time passes, and what it costs."""
from __future__ import annotations

import time


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
