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
"""World positions of frames along a motion, all states in one call."""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.base.layout import ENTRY
from flex_dynamics.kernels.base.workspace import carve
from flex_dynamics.kernels.tree.frames import world_poses
from flex_dynamics.kernels.tree.kinematics import kinematics


@njit(**ENTRY)
def frame_paths(table, body, coef, size, work, q, still, nodes, places, R_world, p_world, out):
    """out (states, frames, 3) for q (states, n); still: n zeros. nodes (frames,): what carries
    each frame, -1 the world; places (frames, 3): where, in its axes."""
    w = carve(work, size)
    for k in range(q.shape[0]):
        kinematics(table, body, coef, q[k], still, w, False)
        world_poses(table, w, R_world, p_world)
        for f in range(nodes.shape[0]):
            node, p = nodes[f], places[f]
            for i in range(3):
                out[k, f, i] = p[i]
                if node >= 0:
                    R = R_world[node]
                    out[k, f, i] = (p_world[node, i] + R[i, 0] * p[0] + R[i, 1] * p[1]
                                    + R[i, 2] * p[2])
