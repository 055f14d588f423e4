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
"""Discrete algebraic Riccati equation by doubling."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flex_control.errors import ControlError
from flex_control.incremental import Pieces

MOST_DOUBLINGS = 40
TOLERANCE = 1e-10


class Regulator(NamedTuple):
    """A sampled regulator u = -gain x + c of x+ = F x + G u, and what c costs.

    F (k, k), G (k, m), gain (m, k). From x the sum of costs over all time is x'P x plus that of
    c'weight c, with weight (m, m) = R + G'P G (completion of squares).
    """

    F: np.ndarray
    G: np.ndarray
    gain: np.ndarray
    weight: np.ndarray


def riccati(F: np.ndarray, G: np.ndarray, Q: np.ndarray, R: np.ndarray,
            N: np.ndarray) -> Pieces[Regulator]:
    """The regulator u = -K x that minimises the sum of x'Q x + u'R u + 2 x'N u; in pieces.

    x+ = F x + G u. The structure-preserving doubling algorithm (Chu, Fan, Lin and Wang 2004):
    after i steps it has looked 2^i periods ahead, and converges quadratically if (F, G) is
    stabilisable.
    """
    size = len(F)
    least = np.linalg.solve(R, np.hstack((N.T, G.T)))
    A = F - G @ least[:, :size]
    ahead = G @ least[:, size:]
    cost = Q - N @ least[:, :size]
    identity = np.eye(size)
    yield
    for _ in range(MOST_DOUBLINGS):
        solved = np.linalg.solve(identity + ahead @ cost, np.hstack((A, ahead @ A.T)))
        yield
        through = solved[:, :size]
        with np.errstate(over='ignore', invalid='ignore'):    # told below
            change = A.T @ (cost @ through)
        ahead = ahead + A @ solved[:, size:]
        A = A @ through
        cost = cost + 0.5 * (change + change.T)
        ahead = 0.5 * (ahead + ahead.T)
        if not np.isfinite(cost).all():
            break
        yield
        if np.abs(change).max() <= TOLERANCE * np.abs(cost).max():
            weight = R + G.T @ cost @ G
            return Regulator(F, G, np.linalg.solve(weight, G.T @ cost @ F + N.T), weight)
    raise ControlError(
        f'Riccati equation: no solution in {MOST_DOUBLINGS} doublings: a motion that does not '
        'decay is out of reach of the efforts or costs nothing; weigh it, or damp it')
