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
"""Outputs of a run: one number each, of a trial or of the robot at a pose."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flex_control import TrialResult
from flex_dynamics import Model

BAND = 1e-3       # m, in which a tip has settled


def _vibration(trial: TrialResult, end: float) -> float:
    """Largest distance of the tip from its mean place in the last second, at most from `end` on.
    """
    last = float(trial.time[-1])
    return trial.vibration(max(end, last - 1.0), last)


def _settling_time(trial: TrialResult, end: float) -> float:
    return trial.settling_time(end, BAND)


def _joint_error(trial: TrialResult, end: float) -> float:
    return float(np.abs(trial.joint_error()).max())


def _final_joint_error(trial: TrialResult, end: float) -> float:
    return float(np.abs(trial.joint_error()[-1]).max())


def _overshoot(trial: TrialResult, end: float) -> float:
    """Largest distance of the tip, from `end` on, from where it is at last."""
    after = trial.tip[trial.between(end, float(trial.time[-1]))]
    return float(np.linalg.norm(after - trial.tip[-1], axis=1).max())


def _largest_effort(trial: TrialResult, end: float) -> float:
    return float(np.abs(trial.effort).max())


def _first_frequency(model: Model, joints: np.ndarray) -> float:
    """Lowest natural frequency with the joints locked, Hz, at the equilibrium of a pose."""
    rates = model.frequencies(model.statics(joints)[0], 'locked')[0]
    return float(rates[0]) / (2.0 * np.pi)


def _tip_sag(model: Model, joints: np.ndarray) -> float:
    """How far gravity moves the tip at a pose, m."""
    bent = model.statics(joints)[0]
    straight = np.zeros(model.n)
    straight[:model.n_joints] = joints
    tip = model.robot.frames[-1].name if model.robot.frames else model.robot.links[-1].name
    return float(np.linalg.norm(model.pose(bent, tip)[:3, 3] - model.pose(straight, tip)[:3, 3]))


Moving = Callable[[TrialResult, float], float]
Still = Callable[[Model, np.ndarray], float]
MOVING: dict[str, tuple[Moving, str]] = {
    'vibration': (_vibration, 'm'), 'settling_time': (_settling_time, 's'),
    'joint_error': (_joint_error, 'rad'), 'final_joint_error': (_final_joint_error, 'rad'),
    'overshoot': (_overshoot, 'm'), 'largest_effort': (_largest_effort, 'N m')}
STATIC: dict[str, tuple[Still, str]] = {
    'first_frequency': (_first_frequency, 'Hz'), 'tip_sag': (_tip_sag, 'm')}
MEASURES = {**{name: unit for name, (_, unit) in MOVING.items()},
            **{name: unit for name, (_, unit) in STATIC.items()}}
