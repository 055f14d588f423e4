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
"""Which joints are too weak to hold a pose: a limit that is too low in many published URDFs."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_dynamics.arrays import ArrayLike
from flex_dynamics.errors import DynamicsError
from flex_dynamics.model.model import Model
from flex_dynamics.simulation.command_limits import driven_places

LISTED = 5      # joints in a message


@dataclass(frozen=True)
class WeakJoint:
    """A joint that cannot hold a pose: effort that it needs and its limit, N m or N."""

    name: str
    needed: float
    limit: float
    unit: str

    def __str__(self) -> str:
        return f'{self.name} needs {self.needed:.3g} {self.unit}, has {self.limit:.3g}'


def weak_joints(model: Model, joints: ArrayLike) -> list[WeakJoint]:
    """Joints whose effort limit is below what holds the pose against gravity.

    Dry friction of a joint helps to hold it. joints (n_joints,): the pose, rad or m. None are
    found if the base is free to move, or if there is no equilibrium.
    """
    driven = driven_places(model)
    if len(driven) < model.n_joints:
        return []
    try:
        _, efforts = model.statics(joints)
    except DynamicsError:
        return []
    known = {joint.name: joint for joint in model.robot.joints}
    found = []
    for at, name in enumerate(model.joint_names):
        limit, needed = float(model.joint_limits.effort[at]), float(np.abs(efforts[at]))
        if needed > limit + known[name].friction:
            found.append(WeakJoint(name, needed, limit,
                                   'N' if known[name].type == 'prismatic' else 'N m'))
    return found


def weak_joints_warning(model: Model, joints: ArrayLike, pose: str = 'pose') -> str:
    """A message about the joints that cannot hold a pose; empty if all can.

    pose: what the message calls it.
    """
    weak = weak_joints(model, joints)
    if not weak:
        return ''
    more = f' and {len(weak) - LISTED} more' if len(weak) > LISTED else ''
    return (f'{model.robot.source}: the effort limits of these joints are too low to hold the '
            f'{pose} against gravity: {"; ".join(map(str, weak[:LISTED]))}{more}; they will sink: '
            f'write higher limits, or choose another {pose}')
