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
"""Colour scales for strain and deflection, and a range that does not flicker."""
from __future__ import annotations

import numpy as np

# Strain: compression blue, zero yellow, tension red. Deflection: dark blue, green, yellow.
DIVERGING = np.array([(0.10, 0.28, 0.70), (0.45, 0.66, 0.90), (0.95, 0.86, 0.50),
                      (0.95, 0.58, 0.35), (0.73, 0.09, 0.12)])
RISING = np.array([(0.27, 0.00, 0.33), (0.23, 0.32, 0.55), (0.13, 0.57, 0.55),
                   (0.37, 0.79, 0.38), (0.99, 0.91, 0.14)])
UNIFORM = (0.20, 0.45, 0.80)      # a flexible link without a colour scale
COLOURINGS = ('strain', 'deflection', 'none')
MEMORY = 10.0      # s
# m/m and m: the noise of a robot at rest is not coloured
SMALLEST = {'strain': 1e-6, 'deflection': 1e-4}


def _table(nodes: np.ndarray) -> np.ndarray:
    """Red, green, blue, opacity (LEVELS, 4) in single precision, as in ROS messages."""
    place = np.linspace(0.0, len(nodes) - 1.0, LEVELS)
    rows = [np.interp(place, np.arange(len(nodes)), column) for column in nodes.T]
    return np.column_stack((*rows, np.ones(LEVELS))).astype(np.float32)


LEVELS = 1025      # a multiple of the intervals between nodes, plus one
TABLES = {'strain': _table(DIVERGING), 'deflection': _table(RISING),
          'none': _table(np.array([UNIFORM, UNIFORM]))}


def rgba(values: np.ndarray, top: float, coloured_by: str) -> np.ndarray:
    """Red, green, blue and opacity 1 (p, 4), 0 to 1, of values (p,): strain from -top to top,
    deflection from 0 to top."""
    low, span = (-top, 2.0 * top) if coloured_by == 'strain' else (0.0, top)
    places = np.rint((values - low) * ((LEVELS - 1) / span))
    return TABLES[coloured_by].take(places.astype(int), axis=0, mode='clip')


def rgb(values: np.ndarray, top: float, coloured_by: str) -> np.ndarray:
    """Red, green, blue (p, 3), as `rgba`."""
    return rgba(values, top, coloured_by)[:, :3]


class ColourRange:
    """The end of the colour scale: given, or the largest recent value, rounded up to 1, 2 or 5.

    A value counts for MEMORY to twice MEMORY s of the robot's clock: the peak of a start or a push
    does not determine the scale for ever, and the scale of an oscillation does not flicker.
    """

    def __init__(self, coloured_by: str, given: float = 0.0) -> None:
        self._given, self._least = given, SMALLEST.get(coloured_by, 1.0)
        self.reset()

    def reset(self) -> None:
        self._before = self._now = self._least
        self._since = -np.inf

    def top(self, largest: float, time: float = 0.0) -> float:
        """The end of the scale; `largest`: largest absolute value of this frame, at `time` s."""
        if not self._since <= time <= self._since + MEMORY:
            recent = 0.0 <= time - self._since <= 2.0 * MEMORY
            self._before = self._now if recent else self._least
            self._now, self._since = self._least, time
        self._now = max(self._now, largest)
        return self._given or rounded_up(max(self._before, self._now))


def rounded_up(value: float) -> float:
    """The next of ... 1, 2, 5, 10, 20, 50 ... that is not below a positive value."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(next(step * power for step in (1.0, 2.0, 5.0, 10.0)
                      if step * power >= value * (1.0 - 1e-9)))


def value_text(value: float, coloured_by: str) -> str:
    """A value of the colour scale with its unit."""
    if abs(value) < 1e-9:
        value = 0.0
    return f'{1e6 * value:.4g} µm/m' if coloured_by == 'strain' else f'{1e3 * value:.4g} mm'
