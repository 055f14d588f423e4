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
"""Planned motions as files: a goal for an action, and parameters of the control node."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from flex_identification.design.fourier_motion import FourierMotion

NANO = 10**9
DIGITS = 9


def goal(names: tuple[str, ...], motion: FourierMotion) -> dict[str, Any]:
    """The goal of control_msgs/action/FollowJointTrajectory."""
    points = []
    for time, *state in zip(*motion.points(), strict=True):
        stamp = round(float(time) * NANO)
        positions, velocities, accelerations = ([round(float(one), DIGITS) for one in part]
                                                for part in state)
        points.append({'positions': positions, 'velocities': velocities,
                       'accelerations': accelerations,
                       'time_from_start': {'sec': stamp // NANO, 'nanosec': stamp % NANO}})
    return {'trajectory': {'joint_names': list(names), 'points': points}}


def control_parameters(motion: FourierMotion) -> dict[str, Any]:
    """Parameters with which the control node runs the motion from time zero on."""
    time, positions, *_ = motion.points()
    return {'/**/control': {'ros__parameters': {
        'trajectory.times': [round(float(one), DIGITS) for one in time],
        'trajectory.positions': [round(float(one), DIGITS) for one in positions.ravel()]}},
        '/**/simulator': {'ros__parameters': {
            'start.positions': [float(one) for one in motion.start]}}}


def write(stem: str, names: tuple[str, ...], motion: FourierMotion) -> list[Path]:
    """Write STEM.goal.yaml and STEM.params.yaml; their paths."""
    found = []
    for kind, content in (('goal', goal(names, motion)), ('params', control_parameters(motion))):
        path = Path(f'{stem}.{kind}.yaml')
        path.write_text(yaml.safe_dump(content, default_flow_style=None, sort_keys=False,
                                       width=10_000), encoding='utf-8')
        found.append(path)
    return found
