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
"""The models and gains of a Kalman filter, sample by sample, as compiled loops take them."""
from __future__ import annotations

import numpy as np

from flex_control.controllers.lqg import LQG
from flex_control.estimators.filter_model import FilterModel
from flex_control.estimators.measurements import Measurements
from flex_dynamics.simulation.batch.observer import ObserverSchedule


class FilterTable:
    """What the filter of an lqg does while the controller runs along its own reference."""

    def __init__(self, controller: LQG, samples: int) -> None:
        self._estimator = estimator = controller.estimator
        n, sensors = controller.model.n, estimator.sensors
        estimator.rehearses = True
        readings = (2 * controller.model.n_joints + len(sensors.gauge_names)
                    + 6 * len(sensors.imu_frames))
        self._gain = np.zeros((samples, 2 * n + 3, readings))
        self._which = np.full(samples, -1, dtype=np.int64)
        self._models: list[FilterModel] = []

    def readings(self, q: np.ndarray, v: np.ndarray) -> Measurements:
        """That there are readings of all sensors; only joint positions are read, once."""
        sensors, joints = self._estimator.sensors, self._estimator.model.n_joints
        none = np.zeros((len(sensors.imu_frames), 3))
        return Measurements(q[:joints], v[:joints], np.zeros(len(sensors.gauge_names)), none, none)

    def take(self, sample: int, q: np.ndarray, v: np.ndarray) -> None:
        """Note what the last update did; the estimate goes on from the reference q, v (n,)."""
        estimator = self._estimator
        if not estimator.begun:
            return
        if not self._models or self._models[-1] is not estimator.linear_model:
            self._models.append(estimator.linear_model)
        self._which[sample] = len(self._models) - 1
        self._gain[sample] = estimator.last_gain()
        estimator.set_state(q, v)

    def schedule(self) -> ObserverSchedule:
        estimator, made = self._estimator, self._models
        estimator.rehearses = False
        n, joints = estimator.model.n, estimator.model.n_joints

        def stacked(name: str, *shape: int) -> np.ndarray:
            return np.array([getattr(one, name) for one in made]).reshape(len(made), *shape)

        scaled = np.eye(2 * n)
        return ObserverSchedule(
            estimator.model, stacked('F', 2 * n + 3, 2 * n + 3), stacked('held', 2 * n, n),
            stacked('by_effort', n, joints), stacked('inverse', n, n), stacked('slope_q', n, n),
            stacked('slope_v', n, n), stacked('by_push', n, 3), stacked('follow', n, joints),
            np.array([one.rest.q for one in made]).reshape(-1, n),
            made[0].to_scaled if made else scaled, made[0].from_scaled if made else scaled,
            estimator.drive_stiffness, estimator.drive_damping, self._gain, self._which)
