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
"""Delays of a shaper as functions of time: constant ones, or those that follow the modes."""
from __future__ import annotations

from typing import Protocol

import numpy as np

from flex_control.shaping.impulses import Impulses

ORDERS = 3        # a time and its first two derivatives
SEARCH = 50       # steps of the search for the end; one or two do where the arm rests


class Delays(Protocol):
    """heights (k,) that sum to 1, each with the time that it plays at a given time."""

    heights: np.ndarray

    def origins(self, times: np.ndarray) -> np.ndarray:
        """(ORDERS, m, k): the times (s) that are played at `times` (m,) s, one a height, and
        their first two derivatives by time."""


class ConstantDelays:
    """The delays of impulses: y is the convolution of x with them."""

    def __init__(self, impulses: Impulses) -> None:
        self.heights, self._delays = impulses.heights, impulses.delays

    def origins(self, times: np.ndarray) -> np.ndarray:
        out = np.zeros((ORDERS, len(times), len(self.heights)))
        out[0] = times[:, None] - self._delays
        out[1] = 1.0
        return out


class MotionDelays:
    """The delays of a `Shaped` motion; before and after its plan they stay as they are there.

    knots (p,) s and pieces (p, ORDERS, degree + 1, k): polynomials, lowest power first, of the
    time since the knot; last (s): the end of the plan.
    """

    def __init__(self, heights: np.ndarray, knots: np.ndarray, last: float,
                 pieces: np.ndarray) -> None:
        self.heights, self._knots, self._last, self._pieces = heights, knots, last, pieces
        self._powers = np.arange(pieces.shape[2])

    def origins(self, times: np.ndarray) -> np.ndarray:
        within = np.clip(times, self._knots[0], self._last)
        at = np.maximum(np.searchsorted(self._knots, within, 'right') - 1, 0)
        powers = (within - self._knots[at])[:, None]**self._powers
        out: np.ndarray = np.einsum('mp,mopk->omk', powers, self._pieces[at])
        outside = times != within
        out[0, outside] += (times - within)[outside, None]
        out[1, outside], out[2, outside] = 1.0, 0.0
        return out


def played_out(delays: Delays, time: float) -> float:
    """When (s) everything up to `time` (s) has been played."""
    end = time
    for _ in range(SEARCH):
        left = time - float(delays.origins(np.array([end]))[0].min())
        if abs(left) <= 1e-9:
            break
        end += left
    return end
