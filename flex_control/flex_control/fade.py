"""Efforts that go on where they were when the law behind them changes."""
from __future__ import annotations

import numpy as np

FEWEST = 8       # updates that it takes; a loop that was held up goes on where it was, not beyond


class Fade:
    """Adds to the efforts of a new law what they lack at the moment of the change, and takes it
    away within `duration` (s), slowly at first and at last.

    The new law closes the loop from that moment on; the rest is a disturbance that ends. (Both
    laws, weighted, would need the sensors and terms of both, and a sound old one.)
    """

    def __init__(self, joints: int, duration: float) -> None:
        self.duration = duration
        self._last = np.zeros(joints)
        self._offset: np.ndarray | None = None
        self._time = 0.0         # s, of the last update
        self._gone = 0.0         # share of the duration
        self._due = False
        self._known = False

    def reset(self) -> None:
        """Forget the past: there is nothing to go on from."""
        self._offset, self._due, self._known = None, False, False

    def changed(self) -> None:
        """The next efforts are those of another law."""
        self._due = self._known

    def apply(self, time: float, efforts: np.ndarray) -> np.ndarray:
        """The efforts (n_joints,) to use at `time` (s) in place of those of the law."""
        if self._due:
            self._offset, self._gone, self._due = self._last - efforts, 0.0, False
        elif self._offset is not None and self.duration > 0.0:
            self._gone += min((time - self._time) / self.duration, 1.0 / FEWEST)
        if self._offset is not None:
            u = self._gone
            if u >= 1.0 or self.duration <= 0.0:
                self._offset = None
            else:
                efforts = efforts + (1.0 - u * u * (3.0 - 2.0 * u)) * self._offset
        self._time, self._last, self._known = time, efforts, True
        return efforts
