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
"""Forces that keep constraints: (A M^-1 A') multiplier = right, also where rows are redundant.

Rows are scaled to a unit diagonal and eliminated in the order of their pivots (Cholesky with
pivoting). Where the largest pivot left is zero to rounding, the rows left follow from those before
and get no multiplier: the motion is the same whichever of them is left out.
"""
from __future__ import annotations

import math

from numba import njit

from flex_dynamics.kernels.base.layout import LANES, OPTIONS
from flex_dynamics.kernels.base.vector import address_of
from flex_dynamics.kernels.constraints.response import respond
from flex_dynamics.kernels.constraints.row_forces import reduce_forces, set_schur

SMALLEST_PIVOT = 1e-10      # of scaled rows: the sine of the angle to the others, squared
SMALLEST_DIAGONAL = 1e-24   # of A M^-1 A', by its size: the share of a row that moves, squared


@njit(**OPTIONS)
def factor_schur(table, body, w, c):
    """c.S factored, c.scale, c.order for c.lines and the recursion's factors; returns the rank.
    """
    m = c.rows.shape[0]
    reduce_forces(table, body, w, c)
    set_schur(c)
    for i in range(m):
        diagonal = c.S[i, i]
        # Rounding leaves parts in 1e32 of rows along which nothing can move.
        some = diagonal > max(SMALLEST_DIAGONAL * c.size[i], 1e-300)
        c.scale[i] = 1.0 / math.sqrt(diagonal) if some else 0.0
        c.order[i] = i
        for j in range(i + 1):
            c.S[i, j] *= c.scale[i] * c.scale[j]
    return pivoted_cholesky(c.S, c.order)


@njit(**OPTIONS)
def pivoted_cholesky(S, order):
    """Lower factor of S (m, m) with rows in `order` (m,), in place, reciprocals on the diagonal;
    returns its rank."""
    m = S.shape[0]
    for k in range(m):
        best = k
        for i in range(k + 1, m):
            if S[i, i] > S[best, best]:
                best = i
        if not S[best, best] > SMALLEST_PIVOT:
            return k
        if best != k:
            order[k], order[best] = order[best], order[k]
            # Rows and columns of a symmetric matrix of which the lower triangle counts.
            for j in range(k):
                S[k, j], S[best, j] = S[best, j], S[k, j]
            S[k, k], S[best, best] = S[best, best], S[k, k]
            for i in range(k + 1, best):
                S[i, k], S[best, i] = S[best, i], S[i, k]
            for i in range(best + 1, m):
                S[i, k], S[i, best] = S[i, best], S[i, k]
        inverse = 1.0 / math.sqrt(S[k, k])
        S[k, k] = inverse
        for i in range(k + 1, m):
            S[i, k] *= inverse
        for i in range(k + 1, m):
            x = S[i, k]
            for j in range(k + 1, i + 1):
                S[i, j] -= x * S[j, k]
    return m


@njit(**OPTIONS)
def solve_schur(c, rank, right, x):
    """x (m,) with (A M^-1 A') x = right, zero for rows beyond the rank. x is not right."""
    m = x.shape[0]
    S, order, scale = c.S, c.order, c.scale
    for i in range(m):
        x[i] = 0.0
    for i in range(rank):
        s = right[order[i]] * scale[order[i]]
        for k in range(i):
            s -= S[i, k] * x[order[k]]
        x[order[i]] = s * S[i, i]
    for i in range(rank - 1, -1, -1):
        s = x[order[i]]
        for k in range(i + 1, rank):
            s -= S[k, i] * x[order[k]]
        x[order[i]] = s * S[i, i]
    for i in range(rank):
        x[order[i]] *= scale[order[i]]


@njit(**OPTIONS)
def apply_multipliers(table, body, w, c, a):
    """a (n,) += M^-1 A' c.multiplier, by the factors of the recursion."""
    n, m = c.Z.shape[0], c.rows.shape[0]
    Z, column, change = c.Z, c.one[0], c.one[1]
    for k in range(n):
        s = 0.0
        for r in range(m):
            s += Z[k, r] * c.multiplier[r]
        column[k, 0] = s
    respond(table, body, w, address_of(column), LANES, address_of(c.move), address_of(change))
    for k in range(n):
        a[k] += change[k, 0]


@njit(**OPTIONS)
def keep_responses(table, body, w, c):
    """c.Y = M^-1 A' (n, columns), for use when the factors are gone."""
    respond(table, body, w, address_of(c.Z), c.Z.shape[1], address_of(c.move), address_of(c.Y))


@njit(**OPTIONS)
def add_response(c, multiplier, a):
    """a (n,) += c.Y multiplier."""
    for k in range(a.shape[0]):
        s = 0.0
        for r in range(multiplier.shape[0]):
            s += c.Y[k, r] * multiplier[r]
        a[k] += s
