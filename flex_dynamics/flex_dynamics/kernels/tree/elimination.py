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
"""Pivots of the recursion: a beam's amplitudes, a joint, an elastic joint, a moving base.

Every function takes a node's articulated inertia A (6, ROW) with the bias force in column 6,
eliminates coordinates from it, and returns 0 or 1 + the coordinate whose pivot is not positive.
"""
from __future__ import annotations

import math

from numba import njit

from flex_dynamics.kernels.base.layout import (
    DAMPER,
    DAMPING,
    ELASTIC,
    GEAR,
    MODES,
    MOTOR,
    OPTIONS,
    PLANAR,
    ROTOR,
    ROTOR_AXIS,
    ROW,
    SCREW,
    SPRING,
    STIFFNESS,
    Q,
)
from flex_dynamics.kernels.base.spatial import transposed_times
from flex_dynamics.kernels.base.vector import load, shifted, store
from flex_dynamics.kernels.base.workspace import INERTIA_BLOCK


@njit(**OPTIONS)
def eliminate_amplitudes(row, coef, F, H, most, force, by_damping, by_stiffness, A):
    """Block elimination of a beam's amplitudes from its twist: H = L D L', rows of L'D stay in H.

    F (modes, ROW) becomes L^-1 F with L^-1 (bias - force) in column 6; the diagonal of H holds
    1 / D. A loses F' H^-1 F.
    """
    modes, start = row[MODES], row[ELASTIC]
    if by_damping != 0.0 or by_stiffness != 0.0:
        stiffness, damping = row[STIFFNESS], row[DAMPING]
        for i in range(modes):
            for j in range(i, modes):
                H[i * most + j] += (by_stiffness * coef[stiffness + i * modes + j]
                                    + by_damping * coef[damping + i * modes + j])
    for i in range(modes):
        F[ROW * i + 6] -= force[start + i]
    for k in range(modes):
        pivot_row, f_row = k * most, ROW * k
        pivot = H[pivot_row + k]
        if not pivot > 0.0:
            return start + k + 1
        inverse = 1.0 / pivot
        H[pivot_row + k] = inverse
        lo, hi = load(F, f_row), load(F, f_row + 4)
        for i in range(k + 1, modes):
            factor = H[pivot_row + i] * inverse
            for j in range(i // 4 * 4, modes, 4):
                store(H, i * most + j, load(H, i * most + j) - load(H, pivot_row + j) * factor)
            store(F, ROW * i, load(F, ROW * i) - lo * factor)
            store(F, ROW * i + 4, load(F, ROW * i + 4) - hi * factor)
    for j in range(6):
        lo, hi = load(A, ROW * j), load(A, ROW * j + 4)
        for k in range(modes):
            factor = F[ROW * k + j] * H[k * most + k]
            lo = lo - load(F, ROW * k) * factor
            hi = hi - load(F, ROW * k + 4) * factor
        store(A, ROW * j, lo)
        store(A, ROW * j + 4, hi)
    return 0


@njit(**OPTIONS)
def eliminate_joint(screw, at, armature, force, diagonal, A, U, D):
    """One coordinate: U = A s with s.b in column 6, D = (1 / pivot, force - s.b)."""
    lo, hi = transposed_times(A, screw)
    store(U, 0, lo)
    store(U, 4, hi)
    pivot = diagonal[at] + armature
    for k in range(6):
        pivot += screw[k] * U[k]
    if not pivot > 0.0:
        return at + 1
    inverse, right = 1.0 / pivot, force[at] - U[6]
    D[0], D[1] = inverse, right
    # Column 6 of the update: b + U right / pivot.
    U[6] = -right
    hi = load(U, 4)
    for j in range(6):
        factor = U[j] * inverse
        store(A, ROW * j, load(A, ROW * j) - lo * factor)
        store(A, ROW * j + 4, load(A, ROW * j + 4) - hi * factor)
    return 0


@njit(**OPTIONS)
def elastic_joint_pivot(i, table, body, force, diagonal, by_damping, by_stiffness, w, A):
    """Joint and rotor together, a pivot block of 2 x 2, which reduce_parent_by_rotor applies.

    D: inverse of the block, then the right-hand sides of joint (less what c causes) and rotor.
    """
    at, motor, row, D = table[i, Q], table[i, MOTOR], body[i], w.D[i]
    U, screw = shifted(w.U, ROW * i), body[i, SCREW:SCREW + 6]
    lo, hi = transposed_times(A, screw)
    store(U, 0, lo)
    store(U, 4, hi)
    pivot, right, gear = diagonal[at], force[at] - U[6], row[GEAR]
    for k in range(6):
        pivot += screw[k] * U[k]
        right -= U[k] * w.c[i, k]
    implicit = by_stiffness * row[SPRING] + by_damping * row[DAMPER]
    d00, d01 = pivot + implicit, -implicit / gear
    d11 = row[ROTOR] + implicit / (gear * gear) + diagonal[motor]
    determinant = d00 * d11 - d01 * d01
    if not d00 > 0.0:
        return at + 1
    if not determinant > 0.0:
        return motor + 1
    D[0], D[1], D[2] = d11 / determinant, -d01 / determinant, d00 / determinant
    D[3], D[4] = right, force[motor]
    return 0


@njit(**OPTIONS)
def reduce_parent_by_rotor(i, parent, body, w):
    """Eliminate joint and rotor in the parent's axes, where U and the unreduced body now are.

    The rotor turns about an axis of the parent, T = 1/2 Im (a.w + m')2 (Mladenova section 8), and
    the spring couples both.
    """
    row, D, U = body[i], w.D[i], shifted(w.U, ROW * i)
    A = shifted(w.A, INERTIA_BLOCK * parent)
    inertia, omega, rotor = row[ROTOR], w.V[parent], w.six[3]
    a0, a1, a2 = row[ROTOR_AXIS], row[ROTOR_AXIS + 1], row[ROTOR_AXIS + 2]
    rotor[0], rotor[1], rotor[2] = inertia * a0, inertia * a1, inertia * a2
    rotor[3], rotor[4], rotor[5] = 0.0, 0.0, 0.0
    spin = D[5] + a0 * omega[0] + a1 * omega[1] + a2 * omega[2]
    A[6] += spin * (omega[1] * rotor[2] - omega[2] * rotor[1])
    A[ROW + 6] += spin * (omega[2] * rotor[0] - omega[0] * rotor[2])
    A[2 * ROW + 6] += spin * (omega[0] * rotor[1] - omega[1] * rotor[0])
    x0, x1 = D[0] * D[3] + D[1] * D[4], D[1] * D[3] + D[2] * D[4]
    for j in range(6):
        y0, y1 = D[0] * U[j] + D[1] * rotor[j], D[1] * U[j] + D[2] * rotor[j]
        A[ROW * j + 6] += U[j] * x0 + rotor[j] * x1
        for k in range(6):
            A[ROW * j + k] -= y0 * U[k] + y1 * rotor[k]
    for j in range(3):
        for k in range(3):
            A[ROW * j + k] += row[ROTOR_AXIS + j] * rotor[k]


@njit(**OPTIONS)
def base_pivot(kind, at, force, diagonal, w, A, c):
    """Pivot block of a planar (3) or floating (6) base: U = A S, Cholesky factor of S'A S."""
    dof = 3 if kind == PLANAR else 6
    S, U, D = w.S, w.base_U, w.base_D
    right = w.six[5]
    for m in range(dof):
        s = force[at + m]
        for j in range(6):
            t, u = A[ROW * j + 6], 0.0
            for k in range(6):
                t += A[ROW * j + k] * c[k]
                u += A[ROW * j + k] * S[m, k]
            U[m, j] = u
            s -= S[m, j] * t
        right[m] = s
    for m in range(dof):
        for d in range(dof):
            s = 0.0
            for j in range(6):
                s += S[m, j] * U[d, j]
            D[m, d] = s
        D[m, m] += diagonal[at + m]
    bad = cholesky(D, dof)
    return at + bad if bad else 0


@njit(**OPTIONS)
def cholesky(H, n):
    """Lower Cholesky factor in place, reciprocals on the diagonal; 0 or 1 + the bad pivot."""
    for i in range(n):
        for j in range(i + 1):
            s = H[i, j]
            for k in range(j):
                s -= H[i, k] * H[j, k]
            if i == j:
                if not s > 0.0:
                    return i + 1
                H[i, i] = 1.0 / math.sqrt(s)
            else:
                H[i, j] = s * H[j, j]
    return 0
