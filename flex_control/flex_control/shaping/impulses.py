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
"""Input shapers of one mode as polynomials in half a damped period: ZV, ZVD, ZVDD, EI.

Impulses of heights A_i, half a damped period apart, leave no vibration of a mode (w, zeta) if the
polynomial sum A_i z^i has a root at z = -1/k, k = exp(-zeta pi / sqrt(1 - zeta^2)) (Smith; Singer
and Seering 1990). One root there is ZV; a double root makes the slope over frequency vanish too
(ZVD), a triple one the curvature (ZVDD). EI (Singhose, Seering and Singer 1994) parts the double
root: it leaves V at the mode's frequency, none at two frequencies around it.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flex_control.errors import ControlError

EI_VIBRATION = 0.05      # share of the unshaped vibration that EI leaves at the mode's frequency


def _half_turn(damping: float) -> float:
    """How much of its amplitude a mode keeps over half a damped period."""
    if not 0.0 <= damping < 1.0:
        raise ControlError(f'damping ratio: expected 0 to 1 (less than 1: a mode that rings), '
                           f'found {damping:g}')
    return math.exp(-damping * math.pi / math.sqrt(1.0 - damping * damping))


def zv(damping: float) -> np.ndarray:
    """Heights (2,) of zero vibration: least delay, sensitive to the frequency."""
    heights: np.ndarray = np.array([1.0, _half_turn(damping)])
    heights /= heights.sum()
    return heights


def zvd(damping: float) -> np.ndarray:
    """Heights (3,) of zero vibration and derivative."""
    return np.convolve(zv(damping), zv(damping))


def zvdd(damping: float) -> np.ndarray:
    """Heights (4,) of zero vibration and two derivatives."""
    return np.convolve(zvd(damping), zv(damping))


def ei(damping: float, vibration: float = EI_VIBRATION) -> np.ndarray:
    """Heights (3,) of the extra-insensitive shaper that leaves `vibration` at the frequency."""
    k = _half_turn(damping)
    # Roots at -exp(+-j delta) / k; what is left at -1/k gives the cosine of delta.
    cosine = (2.0 * k**2 - vibration * (1.0 + k**2)) / (2.0 * k**2 + 2.0 * vibration * k)
    heights: np.ndarray = np.array([1.0, 2.0 * cosine * k, k**2])
    heights /= heights.sum()
    return heights


SHAPERS: dict[str, Callable[[float], np.ndarray]] = {'zv': zv, 'zvd': zvd, 'zvdd': zvdd, 'ei': ei}


def heights_of(name: str, damping: float) -> np.ndarray:
    """Heights of the named shaper; the impulses are half a damped period apart."""
    if name not in SHAPERS:
        raise ControlError(f'shaper: expected one of {", ".join(SHAPERS)}, found {name!r}')
    return SHAPERS[name](damping)


@dataclass(frozen=True)
class Impulses:
    """Heights (k,) that sum to 1 and the delays (k,) s at which they act, rising from 0."""

    heights: np.ndarray
    delays: np.ndarray

    @classmethod
    def of(cls, name: str, frequency: float, damping: float) -> Impulses:
        """The named shaper for a mode of natural frequency (rad/s) and damping ratio."""
        if not 0.0 < frequency < math.inf:
            raise ControlError(f'frequency: expected a positive number of rad/s, found '
                               f'{frequency:g}')
        heights = heights_of(name, damping)
        half = math.pi / (frequency * math.sqrt(1.0 - damping**2))
        return cls(heights, half * np.arange(len(heights)))

    def convolved(self, other: Impulses) -> Impulses:
        """One shaper after the other: both modes are left at rest."""
        heights = np.multiply.outer(self.heights, other.heights).ravel()
        delays = np.add.outer(self.delays, other.delays).ravel()
        order = np.argsort(delays, kind='stable')
        return Impulses(heights[order], delays[order])

    def residual(self, frequency: float, damping: float) -> float:
        """Vibration that the impulses leave in a mode, as a share of what one impulse leaves."""
        decay = damping * frequency
        turn = frequency * math.sqrt(1.0 - damping**2)
        terms = self.heights * np.exp((decay + 1j * turn) * self.delays)
        return float(abs(terms.sum()) * math.exp(-decay * self.delays[-1]))
