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
"""Feedback linearisation for elastic joints, by position, velocity, acceleration and jerk."""
from __future__ import annotations

from typing import ClassVar

import numpy as np

from flex_control.controllers.base import Controller
from flex_control.controllers.parameters import Parameter
from flex_control.errors import ControlError
from flex_dynamics import Model

MOMENT = 2e-3      # s, for derivatives along the motion; fourth order, so exact to rounding


class ElasticJoint(Controller):
    """The joints obey y'''' = v (Mladenova 7.4), with y the link-side joint positions and
    v = y_d'''' + k3 (y_d''' - y''') + k2 (y_d'' - y'') + k1 (y_d' - y') + k0 (y_d - y).

    Links: M(y) y'' + n(y, y') = s, the springs' torque s = K (x / r - y) of motors at x (r: gear
    ratio). Differentiated twice, with y'''' = v, it says what s'' has to be; the motors' equation
    then gives the effort, s + r^2 I (y'' + s'' / K). y'' and y''' follow from the measured y, y',
    x, x' by the same equation and its derivative. Link deflection, dampers in the joints and the
    pull of spinning rotors on the links are left out: disturbances.
    """

    needs_elastic_state: ClassVar[bool] = True
    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        Parameter('bandwidth', 10.0, 'bandwidth of every joint: all four poles of its error',
                  'rad/s', 0.01, 1e4),
    )

    def parameters_changed(self) -> None:
        model, w = self.model, self.parameters['bandwidth']
        self._gains = w**4, 4.0 * w**3, 6.0 * w**2, 4.0 * w
        self._stiffness, self._damping, self._ratio, self._inertia = _elastic_joints(model)
        self._motors = slice(model.n_joints, 2 * model.n_joints)
        self._q, self._v, self._a = (np.zeros(model.n) for _ in range(3))

    def update(self, time: float, period: float) -> np.ndarray:
        joints, wanted = self.model.n_joints, self.reference
        position, velocity = self.q[:joints], self.v[:joints]
        spring = self._stiffness * (self.q[self._motors] / self._ratio - position)
        spring_rate = self._stiffness * (self.v[self._motors] / self._ratio - velocity)
        none = np.zeros(joints)
        self._q[:joints] = position
        mass = self.model.mass_matrix(self._q)[:joints, :joints]
        acceleration = np.linalg.solve(mass, spring - self._torque(position, velocity, none))
        # s' is linear in the jerk: with none it lacks M y'''.
        path = (position, velocity, acceleration, none, none)
        jerk = np.linalg.solve(mass, spring_rate - self._torque_rates(path)[0])
        k0, k1, k2, k3 = self._gains
        snap = (wanted.snap + k3 * (wanted.jerk - jerk)
                + k2 * (wanted.acceleration - acceleration)
                + k1 * (wanted.velocity - velocity) + k0 * (wanted.position - position))
        path = (position, velocity, acceleration, jerk, snap)
        spring_curvature = self._torque_rates(path)[1]
        efforts: np.ndarray = spring + self._ratio**2 * self._inertia * (
            acceleration + spring_curvature / self._stiffness)
        efforts -= self.drive_effort()
        return efforts

    def _torque(self, position: np.ndarray, velocity: np.ndarray,
                acceleration: np.ndarray) -> np.ndarray:
        """M y'' + n (n_joints,) of the links, straight and with motors that do not spin."""
        joints = self.model.n_joints
        self._q[:joints], self._v[:joints] = position, velocity
        self._a[:joints] = acceleration
        # The model's motors stand at zero; what its springs and their dampers add is known.
        torque: np.ndarray = (self.model.inverse_dynamics(self._q, self._v, self._a)[:joints]
                              - self._stiffness * position - self._damping * velocity)
        return torque

    def _torque_rates(self, path: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
        """First and second time derivatives (n_joints,) of M y'' + n along the Taylor polynomial
        of the motion, by central differences of fourth order."""
        y, y1, y2, y3, y4 = path
        values = []
        for e in (-2.0 * MOMENT, -MOMENT, 0.0, MOMENT, 2.0 * MOMENT):
            values.append(self._torque(
                y + e * (y1 + e / 2 * (y2 + e / 3 * (y3 + e / 4 * y4))),
                y1 + e * (y2 + e / 2 * (y3 + e / 3 * y4)),
                y2 + e * (y3 + e / 2 * y4)))
        a, b, c, d, f = values
        return ((a - f + 8.0 * (d - b)) / (12.0 * MOMENT),
                (16.0 * (b + d) - (a + f) - 30.0 * c) / (12.0 * MOMENT**2))


def _elastic_joints(model: Model) -> np.ndarray:
    """Stiffness, damping, gear ratio and motor inertia of the joints, (4, n_joints); ControlError
    if one has no spring."""
    joints = {joint.name: joint for joint in model.robot.joints}
    found = []
    for name in model.joint_names:
        joint = joints.get(name)
        if joint is None or joint.flexible is None:
            raise ControlError(f'elastic_joint: expected a spring between motor and link in every '
                               f'joint, found none in {name}; give it a <flexible_joint>, or use '
                               'computed_torque for a robot without')
        spring = joint.flexible
        found.append((spring.stiffness, spring.damping, spring.gear_ratio, spring.motor_inertia))
    return np.array(found).T
