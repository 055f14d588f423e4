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

from flex_dynamics import checks
from flex_dynamics.arrays import Array
from flex_dynamics.model.model import MODEL_ADVICE, Model

POSES = 64


def largest_joint_inertia(model: Model) -> Array:
    """Largest diagonal element of M (n_joints,), kg m2 or kg, over poses within the limits.

    The poses are drawn once for all with a fixed seed; a joint without limits turns all around, or
    moves by a metre.
    """
    checks.instance(model, 'model', Model, MODEL_ADVICE)
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
