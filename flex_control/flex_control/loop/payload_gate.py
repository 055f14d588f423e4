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
"""Which estimates of a payload a controller may believe, and how it takes them over."""
from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

WINDOW = 0.08        # s that estimates must agree for
MOST_DOUBT = 0.35    # of the mass, its largest standard deviation
SURE = 2.5           # standard deviations by which the mass must be above zero
LEAST_SHARE = 0.01   # of the largest mass: lighter payloads are none
BAND = 0.2           # of the least mass: smaller changes are left
AGREEMENT = 0.3      # of the mass, or the least one: spread of estimates that agree
RATE = 15.0          # rad/s, of the filter by which a new payload is taken over
STEP = 0.02          # s between two changes of the controller's payload
CLOSE = 1e-3         # of the largest mass, and of its moment, at which the filter has arrived


@dataclass(frozen=True)
class OfferedPayload:
    """An estimate at `time` (s): mass kg, centre (3,) m in the axes of the frame, and standard
    deviation of the mass, kg."""

    time: float
    mass: float
    centre: np.ndarray
    deviation: float


class PayloadGate:
    """Lets estimates through that are sure, possible and lasting, and no faster than is gentle.

    An estimate counts if its mass is known to a third, lies between zero and `largest_mass` (kg),
    and its centre within `largest_offset` (m). The median of those of the last 0.08 s becomes the
    target, if they agree, and if it differs from the target before by more than a band. `payload`
    follows the target by a critically damped filter. Silence changes nothing: what hangs on the
    tip does not fall off because its estimator has ended.

    Examples
    --------
    >>> gate = PayloadGate(10.0, 0.3)
    >>> for k in range(60):
    ...     _ = gate.offer(OfferedPayload(0.01 * k, 2.0, np.zeros(3), 0.1))
    ...     _ = gate.advance(0.01 * k)
    >>> round(float(gate.payload[0]), 2)
    2.0
    """

    def __init__(self, largest_mass: float, largest_offset: float) -> None:
        self.largest_mass, self.largest_offset = largest_mass, largest_offset
        self.least = LEAST_SHARE * largest_mass
        self.refused = 0
        self.reason = ''                     # why the last one was refused
        self.reset()

    def reset(self) -> None:
        """No payload, and nothing that was offered."""
        self._offers: deque[OfferedPayload] = deque()
        self.target = np.zeros(4)            # mass and first moments, kg and kg m
        self.payload, self._rate = np.zeros(4), np.zeros(4)
        self._time: float | None = None

    def offer(self, offered: OfferedPayload) -> bool:
        """Look at an estimate; False, and the reason in `reason`, if it is refused."""
        self.reason = self._problem(offered)
        if self.reason:
            self.refused += 1
            self._offers.clear()             # what lasts is not interrupted
            return False
        offers = self._offers
        if offers and offered.time < offers[-1].time:
            offers.clear()
        offers.append(offered)
        while offers[0].time < offered.time - 2.0 * WINDOW:
            offers.popleft()
        self._aim()
        return True

    def _problem(self, offered: OfferedPayload) -> str:
        numbers = np.array([offered.time, offered.mass, offered.deviation, *offered.centre])
        if not np.isfinite(numbers).all() or offered.deviation < 0.0:
            return 'expected finite numbers and a deviation of at least zero'
        mass, spread = offered.mass, offered.deviation
        if mass > self.largest_mass or mass < -max(3.0 * spread, self.least):
            return f'mass: expected 0 to {self.largest_mass:g} kg, found {mass:g}'
        if spread > max(MOST_DOUBT * mass, self.least):
            return f'mass: {mass:.3g} +- {spread:.2g} kg is not sure enough'
        if np.linalg.norm(offered.centre) > self.largest_offset:
            return (f'centre: expected at most {self.largest_offset:g} m from the frame, found '
                    f'{np.linalg.norm(offered.centre):.3g}')
        return ''

    def _aim(self) -> None:
        last = self._offers[-1].time
        recent = [one for one in self._offers if one.time >= last - WINDOW - 1e-9]
        if last - self._offers[0].time < WINDOW - 1e-9 or len(recent) < 3:
            return
        masses = np.array([one.mass for one in recent])
        mass = float(np.median(masses))
        if np.ptp(masses) > max(AGREEMENT * abs(mass), 2.0 * self.least):
            return
        spread = float(np.median([one.deviation for one in recent]))
        # Out at half of what it takes to come in.
        least = max(self.least, SURE * spread) * (0.5 if self.target[0] > 0.0 else 1.0)
        centre = np.median([one.centre for one in recent], axis=0)
        wanted = mass * np.array([1.0, *centre]) if mass > least else np.zeros(4)
        scale = BAND * self.least * np.array([1.0, *3 * [self.largest_offset]])
        if (np.abs(wanted - self.target) > scale).any():
            self.target = wanted

    def advance(self, time: float) -> bool:
        """Take the payload nearer to the target at `time` (s); whether it has changed."""
        if self._time is None or time < self._time:
            self._time = time
        if time - self._time < STEP - 1e-9:
            return False
        period, self._time = min(time - self._time, 5.0 * STEP), time
        off, rate = self.payload - self.target, self._rate
        scale = self.largest_mass * CLOSE * np.array([1.0, *3 * [self.largest_offset]])
        if (np.abs(off) < scale).all() and (np.abs(rate) < RATE * scale).all():
            changed = bool((self.payload != self.target).any())
            self.payload, self._rate = self.target.copy(), np.zeros(4)
            return changed
        # y'' = -w^2 y - 2 w y', exactly
        decay, slope = np.exp(-RATE * period), rate + RATE * off
        self.payload = self.target + (off + slope * period) * decay
        self._rate = (rate - RATE * slope * period) * decay
        return True
