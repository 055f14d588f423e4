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
"""A ball at the tip of the robot that can be dragged with the mouse, as if by a spring."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

SIZE = 0.016           # radius of the ball, share of the reach
FULL = 0.25            # share of the reach that the mouse is dragged for the full force
COLOUR = (240, 140, 20)
PATIENCE = 1.0         # s without news of the mouse after which it is let go
FARTHEST = 1e6         # m; a page may send anything


class Strength(Protocol):
    """What tells the largest force, N."""

    @property
    def force(self) -> float: ...


class Handle:
    """The ball; `pull` is called with the force (3,) N, along the axes of the root, while it is
    dragged, and with zeros when it is let go."""

    def __init__(self, scene: Any, reach: float, pull: Callable[[np.ndarray], None],
                 strength: Strength, live: Callable[[], None]) -> None:
        self._reach, self._pull, self._strength, self._live = reach, pull, strength, live
        self._ball = scene.add_icosphere('/handle', radius=SIZE * reach, color=COLOUR,
                                         subdivisions=2, cast_shadow=False, visible=False)
        self._ball.on_drag(self._dragged)

    def place(self, position: np.ndarray, visible: bool) -> None:
        """Show it at `position` (3,), m."""
        self._ball.position = position
        if self._ball.visible != visible:
            self._ball.visible = visible

    def _dragged(self, event: Any) -> None:
        if event.phase == 'end':
            self._pull(np.zeros(3))
            return
        if event.phase == 'start':
            self._live()
        try:
            way = np.array(event.end_position, dtype=float) - np.array(event.start_position,
                                                                      dtype=float)
        except (TypeError, ValueError):
            return
        if way.shape != (3,) or not (np.abs(way) <= FARTHEST).all():
            return
        share = way / (FULL * self._reach)
        share /= max(float(np.linalg.norm(share)), 1.0)
        self._pull(self._strength.force * share)


class Pull:
    """The force of a drag, kept until the mouse is let go or nothing is heard of it."""

    def __init__(self) -> None:
        self._force, self._heard = np.zeros(3), -np.inf

    def set(self, force: np.ndarray) -> None:
        self._force, self._heard = force, time.monotonic()

    def current(self) -> np.ndarray | None:
        """The force (3,) N along the axes of the root; None: none."""
        if time.monotonic() - self._heard > PATIENCE or not self._force.any():
            return None
        return self._force
