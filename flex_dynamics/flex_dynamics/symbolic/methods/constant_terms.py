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
"""The matrices that do not depend on the state, from the shapes and the joints themselves."""
from __future__ import annotations

import numpy as np

from flex_dynamics.kernels.base import layout
from flex_dynamics.symbolic.methods.problem import Problem
from flex_dynamics.symbolic.methods.shape_integrals import stiffness


def stiffness_matrix(problem: Problem) -> np.ndarray:
    """K (n, n): U of Lin and Lewis (16), (19), and springs of elastic joints, Mladenova (349)."""
    K = np.zeros((problem.n, problem.n))
    for body in problem.bodies:
        if body.is_beam and body.fields is not None:
            K[np.ix_(body.amplitudes, body.amplitudes)] = stiffness(body.fields)
        joint = problem.model.assembly.tree.nodes[body.index].joint
        if body.motor is not None and joint is not None and joint.flexible is not None:
            stretch = np.zeros(problem.n)
            stretch[body.coordinates[0]] = 1.0
            stretch[body.motor] = -1.0 / joint.flexible.gear_ratio
            K += joint.flexible.stiffness * np.outer(stretch, stretch)
    return K


def input_matrix(problem: Problem) -> np.ndarray:
    """B (n, n_joints): the virtual work of the efforts; phi'(0) for a basis with a slope there."""
    B = np.zeros((problem.n, problem.model.n_joints))
    for body in problem.bodies:
        for k in body.coordinates:
            B[k, k] = 1.0
        joint = problem.model.assembly.tree.nodes[body.index].joint
        if body.motor is not None and joint is not None and joint.flexible is not None:
            k = body.coordinates[0]
            B[k, k], B[body.motor, k] = 0.0, 1.0 / joint.flexible.gear_ratio
        elif body.is_beam and body.fields is not None and len(body.coordinates) == 1 and (
                body.fields.flexible.pinned):
            turns = body.fields.rotation_first(np.zeros(1))[0]
            B[list(body.amplitudes), body.coordinates[0]] = body.axis @ turns
    return B


def add_reflected_inertia(problem: Problem, M: np.ndarray) -> None:
    """M (n, n) += the inertia of motors (<motor>), which is constant: no other term has it."""
    packed = problem.model.assembly.packed
    for body in problem.bodies:
        inertia = float(packed.body[body.index, layout.ARMATURE])
        if inertia:
            k = body.coordinates[0]
            M[k, k] = M[k, k] + inertia
