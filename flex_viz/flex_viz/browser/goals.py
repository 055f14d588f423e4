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
"""Goal poses, and point-to-point trajectories to them."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flex_description import default_pose
from flex_dynamics import DynamicsError, Model
from flex_viz.shown_text import plain

POINT_RATE = 50.0      # 1/s: smooth also for a controller that does not interpolate


def point_to_point(start: np.ndarray, goal: np.ndarray, span: float) -> tuple[np.ndarray, ...]:
    """Times (k,) s and positions, velocities, accelerations (k, m) from `start` (m,) to `goal`
    (m,) in `span` s, at rest at both ends: a polynomial of fifth degree."""
    count = max(2, round(POINT_RATE * span))
    times = span * np.arange(1, count + 1) / count
    s = (times / span)[:, None]
    distance = goal - start
    return (times, start + distance * s**3 * (10.0 - 15.0 * s + 6.0 * s**2),
            distance / span * 30.0 * s**2 * (1.0 - s)**2,
            distance / span**2 * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s))


def read_goals(model: Model, texts: Sequence[str]) -> dict[str, np.ndarray]:
    """Parse `NAME: numbers`, one number a joint (rad or m); by default one goal: all joints at
    zero, or in the middle of their range where their limits exclude zero."""
    goals: dict[str, np.ndarray] = {}
    for text in texts:
        name, found, numbers = text.partition(':')
        try:
            values = np.array(numbers.replace(',', ' ').split(), dtype=float)
        except ValueError:
            values = np.zeros(0)
        name = name.strip()
        if not (name and found and values.shape == (model.n_joints,)
                and np.isfinite(values).all()):
            raise DynamicsError(f'goals: expected NAME: and {model.n_joints} numbers, one a joint '
                                f'of {plain(model.robot.name)}, found {plain(text)!r}')
        goals[name] = values
    if goals:
        return goals
    usual = np.array(list(default_pose(model.robot).values()))
    return {'zero or mid-range' if usual.any() else 'all joints at zero': usual}
