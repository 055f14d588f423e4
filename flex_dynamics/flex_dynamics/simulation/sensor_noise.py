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
"""What makes a reading differ from the truth: noise, bias, quantisation and delay.

The noise of a tick is a function of the seed, the channel and the tick alone: two runs are
equal to the last bit, whoever reads or does not read in between.
"""
from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

import numpy as np

from flex_dynamics.arrays import Array

EXACT = 2.0**52
BLOCK = 256      # ticks whose noise is drawn together: drawing one by one is slow
Item = TypeVar('Item')


class Channel:
    """Errors of `size` readings of one kind: reading = round(truth + bias + noise), (size,).

    noise: standard deviation of white Gaussian noise; bias: one number or (size,); quantisation:
    least difference between two readings, 0 for none. All in the unit of the reading, and free to
    change at any time. seed and channel tell apart runs and the channels of one run.
    """

    def __init__(self, size: int, seed: int = 0, channel: int = 0) -> None:
        self.size = size
        self.noise = 0.0
        self.bias: float | Array = 0.0
        self.quantisation = 0.0
        self._key = (seed, channel)
        self._block = -1
        self._draws = np.zeros((0, size))

    def read(self, tick: int, truth: Array) -> Array:
        """The reading of the truth (size,) at a tick."""
        reading = truth + self.bias
        if self.noise > 0.0:
            block, row = divmod(tick, BLOCK)
            if block != self._block:
                generator = np.random.default_rng((*self._key, block))
                self._draws, self._block = generator.normal(size=(BLOCK, self.size)), block
            reading = reading + self.noise * self._draws[row]
        if self.quantisation > 0.0:
            with np.errstate(over='ignore'):
                steps = reading / self.quantisation
            # Beyond EXACT steps a step is below the rounding of the reading itself.
            reading = np.where(np.abs(steps) < EXACT, self.quantisation * np.round(steps), reading)
        return reading

    @property
    def variance(self) -> float:
        """Of noise and of rounding, which is uniform within a quantum."""
        return self.noise**2 + self.quantisation**2 / 12.0


class Delay(Generic[Item]):
    """Gives what was put in `ticks` ago; at first the oldest there is."""

    def __init__(self, ticks: int) -> None:
        self.ticks = ticks
        self._items: deque[Item] = deque(maxlen=ticks + 1)

    def clear(self) -> None:
        self._items.clear()

    def pass_on(self, item: Item) -> Item:
        """Put in the item of one tick more; the one that is due."""
        self._items.append(item)
        return self._items[0]
