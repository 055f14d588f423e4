"""How fast simulated time passes, and what it costs."""
from __future__ import annotations

import time


class Speedometer:
    """Real-time factor and share of a core between two readings."""

    def __init__(self) -> None:
        self._wall, self._simulated, self._busy = time.monotonic(), 0.0, 0.0

    def count(self, busy: float) -> None:
        """So many s of wall time went into the integrator."""
        self._busy += busy

    def read(self, simulated: float) -> tuple[float, float]:
        """Real-time factor and busy share since the last reading; `simulated` is the time now, s.

        A reset sets simulated time back: the factor of that one reading is 0.
        """
        now = time.monotonic()
        wall = max(now - self._wall, 1e-9)
        result = max(simulated - self._simulated, 0.0) / wall, self._busy / wall
        self._wall, self._simulated, self._busy = now, simulated, 0.0
        return result
