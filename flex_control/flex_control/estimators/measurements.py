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
