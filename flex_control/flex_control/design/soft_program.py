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
"""Quadratic programs whose limits give way where they cannot all be kept, solved by DAQP."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flex_control.errors import ControlError

FIRM = 2e4           # cost of exceeding a limit of 1 by 1, beyond which a limit gives way
FIRM_SQUARE = 1e4    # and of the square of that, halved
TOLERANCE = 1e-6     # of a limit of 1
MOST_ITERATIONS = 300
UNBOUNDED = 1e30


class Solution(NamedTuple):
    """x (v,), the multipliers (r,) of the rows, and how many steps of the solver it took."""

    x: np.ndarray
    multipliers: np.ndarray
    iterations: int


class SoftProgram:
    """Minimises x'x / 2 + FIRM sum(e) + FIRM_SQUARE e'e / 2 with A x + b <= 1 + e of the row's
    group, e >= 0.

    An exact penalty: as long as all limits can be kept at a price below FIRM, none is exceeded,
    and there always is a solution. By the dual active set method of DAQP (Arnstrom, Bemporad and
    Axehill 2022), begun with the multipliers of the solution before.
    """

    def __init__(self) -> None:
        try:
            import daqp
        except ImportError:
            raise ControlError('mpc needs the solver DAQP: expected the Python package daqp, '
                               'found none; install it with: pip install daqp') from None
        self._solve = daqp.solve

    def solve(self, A: np.ndarray, b: np.ndarray, groups: np.ndarray,
              multipliers: np.ndarray) -> Solution | None:
        """The solution of rows A (r, v), b (r,) in groups (r,) from 0 on; multipliers (r,): a
        guess. None if the solver did not find it within MOST_ITERATIONS."""
        size, excesses = A.shape[1], int(groups.max()) + 1
        scale = np.sqrt(FIRM_SQUARE)
        total = size + excesses
        rows = np.zeros((len(A), total))
        rows[:, :size] = A
        rows[np.arange(len(A)), size + groups] = -1.0 / scale
        linear, lower = np.zeros(total), np.full(total + len(A), -UNBOUNDED)
        linear[size:], lower[size:total] = FIRM / scale, 0.0
        upper = np.concatenate((np.full(total, UNBOUNDED), 1.0 - b))
        for warm in (True, False) if multipliers.any() else (False,):
            start = np.concatenate((np.zeros(total), multipliers)) if warm else None
            x, _, flag, info = self._solve(
                np.eye(total), linear, rows, upper, lower, np.zeros(len(lower), dtype=np.int32),
                dual_start=start, primal_tol=TOLERANCE, iter_limit=MOST_ITERATIONS)
            if flag > 0:
                return Solution(np.asarray(x)[:size], np.asarray(info['lam'])[total:],
                                int(info['iterations']))
        return None
