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
"""How much inertia each joint may have to move, for gains that do in every pose."""
from __future__ import annotations

import numpy as np

from flex_description import default_pose
from flex_dynamics import checks
from flex_dynamics.arrays import Array
from flex_dynamics.model.model import MODEL_ADVICE, Model

POSES = 64


def largest_joint_inertia(model: Model) -> Array:
    """Largest diagonal element of M (n_joints,), kg m2 or kg, over poses within the limits.

    The poses are drawn once for all with a fixed seed; a joint without limits turns all around, or
    moves by a metre. With constraints: what a motor moves at the default pose while the other
    motors stand, all else following (a cylinder its boom, a wheel its platform).
    """
    checks.instance(model, 'model', Model, MODEL_ADVICE)
    if model.constraint_names:
        return _on_constraints(model)
    prismatic = {joint.name for joint in model.robot.joints if joint.type == 'prismatic'}
    span = np.array([1.0 if name in prismatic else np.pi for name in model.joint_names])
    lower = np.maximum(model.joint_limits.lower, -span)
    upper = np.minimum(model.joint_limits.upper, span)
    draws = np.random.default_rng(0).uniform(0.0, 1.0, (POSES, model.n_joints))
    largest = np.zeros(model.n_joints)
    q = np.zeros(model.n)
    for draw in draws:
        q[:model.n_joints] = lower + draw * (upper - lower)
        largest = np.maximum(largest, np.diag(model.mass_matrix(q))[:model.n_joints])
    return largest


def _on_constraints(model: Model) -> Array:
    """v' M v / v_j^2 with the speeds v that the constraints allow, of which those of the motors
    are nearest to 1 for motor j and 0 for the others; springs of links and joints unstrained."""
    joints, q = model.n_joints, np.zeros(model.n)
    q[:joints] = list(default_pose(model.robot).values())
    mass = model.mass_matrix(q)[:joints, :joints]
    _, sizes, rows = np.linalg.svd(model.constraint_jacobian(q)[:, :joints])
    rank = int(np.sum(sizes > 1e-9 * max(1.0, sizes.max(initial=0.0))))
    free = rows[rank:].T
    inertia: Array = np.diag(mass).copy()
    driven = [at for at, name in enumerate(model.joint_names)
              if any(joint.name == name and not joint.passive for joint in model.robot.joints)]
    if not free.size or not driven:
        return inertia
    # N' M N = 1: the kinetic energy of N c is c' c / 2.
    basis = np.linalg.solve(np.linalg.cholesky(free.T @ mass @ free), free.T).T
    for at, c in zip(driven, np.linalg.pinv(basis[driven], 1e-9).T, strict=True):
        speed = basis[at] @ c
        if abs(speed) > 1e-6:
            inertia[at] = c @ c / speed**2
    return inertia
