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
"""The tab Joints: a slider for each joint that has a motor."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from flex_dynamics import Model
from flex_viz.browser.inputs import within
from flex_viz.shown_text import distinct

QUICK = 0.5             # share of the largest speed of a joint that a slider asks for
SPEED = 1.0             # rad/s or m/s where the robot states none
SHORTEST = 0.8          # s of a motion
TOUCHED = 3.0           # s that a slider stays where the user has put it
FOLLOW = 0.5            # s between two looks at where the robot is
PEAK, BEND = 1.875, 5.774      # of a motion of fifth degree: speed and acceleration, of 1 in 1 s


class JointsTab:
    """Sliders that follow the robot, and move it when a user moves them."""

    def __init__(self, gui: Any, model: Model, move: Callable[[np.ndarray, float], None]) -> None:
        self._move, self._m = move, model.n_joints
        joints = {joint.name: joint for joint in model.robot.joints}
        self._places: list[int] = []
        self._ranges: list[tuple[float, float]] = []
        self._speeds: list[float] = []
        self._bends: list[float] = []
        for place, name in enumerate(model.joint_names):
            joint = joints.get(name)
            if joint is None or joint.mimic is not None or joint.passive or joint.type not in (
                    'revolute', 'continuous', 'prismatic'):
                continue
            limits, free = joint.limits, np.pi if joint.type != 'prismatic' else 1.0
            low, high = float(limits.lower), float(limits.upper)
            if not (np.isfinite(low) and np.isfinite(high) and low < high):
                low, high = -free, free
            self._places.append(place)
            self._ranges.append((max(low, -2.0 * np.pi), min(high, 2.0 * np.pi))
                                if joint.type != 'prismatic' else (low, high))
            self._speeds.append(_or(limits.velocity, SPEED))
            self._bends.append(_or(min(limits.acceleration, limits.deceleration), np.inf))
        self._q: np.ndarray | None = None
        self._target: np.ndarray | None = None
        self._touched = self._followed = -np.inf
        names = distinct([model.joint_names[place] for place in self._places], 24)
        self._sliders = [gui.add_slider(
            f'{name} ({"m" if joints[model.joint_names[place]].type == "prismatic" else "rad"})',
            min=low, max=high, step=max(1e-6, (high - low) / 500.0),
            initial_value=min(max(0.0, low), high))
            for name, place, (low, high) in zip(names, self._places, self._ranges, strict=True)]
        for at, slider in enumerate(self._sliders):
            slider.on_update(lambda event, at=at: self._changed(event, at))

    def follow(self, wall: float, q: np.ndarray) -> None:
        """The robot is at q (n,)."""
        self._q = q
        if wall - self._followed < FOLLOW or wall - self._touched < TOUCHED:
            return
        self._followed, self._target = wall, None
        for slider, place, (low, high) in zip(self._sliders, self._places, self._ranges,
                                              strict=True):
            value = within(low, high, q[place])
            if abs(value - within(low, high, slider.value)) > 0.002 * (high - low):
                slider.value = value

    def _changed(self, event: Any, at: int) -> None:
        if event.client is None or self._q is None:      # the robot moved it
            return
        if self._target is None:
            self._target = self._q[:self._m].copy()
        low, high = self._ranges[at]
        self._target[self._places[at]] = within(low, high, self._sliders[at].value)
        way = np.abs(self._target - self._q[:self._m])[self._places]
        times = np.maximum(PEAK * way / (QUICK * np.array(self._speeds)),
                           np.sqrt(BEND * way / np.array(self._bends)) * 1.1)
        self._touched = time.monotonic()
        self._move(self._target, max(SHORTEST, float(times.max())))


def _or(limit: Any, default: float) -> float:
    """A positive finite limit, or the default."""
    return float(limit) if limit is not None and 0.0 < limit < np.inf else default
