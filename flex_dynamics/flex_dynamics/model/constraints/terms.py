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
"""Errors, Jacobian and independent rows of a model's constraints."""
from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import qr

from flex_dynamics import checks
from flex_dynamics.arrays import ArrayLike
from flex_dynamics.model.backends.constrained import ConstrainedBackend

if TYPE_CHECKING:
    from flex_dynamics.kernels.constraints.constraint_arrays import Constraints
    from flex_dynamics.model.data import Data
    from flex_dynamics.model.model import Model

DEPENDENT = 1e-7       # smallest sine of the angle between a row and the others, in mass metric


class Independence(NamedTuple):
    """rank: number of independent rows; redundant: names of rows that follow from the others (or
    say nothing); freedom: n - rank, the degrees of freedom of speeds; margin: the smallest pivot
    of the independent rows, 1 for rows that are perpendicular in the metric of the mass matrix,
    near 0 at a singular position."""

    rank: int
    redundant: tuple[str, ...]
    freedom: int
    margin: float


def terms(model: Model, q: ArrayLike, v: ArrayLike, data: Data) -> Constraints:
    """Arrays in scratch memory, see ConstrainedBackend.terms; no rows for a tree."""
    q, v = checks.state(model, q, v)
    if isinstance(model.backend, ConstrainedBackend):
        return model.backend.terms(q, v, data)
    return model.assembly.constraints.arrays(np.zeros(0, dtype=np.int64), model.n)


def independence(model: Model, q: ArrayLike, data: Data) -> Independence:
    """Rank and redundant rows at q, by QR with pivoting of the rows of A M^-1/2, scaled."""
    A = terms(model, q, np.zeros(model.n), data).A.copy()
    if not A.size:
        return Independence(0, (), model.n, 1.0)
    factor = np.linalg.cholesky(model.mass_matrix(q, data))
    rows = np.linalg.solve(factor, A.T)
    sizes = np.linalg.norm(rows, axis=0)
    largest = float(sizes.max(initial=0.0))
    scaled = rows / np.where(sizes > DEPENDENT * largest, sizes, np.inf)
    R, order = qr(scaled, mode='r', pivoting=True)[:2]
    pivots = np.abs(np.diag(R))
    rank = int((pivots > DEPENDENT).sum())
    names = model.constraint_names
    return Independence(rank, tuple(names[k] for k in sorted(order[rank:])), model.n - rank,
                        float(pivots[rank - 1]) if rank else 1.0)
