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
"""The state of a running simulation in one argument, as handle.py has it for a model."""
from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import njit

from flex_dynamics.kernels.base.layout import OPTIONS
from flex_dynamics.kernels.base.workspace import array_at, integers_at
from flex_dynamics.kernels.constraints.constraint_arrays import (
    constraint_addresses,
    open_constraints,
)
from flex_dynamics.kernels.stepping.base_momentum import LEDGER
from flex_dynamics.kernels.stepping.coupled_step import open_coupled

RunArrays = namedtuple('RunArrays', (
    'q',            # (n,)
    'v',            # (n,)
    'a',            # (n,) last acceleration, the first guess of the next
    'reach',        # (n,) amplitudes beyond which the motion has diverged
    'servo',        # (4, n_joints) rows: step_forces.py
    'scratch',      # (13, n) row 8 zeros; rows 9 and 10 the state whose energy the ledger has; 11
                    # the acceleration of the step before, 12 counts of light_directions.py
    'ledger',       # (LEDGER,) energies and momentum that the motion should have: base_momentum.py
    'roots',        # (pinned roots, n) scratch
    'root_work',    # (pinned roots, pinned roots + 2) scratch
    'carriers',     # (wrenches,) nodes on which wrenches act ...
    'points',       # (wrenches, 3) ... where, in the node ...
    'wrenches',     # (wrenches, 6) ... force and moment in world axes
    'R_world',      # (nodes + 2, 3, 3) scratch
    'p_world',      # (nodes + 2, 3) scratch
    'coupled',      # of robots with followers: coupled_step.py
    'constraints',  # of robots with loops, wheels or supports: constrained_step.py
))


def make_state(state: RunArrays) -> np.ndarray:
    """Addresses and sizes as open_state reads them; the arrays must outlive it."""
    arrays = state[:-2]
    assert all(array.flags.c_contiguous for array in (*arrays, *state.coupled))
    sizes = (len(state.q), state.servo.shape[1], len(state.roots), len(state.carriers),
             len(state.R_world))
    coupled = state.coupled
    return np.array([*sizes, *(array.ctypes.data for array in arrays), len(coupled.M),
                     *coupled.inputs.shape, *(array.ctypes.data for array in coupled),
                     *constraint_addresses(state.constraints)], dtype=np.int64)


@njit(**OPTIONS)
def open_state(h):
    """The arrays behind the handle of a state."""
    n, joints, pinned, loads, nodes = h[0], h[1], h[2], h[3], h[4]
    return RunArrays(array_at(h[5], (n,)), array_at(h[6], (n,)), array_at(h[7], (n,)),
                     array_at(h[8], (n,)), array_at(h[9], (4, joints)), array_at(h[10], (13, n)),
                     array_at(h[11], (LEDGER,)), array_at(h[12], (pinned, n)),
                     array_at(h[13], (pinned, pinned + 2)), integers_at(h[14], (loads,)),
                     array_at(h[15], (loads, 3)), array_at(h[16], (loads, 6)),
                     array_at(h[17], (nodes, 3, 3)), array_at(h[18], (nodes, 3)),
                     open_coupled(h, 19), open_constraints(h, 30))
