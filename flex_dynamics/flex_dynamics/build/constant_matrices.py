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
"""The matrices of a model that do not change: stiffness, damping, input."""
from __future__ import annotations

import numpy as np

from flex_dynamics.build.pack import Packed
from flex_dynamics.kernels.base import layout


def elastic_block(packed: Packed, row: np.ndarray, column: int) -> np.ndarray:
    """The (modes, modes) block of one beam in the packed coefficients: a view."""
    modes = row[layout.MODES]
    return packed.coef[row[column]:row[column] + modes * modes].reshape(modes, modes)


def stiffness_matrix(packed: Packed) -> np.ndarray:
    """K (n, n): beams and springs of elastic joints."""
    return _blocks_and_springs(packed, layout.STIFFNESS, layout.SPRING)


def damping_matrix(packed: Packed) -> np.ndarray:
    """D (n, n): modal or Rayleigh damping, dampers of elastic joints, viscous joint friction."""
    damping = _blocks_and_springs(packed, layout.DAMPING, layout.DAMPER)
    inputs = input_matrix(packed)
    for i, row in enumerate(packed.table):
        viscous = packed.body[i, layout.VISCOUS]
        if row[layout.DOF] == 1 and viscous:
            # Friction of a plain joint acts where its motor acts; of an elastic one on the link.
            column = inputs[:, row[layout.Q]]
            if row[layout.MOTOR] >= 0 or row[layout.FULL] != row[layout.Q]:
                column = np.eye(len(packed.names))[row[layout.Q]]
            damping += viscous * np.outer(column, column)
    return damping


def input_matrix(packed: Packed) -> np.ndarray:
    """B (n, n_joints): joint efforts as generalised forces."""
    inputs = np.zeros((len(packed.names), packed.n_joints))
    for i, row in enumerate(packed.table):
        at, motor = row[layout.Q], row[layout.MOTOR]
        if row[layout.FULL] != at:
            continue                     # a follower, which has no motor
        for m in range(row[layout.DOF]):
            inputs[at + m, at + m] = 1.0
        if motor >= 0:
            inputs[at, at] = 0.0
            inputs[motor, at] = 1.0 / packed.body[i, layout.GEAR]
        elif row[layout.PINNED] >= 0:
            start, modes = row[layout.ELASTIC], row[layout.MODES]
            turn = packed.coef[row[layout.PINNED]:row[layout.PINNED] + modes]
            inputs[start:start + modes, at] = turn
    return inputs


def _blocks_and_springs(packed: Packed, block_column: int, joint_column: int) -> np.ndarray:
    out = np.zeros((len(packed.names), len(packed.names)))
    for i, row in enumerate(packed.table):
        block = slice(row[layout.ELASTIC], row[layout.ELASTIC] + row[layout.MODES])
        out[block, block] = elastic_block(packed, row, block_column)
        if row[layout.MOTOR] >= 0:
            stretch = np.zeros(len(packed.names))
            stretch[row[layout.Q]] = -1.0
            stretch[row[layout.MOTOR]] = 1.0 / packed.body[i, layout.GEAR]
            out += packed.body[i, joint_column] * np.outer(stretch, stretch)
    return out


def all_matrices(packed: Packed) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """K (n, n), D (n, n) and B (n, n_joints)."""
    return stiffness_matrix(packed), damping_matrix(packed), input_matrix(packed)
