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
"""The mechanical stops at the joint limits of a URDF, as springs that act inside the step.

At an elastic joint a stop holds the motor, behind the gear, and on a pinned basis the root
section: where the drive acts too. When a stop catches and lets go:
kernels/stepping/driven_period.py.
"""
from __future__ import annotations

import numpy as np

from flex_dynamics.kernels.stepping import driven_period as rows
from flex_dynamics.model.joint_inertia import largest_joint_inertia
from flex_dynamics.model.model import Model

STIFFNESS = 300.0        # rad/s: a joint's largest inertia would ring at it on its stop
DAMPING = 0.4            # ratio, while the stop is being pressed


class JointStops:
    """Springs at the limits of the joints, kept in the rows of `motors`; arrays (n_joints,)."""

    def __init__(self, model: Model, motors: np.ndarray) -> None:
        self.lower, self.upper = motors[rows.LOWER], motors[rows.UPPER]
        self.stiffness, self.damping = motors[rows.STOP_STIFFNESS], motors[rows.STOP_DAMPING]
        self.side, self.caught_at = motors[rows.SIDE], motors[rows.CAUGHT_AT]
        self.lower[:], self.upper[:] = model.joint_limits.lower, model.joint_limits.upper
        inertia = largest_joint_inertia(model)
        self.stiffness[:] = STIFFNESS**2 * inertia
        self.damping[:] = 2.0 * DAMPING * STIFFNESS * inertia

    def release(self) -> None:
        """No joint is at a stop."""
        self.side[:] = self.caught_at[:] = 0.0
