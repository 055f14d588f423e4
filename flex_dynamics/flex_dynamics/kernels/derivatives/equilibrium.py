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
"""Equilibrium with deflection by Newton's method, all of it in one call.

Unknowns are the motors and amplitudes and the joint efforts that hold them. Once a step is small,
the factors of the last matrix serve on: with them a step costs a tenth, and the error still falls
by the size of the step before it.
"""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.finite import LARGEST_POSITION
from flex_dynamics.kernels.base.layout import OPTIONS
from flex_dynamics.kernels.derivatives.forward_dynamics_derivatives import set_inputs
from flex_dynamics.kernels.derivatives.inverse_dynamics_derivatives import force_derivatives
from flex_dynamics.kernels.derivatives.passive_derivatives import add_passive_derivatives
from flex_dynamics.kernels.tree.applied_forces import applied_forces
from flex_dynamics.kernels.tree.inverse_dynamics import inverse_dynamics

SMALL = 1e-3              # step, by the largest coordinate or 1, from which on factors are kept
MOST_STEPS = 50
CLOSE = 1e-12             # step at which the equilibrium is found
NO_EQUILIBRIUM = -1


@njit(**OPTIONS)
def factor(A, pivots):
    """L U of A (n, n) in place with row exchanges, pivots (n,) int64; whether A is regular."""
    n = A.shape[0]
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        pivots[k] = best
        if not abs(A[best, k]) > 0.0:
            return False
        if best != k:
            for j in range(n):
                A[k, j], A[best, j] = A[best, j], A[k, j]
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, n):
            share = A[i, k] * inverse
            A[i, k] = share
            if share != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= share * A[k, j]
    return True


@njit(**OPTIONS)
def solve_factored(A, pivots, x):
    """x (n,) = A^-1 x by the factors."""
    n = A.shape[0]
    for k in range(n):
        x[k], x[pivots[k]] = x[pivots[k]], x[k]
        for i in range(k + 1, n):
            x[i] -= A[i, k] * x[k]
    for k in range(n - 1, -1, -1):
        s = x[k]
        for j in range(k + 1, n):
            s -= A[k, j] * x[j]
        x[k] = s / A[k, k]


@njit(**OPTIONS)
def equilibrium(m, space, q, tau, force, applied, pivots, by_q, by_v, M, inputs):
    """Of an opened handle m. Joint positions in q (n,) are kept, the rest is replaced; tau (joint
    coordinates,) out.

    force, applied (n,), pivots (n,) int64, by_q, by_v, M and inputs (n, n): scratch. Returns the
    number of steps, or NO_EQUILIBRIUM.
    """
    n = q.shape[0]
    zeros = m.work[m.work.shape[0] - n:]
    inputs[:, :] = 0.0
    set_inputs(m.table, m.body, m.coef, inputs, 0)
    joints, small, last = m.n_joints, False, 0.0
    for i in range(joints, n):
        q[i] = 0.0
    for step in range(MOST_STEPS):
        if small:
            inverse_dynamics(m.table, m.body, m.coef, m.size, m.work, m.gravity, q, zeros, zeros,
                             force)
        else:
            force_derivatives(m, space, q, zeros, zeros, force, by_q, by_v, M)
            add_passive_derivatives(m.table, m.body, m.coef, zeros, by_q, by_v)
            for i in range(n):
                for j in range(joints, n):
                    M[i, j - joints] = by_q[i, j]
                for j in range(joints):
                    M[i, n - joints + j] = -inputs[i, j]
            if not factor(M, pivots):
                return NO_EQUILIBRIUM
        applied_forces(m.table, m.body, m.coef, q, zeros, zeros[:joints], applied)
        for i in range(n):
            force[i] = applied[i] - force[i]
        solve_factored(M, pivots, force)
        largest, change = 1.0, 0.0
        for i in range(joints):
            tau[i] = force[n - joints + i]
            largest = max(largest, abs(q[i]))
        for i in range(joints, n):
            q[i] += force[i - joints]
            change = max(change, abs(force[i - joints]))
            largest = max(largest, abs(q[i]))
        if not largest < 0.5 * LARGEST_POSITION:
            return NO_EQUILIBRIUM
        if change < CLOSE * largest:
            return step + 1
        # Where kept factors do not help, the matrix is calculated anew.
        small = change < SMALL * largest and not (small and change > 0.1 * last)
        last = change
    return NO_EQUILIBRIUM
