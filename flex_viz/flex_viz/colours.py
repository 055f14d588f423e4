"""Colours for strain and deflection, and a range that does not flicker."""
from __future__ import annotations

import numpy as np

# Compression blue, none pale yellow, tension red; and dark blue through green to yellow.
DIVERGING = np.array([(0.10, 0.28, 0.70), (0.45, 0.66, 0.90), (0.97, 0.92, 0.65),
                      (0.95, 0.58, 0.35), (0.73, 0.09, 0.12)])
RISING = np.array([(0.27, 0.00, 0.33), (0.23, 0.32, 0.55), (0.13, 0.57, 0.55),
                   (0.37, 0.79, 0.38), (0.99, 0.91, 0.14)])
PLAIN = (0.20, 0.45, 0.80)      # a flexible link without colours
COLOURINGS = ('strain', 'deflection', 'none')
SMALLEST = {'strain': 1e-6, 'deflection': 1e-4}      # m/m and m: a robot at rest is not noise


def shades(values: np.ndarray, top: float, coloured_by: str) -> np.ndarray:
    """RGB (p, 3), 0 to 1, of values (p,): strain from -top to top, deflection from 0 to top."""
    if coloured_by == 'none':
        return np.tile(PLAIN, (len(values), 1))
    table = DIVERGING if coloured_by == 'strain' else RISING
    share = 0.5 + 0.5 * values / top if coloured_by == 'strain' else values / top
    place = np.clip(share, 0.0, 1.0) * (len(table) - 1)
    left = np.minimum(place.astype(int), len(table) - 2)
    weight = (place - left)[:, None]
    return (1.0 - weight) * table[left] + weight * table[left + 1]


class Range:
    """The top of the colours: given, or the largest value seen, rounded up to 1, 2 or 5."""

    def __init__(self, coloured_by: str, given: float = 0.0) -> None:
        self._given, self._least = given, SMALLEST.get(coloured_by, 1.0)
        self._seen = self._least

    def top(self, largest: float) -> float:
        """The top, `largest` being the largest absolute value of this picture."""
        self._seen = max(self._seen, largest)
        return self._given or rounded_up(self._seen)

    def reset(self) -> None:
        self._seen = self._least


def rounded_up(value: float) -> float:
    """The next of ... 1, 2, 5, 10, 20, 50 ... that is not below a positive value."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(next(step * power for step in (1.0, 2.0, 5.0, 10.0)
                      if step * power >= value * (1.0 - 1e-9)))


def told(value: float, coloured_by: str) -> str:
    """A value of the colour scale in words."""
    if abs(value) < 1e-9:
        value = 0.0
    return f'{1e6 * value:.4g} µm/m' if coloured_by == 'strain' else f'{1e3 * value:.4g} mm'
