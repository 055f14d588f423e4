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
"""The planar biped of Mladenova's section 10 as a URDF, and its coordinates as the Model's."""
from __future__ import annotations

import numpy as np
from constrained_robots import joint, link, robot

from flex_dynamics import Model
from flex_dynamics.papers.planar_biped import Biped

FEET = ('foot1', 'foot2')


def biped_robot(biped: Biped):
    """A planar base, two hips and two knees, and a support under each foot."""
    upper = biped.pelvis + biped.trunk
    height = biped.k_rho / upper
    parts = ['<link name="world"/>',
             link('trunk', upper, f'0 0 {height!r}', (2.0, biped.I - upper * height**2, 2.0)),
             joint('base', 'world', 'trunk', axis='0 1 0', kind='planar')]
    for leg in ('1', '2'):
        parts += [
            link(f'thigh{leg}', biped.thigh, f'0 0 {-biped.a}',
                 (0.2, biped.I_a0 - biped.thigh * biped.a**2, 0.2)),
            link(f'shank{leg}', biped.shank, f'0 0 {-biped.b}',
                 (0.1, biped.I_b - biped.shank * biped.b**2, 0.1)),
            joint(f'hip{leg}', 'trunk', f'thigh{leg}'),
            joint(f'knee{leg}', f'thigh{leg}', f'shank{leg}', f'0 0 {-2.0 * biped.a}'),
            f'<support name="foot{leg}" frame="shank{leg}" xyz="0 0 {-2.0 * biped.b}" '
            'active="false"/>']
    return robot(*parts, name='biped')


def to_model(model: Model) -> np.ndarray:
    """T (n, 7): the model's coordinates are T q, linear in the paper's x, z, theta, alpha_1 ..."""
    T = np.zeros((model.n, 7))
    for k in range(3):                         # the base's coordinates, from what they move
        pose = model.pose(1e-3 * np.eye(model.n)[k], 'trunk')
        moved = 1e3 * np.array([pose[0, 3], pose[2, 3], np.arctan2(pose[0, 2], pose[2, 2])])
        T[k, :3] = np.round(moved, 6)
    for leg, (alpha, beta) in (('1', (3, 4)), ('2', (5, 6))):
        hip, knee = (model.names.index(f'{name}{leg}') for name in ('hip', 'knee'))
        T[hip, alpha], T[hip, 2] = 1.0, -1.0
        T[knee, beta], T[knee, alpha] = 1.0, -1.0
    return T


def efforts(model: Model, knee: np.ndarray, hip: np.ndarray) -> np.ndarray:
    """tau (n_joints,) of the moments u_i, q_i."""
    tau = np.zeros(model.n_joints)
    for i in range(2):
        tau[model.names.index(f'knee{i + 1}')] = knee[i]
        tau[model.names.index(f'hip{i + 1}')] = hip[i]
    return tau
