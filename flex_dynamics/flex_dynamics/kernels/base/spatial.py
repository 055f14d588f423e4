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
"""Twists, wrenches and inertias from one frame to another.

R, p: pose of the child in the parent. X takes a twist of the parent to the child, so X' takes a
wrench of the child to the parent, and X' A X an inertia.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import OPTIONS, ROW
from flex_dynamics.kernels.base.vector import load, spread, store


@njit(**OPTIONS)
def twist_to_child(R, p, parent, child):
    """child = X parent: angular R'w, linear R'(v + w x p)."""
    w0, w1, w2 = parent[0], parent[1], parent[2]
    v0 = parent[3] + w1 * p[2] - w2 * p[1]
    v1 = parent[4] + w2 * p[0] - w0 * p[2]
    v2 = parent[5] + w0 * p[1] - w1 * p[0]
    for i in range(3):
        child[i] = R[0, i] * w0 + R[1, i] * w1 + R[2, i] * w2
        child[3 + i] = R[0, i] * v0 + R[1, i] * v1 + R[2, i] * v2


@njit(**OPTIONS)
def add_twist_cross(V, s, scale, out):
    """out += scale V x s, the cross product of twists: rate of a joint's own motion."""
    out[0] += scale * (V[1] * s[2] - V[2] * s[1])
    out[1] += scale * (V[2] * s[0] - V[0] * s[2])
    out[2] += scale * (V[0] * s[1] - V[1] * s[0])
    out[3] += scale * (V[1] * s[5] - V[2] * s[4] + V[4] * s[2] - V[5] * s[1])
    out[4] += scale * (V[2] * s[3] - V[0] * s[5] + V[5] * s[0] - V[3] * s[2])
    out[5] += scale * (V[0] * s[4] - V[1] * s[3] + V[3] * s[1] - V[4] * s[0])


@njit(**OPTIONS)
def at_parent(R, p, m0, m1, m2, l0, l1, l2):
    """X' of a wrench (moment m, force l): what a child's wrench is at its parent."""
    f0 = R[0, 0] * l0 + R[0, 1] * l1 + R[0, 2] * l2
    f1 = R[1, 0] * l0 + R[1, 1] * l1 + R[1, 2] * l2
    f2 = R[2, 0] * l0 + R[2, 1] * l1 + R[2, 2] * l2
    return (R[0, 0] * m0 + R[0, 1] * m1 + R[0, 2] * m2 + p[1] * f2 - p[2] * f1,
            R[1, 0] * m0 + R[1, 1] * m1 + R[1, 2] * m2 + p[2] * f0 - p[0] * f2,
            R[2, 0] * m0 + R[2, 1] * m1 + R[2, 2] * m2 + p[0] * f1 - p[1] * f0, f0, f1, f2)


@njit(**OPTIONS)
def add_force_to_parent(R, p, force, parent):
    """parent += X' force."""
    m0, m1, m2, f0, f1, f2 = at_parent(R, p, force[0], force[1], force[2], force[3], force[4],
                                       force[5])
    parent[0] += m0
    parent[1] += m1
    parent[2] += m2
    parent[3] += f0
    parent[4] += f1
    parent[5] += f2


@njit(**OPTIONS)
def set_frame_change(R, p, X):
    """X (6, ROW), address: rows of the frame change for wrenches_to_parent."""
    for k in range(3):
        r0, r1, r2 = R[0, k], R[1, k], R[2, k]
        at, linear = ROW * k, ROW * (3 + k)
        X[at], X[at + 1], X[at + 2], X[at + 3] = r0, r1, r2, 0.0
        X[linear], X[linear + 1] = p[1] * r2 - p[2] * r1, p[2] * r0 - p[0] * r2
        X[linear + 2], X[linear + 3] = p[0] * r1 - p[1] * r0, r0
        X[linear + 4], X[linear + 5], X[linear + 6], X[linear + 7] = r1, r2, 0.0, 0.0


@njit(**OPTIONS)
def wrenches_to_parent(X, count, rows, add, out):
    """out (+)= rows X for `count` rows (ROW each), that is X' of every row; column 6 stays."""
    x0, x1, x2 = load(X, 0), load(X, 8), load(X, 16)
    y0, y1, y2 = load(X, 24), load(X, 32), load(X, 40)
    z0, z1, z2 = load(X, 28), load(X, 36), load(X, 44)
    for at in range(0, ROW * count, ROW):
        l0, l1, l2 = rows[at + 3], rows[at + 4], rows[at + 5]
        lo = (x0 * rows[at] + x1 * rows[at + 1] + x2 * rows[at + 2] + y0 * l0 + y1 * l1
              + y2 * l2)
        hi = z0 * l0 + z1 * l1 + z2 * l2
        seventh = rows[at + 6]
        if add:
            lo, hi, seventh = lo + load(out, at), hi + load(out, at + 4), seventh + out[at + 6]
        store(out, at, lo)
        store(out, at + 4, hi)
        out[at + 6] = seventh


@njit(**OPTIONS)
def columns_to_parent(R, p, T, parent):
    """parent (6, ROW) += X' T, every column of T (6, ROW) being a wrench; addresses."""
    for half in range(0, ROW, 4):
        m0, m1, m2 = load(T, half), load(T, half + 8), load(T, half + 16)
        l0, l1, l2 = load(T, half + 24), load(T, half + 32), load(T, half + 40)
        f0 = l0 * R[0, 0] + l1 * R[0, 1] + l2 * R[0, 2]
        f1 = l0 * R[1, 0] + l1 * R[1, 1] + l2 * R[1, 2]
        f2 = l0 * R[2, 0] + l1 * R[2, 1] + l2 * R[2, 2]
        n0 = m0 * R[0, 0] + m1 * R[0, 1] + m2 * R[0, 2] + f2 * p[1] - f1 * p[2]
        n1 = m0 * R[1, 0] + m1 * R[1, 1] + m2 * R[1, 2] + f0 * p[2] - f2 * p[0]
        n2 = m0 * R[2, 0] + m1 * R[2, 1] + m2 * R[2, 2] + f1 * p[0] - f0 * p[1]
        store(parent, half, load(parent, half) + n0)
        store(parent, half + 8, load(parent, half + 8) + n1)
        store(parent, half + 16, load(parent, half + 16) + n2)
        store(parent, half + 24, load(parent, half + 24) + f0)
        store(parent, half + 32, load(parent, half + 32) + f1)
        store(parent, half + 40, load(parent, half + 40) + f2)


@njit(**OPTIONS)
def inertia_to_parent(R, p, A, X, T, parent):
    """parent (6, ROW) += X' A X, column 6 of A being a wrench; X holds the frame change."""
    wrenches_to_parent(X, 6, A, False, T)
    columns_to_parent(R, p, T, parent)


@njit(**OPTIONS)
def transposed_times(A, x):
    """A' x of A (6, ROW) and six numbers, as two vectors; the inertia is symmetric, A' x = A x."""
    lo = load(A, 0) * x[0] + load(A, 8) * x[1] + load(A, 16) * x[2]
    hi = load(A, 4) * x[0] + load(A, 12) * x[1] + load(A, 20) * x[2]
    lo = lo + load(A, 24) * x[3] + load(A, 32) * x[4] + load(A, 40) * x[5]
    hi = hi + load(A, 28) * x[3] + load(A, 36) * x[4] + load(A, 44) * x[5]
    return lo, hi


@njit(**OPTIONS)
def clear(x, count):
    """Zero in `count` numbers, a multiple of LANES."""
    zero = spread(0.0)
    for k in range(0, count, 4):
        store(x, k, zero)
