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
"""The derivatives that Python asks for, as one kernel: it is compiled once for all of them."""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.finite import BAD_INPUT, LARGEST, LARGEST_POSITION, finite
from flex_dynamics.kernels.base.handle import open_handle
from flex_dynamics.kernels.base.layout import ENTRY
from flex_dynamics.kernels.derivatives.equilibrium import equilibrium
from flex_dynamics.kernels.derivatives.forward_dynamics_derivatives import forward_derivatives
from flex_dynamics.kernels.derivatives.inverse_dynamics_derivatives import force_derivatives

INVERSE, FORWARD, EQUILIBRIUM = 0, 1, 2


@njit(**ENTRY)
def state_derivatives(what, handle, space, q, v, a, tau, external, slope, force, pivots, by_q,
                      by_v, M, Y):
    """what: one of the above. All vectors and matrices are overwritten but q, v, external and
    slope; matrices have size n and one for each follower.

    INVERSE: by_q, by_v, M and force (n,) at a, as force_derivatives.
    FORWARD: a and Y at tau, as forward_derivatives.
    EQUILIBRIUM: q and tau, as equilibrium; v and a are not read.

    Returns 0, what these return, or BAD_INPUT.
    """
    m, n = open_handle(handle), q.shape[0]
    if not (v.shape[0] == n and a.shape[0] == n and tau.shape[0] == m.n_joints
            and M.shape[0] == n + m.size[6] and finite(q, LARGEST_POSITION)
            and finite(v, LARGEST)):
        return BAD_INPUT
    if what == INVERSE:
        if not finite(a, LARGEST):
            return BAD_INPUT
        force_derivatives(m, space, q, v, a, force, by_q, by_v, M)
        return 0
    if what == FORWARD:
        if not finite(tau, LARGEST):
            return BAD_INPUT
        return forward_derivatives(m, space, q, v, tau, external, slope, a, force, by_q, by_v, M,
                                   Y)
    return equilibrium(m, space, q, tau, force, a, pivots, by_q, by_v, M, Y)
