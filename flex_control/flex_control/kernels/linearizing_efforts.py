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
"""The law of feedback linearisation in one compiled call: a dozen products of small matrices.

In numpy the calls would take several times as long as the sums, most of all in a node that wakes
a thousand times a second to a cold cache.
"""
from __future__ import annotations

import math

from numba import njit, types

from flex_dynamics.kernels.base.handle import MATRIX, NUMBERS
from flex_dynamics.kernels.base.layout import ENTRY

# Of `matrices` (5, n, n)
MASS = 0
CORIOLIS = 1
ADDED_INERTIA = 2      # by damping and stiffness within half a period
DAMPING = 3            # of the links, and what stiffness adds to it
STIFFNESS = 4
MATRICES = 5

# Rows of `gains` (4, n_joints)
BY_POSITION = 0        # 1/s2
BY_SPEED = 1           # 1/s
DRIVE_STIFFNESS = 2
DRIVE_DAMPING = 3

SIGNATURE = (types.Array(types.float64, 3, 'C'), NUMBERS, MATRIX, *[NUMBERS] * 6, types.float64,
             types.float64, MATRIX, NUMBERS)


@njit(**ENTRY)
def linearizing_efforts(matrices, weight, gains, q, v, speed, position, velocity, acceleration,
                        half, ahead, work, efforts):
    """Efforts (n_joints,) with which the joints obey e'' + d e' + k e = 0 about the reference.

    (M + added) a + (C + damping) v + K q + weight = (efforts + drives; 0), the joints' part of a
    prescribed and the elastic part eliminated by Cholesky. q, v, weight (n,), in v the joints'
    part is taken from `speed`; speed, position, velocity, acceleration (n_joints,): the joints'
    own and the wanted ones. half: half a period; ahead: from the instant of `speed` to its middle,
    s. work (n + 1, n): scratch. Returns 0, or 1 + the coordinate whose pivot is not positive.
    """
    n, joints = q.shape[0], speed.shape[0]
    M, C, added = matrices[MASS], matrices[CORIOLIS], matrices[ADDED_INERTIA]
    D, K, force = matrices[DAMPING], matrices[STIFFNESS], work[n]
    for j in range(joints):
        efforts[j] = (acceleration[j] + gains[BY_SPEED, j] * (velocity[j] - speed[j])
                      + gains[BY_POSITION, j] * (position[j] - q[j]))
    for i in range(n):
        s = weight[i]
        for k in range(joints):
            s += ((M[i, k] + added[i, k]) * efforts[k] + (C[i, k] + D[i, k]) * speed[k]
                  + K[i, k] * q[k])
        for k in range(joints, n):
            s += (C[i, k] + D[i, k]) * v[k] + K[i, k] * q[k]
        force[i] = s
    # M_ee + added = L L', 1 / diagonal in the diagonal; the forces become L^-1 forces.
    for i in range(joints, n):
        for j in range(joints, i + 1):
            s = M[i, j] + added[i, j]
            for k in range(joints, j):
                s -= work[i, k] * work[j, k]
            if j < i:
                work[i, j] = s * work[j, j]
            elif s > 0.0:
                work[i, i] = 1.0 / math.sqrt(s)
            else:
                return i + 1
        s = force[i]
        for k in range(joints, i):
            s -= work[i, k] * force[k]
        force[i] = s * work[i, i]
    for i in range(n - 1, joints - 1, -1):
        s = force[i]
        for k in range(i + 1, n):
            s -= work[k, i] * force[k]
        force[i] = s * work[i, i]
    for j in range(joints):
        s = force[j]
        for k in range(joints, n):
            s -= (M[j, k] + added[j, k]) * force[k]
        middle = speed[j] + ahead * efforts[j]
        efforts[j] = s - (gains[DRIVE_STIFFNESS, j] * (position[j] - q[j] - half * middle)
                          + gains[DRIVE_DAMPING, j] * (velocity[j] - middle))
    return 0
