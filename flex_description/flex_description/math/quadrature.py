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
"""Gauss-Legendre quadrature on intervals: exact for polynomials of degree 2 n - 1 on each."""
from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flex_description.math.arrays import Array, ArrayLike


@cache
def gauss_legendre(count: int) -> tuple[Array, Array]:
    """`count` nodes and weights on [-1, 1], each (count,), read-only; computed once."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


def gauss_stations(breakpoints: ArrayLike, counts: int | Sequence[int] | NDArray[np.integer[Any]],
                   ) -> tuple[Array, Array]:
    """Gauss-Legendre stations and weights of several intervals.

    Parameters
    ----------
    breakpoints : array-like, shape (m + 1,)
        Rising ends of the m intervals, usually m along a beam.
    counts : int, or m ints in a sequence or array
        Number of stations in every interval, or in each.

    Returns
    -------
    stations, weights : arrays, shape (k,), k the sum of the counts
        In rising order; both in the unit of the breakpoints. The integral of f from the first to
        the last breakpoint is weights @ f(stations).
    """
    edges = np.asarray(breakpoints, dtype=float)
    start, half = edges[:-1], 0.5 * np.diff(edges)
    if isinstance(counts, (int, np.integer)):
        nodes, weights = gauss_legendre(int(counts))
        return ((start[:, None] + half[:, None] * (nodes + 1.0)).ravel(),
                (half[:, None] * weights).ravel())
    if len(counts) != len(start):
        raise ValueError(f'counts: expected {len(start)}, one for each interval, found '
                         f'{len(counts)}')
    rules = [gauss_legendre(int(count)) for count in counts]
    stations = [left + width * (nodes + 1.0)
                for left, width, (nodes, _) in zip(start, half, rules)]
    return (np.concatenate(stations),
            np.concatenate([width * weights for width, (_, weights) in zip(half, rules)]))
