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
"""What `simulate_many` returns: the states of all runs, and why a run has failed."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from flex_dynamics import checks
from flex_dynamics.arrays import Array
from flex_dynamics.errors import DynamicsError
from flex_dynamics.simulation.simulate import SimulationResult


@dataclass(frozen=True)
class BatchResult:
    """States of all runs: time (k,) s, q and v (runs, k, n), tau (runs, k, n_joints).

    names: of the coordinates. tau: applied from each time on; under a control law with the share
    of the drives. reasons (runs): why a run ended early, '' if it did not; its states from then on
    are NaN, and `counts` (runs,) says how many it has. positions: of the frames that were asked
    for, by name, (runs, k, 3) m in the world. limited (runs,): samples in which a drive was at the
    limit of its motor.
    """

    names: tuple[str, ...]
    time: Array
    q: Array
    v: Array
    tau: Array
    reasons: tuple[str, ...]
    counts: np.ndarray
    positions: Mapping[str, Array]
    limited: np.ndarray

    def __len__(self) -> int:
        return len(self.reasons)

    @property
    def ok(self) -> np.ndarray:
        """Which runs went to their end, (runs,) bool."""
        return np.array([not reason for reason in self.reasons])

    def run(self, number: int) -> SimulationResult:
        """One run, as `simulate` returns it; of one that failed the states until then."""
        number = checks.whole(number, 'number', 'a run', most=len(self) - 1)
        rows = slice(int(self.counts[number]))
        return SimulationResult(self.names, self.time[rows], self.q[number, rows],
                                self.v[number, rows], self.tau[number, rows])

    def of(self, name: str) -> Array:
        """Positions (runs, k) of one coordinate, rad or m."""
        if not isinstance(name, str) or name not in self.names:
            raise DynamicsError(f'name: expected a coordinate such as {self.names[0]!r}, found '
                                f'{checks.shown(name)}'
                                f'{checks.did_you_mean(str(name), self.names)}')
        return self.q[:, :, self.names.index(name)]
