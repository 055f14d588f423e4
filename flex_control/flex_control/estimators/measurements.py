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
"""Sensor readings of a robot at one instant."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Measurements:
    """Readings since the last update; None where a sensor is missing or has no new reading.

    joint_position, joint_velocity (n_joints,): encoders, rad and rad/s (prismatic: m, m/s).
    strain (n_gauges,): gauges in the order of `flex_dynamics.Sensors.gauge_names`.
    gyro (n_imus, 3) rad/s and acceleration (n_imus, 3) m/s2 (specific force: +g upwards at rest),
    in each sensor's own axes, in the order of `Sensors.imu_names`.
    """

    joint_position: np.ndarray | None = None
    joint_velocity: np.ndarray | None = None
    strain: np.ndarray | None = None
    gyro: np.ndarray | None = None
    acceleration: np.ndarray | None = None
