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
"""Zero dynamics: the elastic motion of a robot whose joints are held on their path."""
from __future__ import annotations

import numpy as np

from flex_control.errors import ControlError
from flex_dynamics import Model


def zeros(model: Model, q: np.ndarray | None = None) -> np.ndarray:
    """Zeros (k,), 1/s, from joint efforts to joint positions at coordinates q (n,).

    They are the poles of the rest of the robot while efforts hold the joints still (Lin and
    Lewis 4.2): with M a + D v + K q = B tau and the joints' rows solved for tau,
    (M_ee - L M_je) a_e + (D_ee - L D_je) v_e + (K_ee - L K_je) q_e = 0, L = B_e B_j^-1.
    """
    joints = model.n_joints
    place = np.zeros(model.n) if q is None else q
    inputs = np.asarray(model.input_matrix(place))
    share = np.linalg.solve(inputs[:joints].T, inputs[joints:].T).T
    mass, damping, stiffness = (
        matrix[joints:, joints:] - share @ matrix[:joints, joints:] for matrix in (
            model.mass_matrix(place), np.asarray(model.damping_matrix()),
            np.asarray(model.stiffness_matrix())))
    size = len(mass)
    state = np.zeros((2 * size, 2 * size))
    state[:size, size:] = np.eye(size)
    state[size:] = np.linalg.solve(mass, np.hstack((-stiffness, -damping)))
    return np.linalg.eigvals(state)


def check_joint_outputs(model: Model, controller: str) -> None:
    """Raise ControlError, with the reason, where joint positions cannot be linearised by efforts:
    elastic joints, a base that floats, pinned shapes."""
    for joint in model.robot.joints:
        if joint.type in ('floating', 'planar'):
            raise ControlError(f'{controller}: expected motors on all joints, found the '
                               f'{joint.type} base {joint.name}')
        if joint.flexible is not None:
            raise ControlError(f'{controller}: expected stiff joints, found the elastic joint '
                               f'{joint.name}, whose effort acts on the motor behind a spring: '
                               'use elastic_joint')
    pinned = [link.name for link in model.robot.links if link.flexible and link.flexible.pinned]
    if pinned:
        found = zeros(model)
        raise ControlError(
            f'{controller}: expected a basis that is clamped at the joint, found the pinned basis '
            f'of {pinned[0]}: its motor bends the link too, and with the joint held the link '
            f'would run away (zero at {found.real.max():+.1f} 1/s; Lin and Lewis 4.2); take a '
            'clamped basis or craig-bampton for the model of the controller')
