"""Efforts that go on where they were when the law behind them changes."""
from __future__ import annotations

import numpy as np


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
        self._since = 0.0
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
            self._offset, self._since, self._due = self._last - efforts, time, False
        if self._offset is not None:
            u = (time - self._since) / self.duration if self.duration > 0.0 else 1.0
            if u >= 1.0:
                self._offset = None
            else:
                efforts = efforts + (1.0 - u * u * (3.0 - 2.0 * u)) * self._offset
        self._last, self._known = efforts, True
        return efforts
