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
"""The tab Modes: the natural modes of the pose that is shown, animated."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from flex_dynamics import Model
from flex_viz.browser.inputs import one_of, within
from flex_viz.geometry.modes import JOINTS, Mode, natural_modes

LIVE = 'none: the robot as it moves'
SWING_RATE = 0.5      # Hz of the animation, independent of the frequency of the mode
LARGEST, USUAL = 30.0, 5.0      # % of the reach


class ModesTab:
    """Finds modes, and says which state shows the one that is chosen."""

    def __init__(self, gui: Any, model: Model, reach: float,
                 q: Callable[[], np.ndarray | None]) -> None:
        """q: the state that is shown, (n,)."""
        self._model, self._reach, self._q = model, reach, q
        self._modes: list[Mode] = []
        self._pose: np.ndarray | None = None      # the state whose modes are shown
        self.joints = gui.add_dropdown('joints', JOINTS, initial_value='locked',
                                       hint='locked, as by brakes, or free to move')
        gui.add_button('Modes of this pose').on_click(lambda _: self.find())
        self.mode: Any = gui.add_dropdown('mode', (LIVE,), initial_value=LIVE)
        self.swing = gui.add_slider(
            'amplitude (% of reach)', min=0.5, max=LARGEST, step=0.5, initial_value=USUAL,
            hint='of the point that moves most, in percent of the length of the stretched robot')

    def find(self) -> None:
        """Find the modes at the pose that is shown, and animate the first one."""
        q = self._q()
        if q is None:
            return
        modes = natural_modes(self._model, q, one_of(JOINTS, self.joints.value))
        names = [f'{at}: {mode.frequency:.3g} Hz' for at, mode in enumerate(modes, 1)]
        self._modes, self._pose = modes, q.copy()
        self.mode.options = (LIVE, *names)
        self.mode.value = names[0] if names else LIVE

    def end(self) -> None:
        """Back to the robot."""
        if self.mode.value != LIVE:
            self.mode.value = LIVE

    @property
    def name(self) -> str:
        """Number and frequency of the mode that is shown; empty: none."""
        return '' if self._chosen() is None else f'mode {self.mode.value}'

    def _chosen(self) -> Mode | None:
        number = str(self.mode.value).split(':')[0]
        if self._pose is None or not number.isdecimal():
            return None
        return dict(enumerate(self._modes, 1)).get(int(number[:9]))

    def at(self, wall: float) -> np.ndarray | None:
        """The state (n,) that shows the mode at `wall` s of the wall clock; None: no mode."""
        mode, pose = self._chosen(), self._pose
        if mode is None or pose is None:
            return None
        swing = 0.01 * within(0.5, LARGEST, self.swing.value) * self._reach
        return mode.at(pose, swing, 2.0 * np.pi * SWING_RATE * wall)
