"""Wrenches on the robot as arrows, in RViz and in the browser alike."""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

FORCE, MOMENT = (0.85, 0.10, 0.55, 1.0), (0.10, 0.65, 0.60, 1.0)      # RGB and opacity
THIN = 0.006      # diameter of a shaft, share of the robot's reach


@dataclass(frozen=True)
class Push:
    """A wrench on a frame of the robot, along that frame's axes: force (3,) N, moment (3,) N m."""

    frame: str
    force: np.ndarray
    moment: np.ndarray

    def told(self) -> str:
        """Its size in words."""
        sizes = ((math.hypot(*self.force), 'N'), (math.hypot(*self.moment), 'N m'))
        return ', '.join(f'{size:.3g} {unit}' for size, unit in sizes if size) or '0 N'


def arrow(tip: np.ndarray, vector: np.ndarray, reach: float) -> np.ndarray | None:
    """Begin and end (2, 3), m, of an arrow along `vector` (3,) that ends at `tip` (3,).

    Its length grows with the logarithm of the vector's, from a twentieth of the robot's reach (m):
    a push of 1 N is seen and one of 1 kN does not fill the room. None without a direction.
    """
    size = math.hypot(*vector)
    if size < 1e-12:
        return None
    length = reach * min(0.05 * (1.0 + np.log10(1.0 + size)), 0.4)
    return np.array([tip - length * vector / size, tip])
