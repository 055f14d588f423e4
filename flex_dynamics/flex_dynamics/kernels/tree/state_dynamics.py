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
"""Accelerations of a state under joint efforts: what one call from Python does."""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.finite import BAD_INPUT, LARGEST, LARGEST_POSITION, finite
from flex_dynamics.kernels.base.handle import open_handle
from flex_dynamics.kernels.base.layout import ENTRY
from flex_dynamics.kernels.tree.applied_forces import applied_forces
from flex_dynamics.kernels.tree.recursive_forward_dynamics import forward_dynamics


@njit(**ENTRY)
def accelerations(handle, q, v, tau, external, a):
    """a (n,) = M^-1 (B tau + external - K q - D v - friction - bias); external (n,) or empty.

    Returns what forward_dynamics returns, or BAD_INPUT. The model's workspace has n places for
    the forces and n zeros at its end.
    """
    m, n = open_handle(handle), a.shape[0]
    if not (q.shape[0] == n and v.shape[0] == n and tau.shape[0] == m.n_joints
            and finite(q, LARGEST_POSITION) and finite(v, LARGEST) and finite(tau, LARGEST)):
        return BAD_INPUT
    end = m.work.shape[0]
    force, zeros = m.work[end - 2 * n:end - n], m.work[end - n:]
    applied_forces(m.table, m.body, m.coef, q, v, tau, force)
    for i in range(external.shape[0]):
        force[i] += external[i]
    return forward_dynamics(m.table, m.body, m.coef, m.size, m.work, m.gravity, q, v, force, zeros,
                            0.0, 0.0, a)
