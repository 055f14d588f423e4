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
"""What strain gauges and inertial sensors on a robot read, without noise (sensor_noise.py has it).
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flex_description.math import quaternion_from_rotation
from flex_dynamics import checks
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.kernels.base import layout
from flex_dynamics.model.model import MODEL_ADVICE, Model


class ImuReading(NamedTuple):
    """One reading, in the axes of the sensor's frame as the deflected section carries it."""

    gyro: Array            # (3,) rad/s
    acceleration: Array    # (3,) m/s2, specific force: 9.81 upwards at rest on the earth
    orientation: Array     # (4,) unit quaternion x, y, z, w of the frame in the world


class Sensors:
    """Readings of all gauges and IMUs of a robot at a state.

    gauge_names: `link/gauge`, link by link; imu_names: in the robot's order, imu_frames where
    each one sits.
    """

    def __init__(self, model: Model) -> None:
        checks.instance(model, 'model', Model, MODEL_ADVICE)
        self.model = model
        self.gauge_names: list[str] = []
        rows = []
        for node, fields in model.assembly.packed.fields.items():
            start = model.assembly.packed.table[node, layout.ELASTIC]
            for gauge in fields.flexible.gauges:
                # Axial strain of a fibre at (y, z): -v'' y - w'' z, with the linear curvature
                # that the beam's strain energy has too.
                curvature = fields.rotation_first(np.array([gauge.x]), 1)[0]
                row = np.zeros(model.n)
                row[start:start + fields.n_modes] = (gauge.z * curvature[1]
                                                     - gauge.y * curvature[2])
                rows.append(row)
                self.gauge_names.append(f'{fields.flexible.link}/{gauge.name}')
        self._strain = np.array(rows).reshape(-1, model.n)
        self._strain.setflags(write=False)
        self.imu_names = [imu.name for imu in model.robot.imus]
        self.imu_frames = [imu.frame for imu in model.robot.imus]

    def strain(self, q: ArrayLike) -> Array:
        """Axial strains (n_gauges,), m/m, positive in tension."""
        return self._strain @ checks.position(self.model, q)

    def strain_matrix(self, q: ArrayLike | None = None) -> Array:
        """d strain / d q (n_gauges, n), constant and read-only: q may be left out."""
        if q is not None:
            checks.position(self.model, q)
        return self._strain

    def imu(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> list[ImuReading]:
        """What each IMU reads at positions q, speeds v and accelerations a, each (n,)."""
        q, v = checks.state(self.model, q, v)
        a = self.model.finite_vector(a, 'a', self.model.n)
        return [self._read(frame, q, v, a) for frame in self.imu_frames]

    def _read(self, frame: str, q: Array, v: Array, a: Array) -> ImuReading:
        pose, jacobian, rate = self.model.frame_motion(q, v, frame)
        rotation = pose[:3, :3]
        linear = jacobian[:3] @ a + rate[:3] @ v - self.model.assembly.gravity
        return ImuReading(rotation.T @ (jacobian[3:] @ v), rotation.T @ linear,
                          np.array(quaternion_from_rotation(rotation)))
