"""The way that the tip went in the last seconds."""
from __future__ import annotations

import numpy as np


class TipWay:
    """Points of the last `span` s, by the robot's clock; one that is set back begins anew. gap: s
    between two points that are kept, beside the last one."""

    def __init__(self, span: float, gap: float = 0.0) -> None:
        self._span, self._gap = span, gap
        self._rows = np.zeros((0, 4))      # time, x, y, z

    def clear(self) -> None:
        self._rows = self._rows[:0]

    def add(self, time: float, point: np.ndarray) -> np.ndarray:
        """The way (k, 3), m, with the tip now at `point` (3,); the same time again adds nothing.
        """
        rows = self._rows
        if len(rows) and time < rows[-1, 0]:
            rows = rows[:0]
        if not len(rows) or time > rows[-1, 0]:
            first = int(np.searchsorted(rows[:, 0], time - self._span))
            young = len(rows) > 1 and rows[-1, 0] < rows[-2, 0] + self._gap
            rows = np.concatenate((rows[first:len(rows) - young], [(time, *point)]))
        self._rows = rows
        return rows[:, 1:]
