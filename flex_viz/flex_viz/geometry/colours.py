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
"""Colour scales for strain and deflection, and a range that does not flicker.

Strain: Moreland, Diverging color maps for scientific visualization, 2009: from blue over grey to
red in the space Msh (the polar form of CIELAB), in which equal steps look equal; people who do not
tell red from green can read it. The grey is darker than his, to stand out from the background.
Deflection: viridis of Smith and van der Walt, 2015, at nine places.
"""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# Msh of the ends and of the middle: compression blue, zero grey, tension red.
COLD, MIDDLE, WARM = (80.0, 1.08, -1.1), 72.0, (80.0, 1.08, 0.5)
WHITE = np.array([0.9505, 1.0, 1.089])      # D65, XYZ
TO_RGB = np.array([[3.2406, -1.5372, -0.4986], [-0.9689, 1.8758, 0.0415],
                   [0.0557, -0.2040, 1.0570]])
RISING = np.array([(0.267, 0.005, 0.329), (0.278, 0.176, 0.483), (0.230, 0.322, 0.546),
                   (0.173, 0.449, 0.558), (0.128, 0.567, 0.551), (0.158, 0.684, 0.502),
                   (0.369, 0.789, 0.383), (0.678, 0.864, 0.190), (0.993, 0.906, 0.144)])
UNIFORM = (0.20, 0.45, 0.80)      # a flexible link without a colour scale
COLOURINGS = ('strain', 'deflection', 'none')
MEMORY = 10.0      # s
FINE = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)      # ends of the scale: most of it is used
# m/m and m: the noise of a robot at rest is not coloured
SMALLEST = {'strain': 1e-6, 'deflection': 1e-4}


def _diverging(share: np.ndarray) -> np.ndarray:
    """Red, green, blue (k, 3) of places (k,) from -1 to 1."""
    rows = []
    for at in share:
        magnitude, saturation, hue = WARM if at > 0.0 else COLD
        way = abs(float(at))
        # Hue spins towards the unsaturated middle, so that the way is perceived as even.
        spin = saturation * np.sqrt(max(magnitude**2 - MIDDLE**2, 0.0)) / (
            magnitude * np.sin(saturation))
        m = MIDDLE + (magnitude - MIDDLE) * way
        s, h = saturation * way, hue + np.sign(hue) * spin * (1.0 - way)
        rows.append((m * np.cos(s), m * np.sin(s) * np.cos(h), m * np.sin(s) * np.sin(h)))
    return _rgb_of_lab(np.array(rows))


def _rgb_of_lab(lab: np.ndarray) -> np.ndarray:
    """sRGB (k, 3), 0 to 1, of CIELAB (k, 3)."""
    y = (lab[:, 0] + 16.0) / 116.0
    roots = np.column_stack((y + lab[:, 1] / 500.0, y, y - lab[:, 2] / 200.0))
    linear = np.where(roots > 6.0 / 29.0, roots**3, 3.0 * (6.0 / 29.0)**2 * (roots - 4.0 / 29.0))
    rgb = np.clip((linear * WHITE) @ TO_RGB.T, 0.0, 1.0)
    return np.where(rgb <= 0.0031308, 12.92 * rgb, 1.055 * rgb**(1.0 / 2.4) - 0.055)


def _table(nodes: np.ndarray) -> np.ndarray:
    """Red, green, blue, opacity (LEVELS, 4) in single precision, as in ROS messages."""
    place = np.linspace(0.0, len(nodes) - 1.0, LEVELS)
    rows = [np.interp(place, np.arange(len(nodes)), column) for column in nodes.T]
    return np.column_stack((*rows, np.ones(LEVELS))).astype(np.float32)


LEVELS = 1025      # a multiple of the intervals between nodes, plus one
TABLES = {'strain': _table(_diverging(np.linspace(-1.0, 1.0, 65))), 'deflection': _table(RISING),
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
    """The end of the colour scale: given, or the largest recent value, rounded up to FINE.

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
        return self._given or rounded_up(max(self._before, self._now), FINE)


def rounded_up(value: float, steps: Sequence[float] = (1.0, 2.0, 5.0)) -> float:
    """The next of `steps` and their multiples by powers of ten that is not below a positive
    value."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(next(step * power for step in (*steps, 10.0)
                      if step * power >= value * (1.0 - 1e-9)))


def value_text(value: float, coloured_by: str) -> str:
    """A value of the colour scale with its unit."""
    if abs(value) < 1e-9:
        value = 0.0
    return f'{1e6 * value:.4g} µm/m' if coloured_by == 'strain' else f'{1e3 * value:.4g} mm'
