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
"""A warning if a motion needs more effort than a motor has."""
from __future__ import annotations

import numpy as np

from flex_control.incremental import Pieces
from flex_control.reference.constrained_reference import ConstrainedReference
from flex_control.trajectories.base import Trajectory
from flex_dynamics import Model

SAMPLES = 61          # along the motion
AT_ONCE = 3           # samples in a piece
LEAST = 1e-9          # N m or N, in place of a limit of zero: a joint without a motor


def beyond_efforts(model: Model, trajectory: Trajectory) -> Pieces[str]:
    """A warning that names the joint whose effort limit a motion exceeds, with links that are
    straight (with constraints: bent quasi-statically) and do not vibrate; empty if there is none.
    In pieces."""
    joints = model.n_joints
    most = model.joint_limits.effort
    if not np.isfinite(most).any():
        return ''
    q, v, a = np.zeros((3, model.n))
    constrained = ConstrainedReference(model) if model.robot.constraints else None
    largest = np.zeros(joints)
    for at, time in enumerate(np.linspace(trajectory.start, trajectory.end, SAMPLES)):
        wanted = trajectory.sample(time)
        if constrained is not None:
            constrained.move_to(wanted, 0.0)
            efforts = constrained.effort
        else:
            q[:joints], v[:joints], a[:joints] = (wanted.position, wanted.velocity,
                                                  wanted.acceleration)
            efforts = model.inverse_dynamics(q, v, a)[:joints]
        largest = np.maximum(largest, np.abs(efforts))
        if at % AT_ONCE == AT_ONCE - 1:
            yield
    if (largest <= most).all():
        return ''
    at = int(np.argmax(largest / np.maximum(most, LEAST)))
    unit = {joint.name: 'N' if joint.type == 'prismatic' else 'N m'
            for joint in model.robot.joints}[model.names[at]]
    needed = float(f'{largest[at]:.3g}')
    return (f'the motion needs {needed:g} {unit} of {model.names[at]}, whose limit is '
            f'{most[at]:g}: the joint will lag behind; give the motion more time')
