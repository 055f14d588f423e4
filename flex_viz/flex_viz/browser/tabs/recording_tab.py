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
"""The tab Recording: a run from a bag, with a slider for its time."""
from __future__ import annotations

from typing import Any

import numpy as np

from flex_viz.browser.inputs import lines_html, one_of, within
from flex_viz.browser.moment import Moment
from flex_viz.report.run import Run
from flex_viz.shown_text import plain

SPEEDS = ('0.1', '0.25', '0.5', '1', '2', '5', '10')
TOLD = 0.2      # s between two updates of the slider


class RecordingTab:
    """Plays a run; while it is `shown`, the robot of the moment is not."""

    def __init__(self, gui: Any, run: Run, name: str, shown: bool) -> None:
        self._run = run
        self._span = float(run.time[-1] - run.time[0])
        self._at, self._told = 0.0, -np.inf
        self._wall: float | None = None
        self.shown, self._playing = shown, shown
        gui.add_html(lines_html(f'recording {plain(name)}, {self._span:.4g} s'))
        buttons = {'Play': self._play, 'Pause': self._pause, 'To the start': self._start}
        group = gui.add_button_group('recording', tuple(buttons))
        group.on_click(lambda event: buttons[one_of(buttons, event.target.value)]())
        self.slider = gui.add_slider('time (s)', min=0.0, max=max(self._span, 1e-3),
                                     step=max(self._span / 1000.0, 1e-3), initial_value=0.0)
        self.slider.on_update(self._moved)
        self._speed = gui.add_dropdown('speed', SPEEDS, initial_value='1')

    def _play(self) -> None:
        if self._at >= self._span:
            self._at = 0.0
        self.shown = self._playing = True

    def _pause(self) -> None:
        self._playing = False

    def _start(self) -> None:
        self._at, self.shown = 0.0, True

    def _moved(self, event: Any) -> None:
        if event.client is not None:
            self._at = within(0.0, self._span, self.slider.value)
            self.shown, self._playing = True, False

    def end(self) -> None:
        """Back to the robot."""
        self.shown = self._playing = False

    def at(self, wall: float) -> Moment | None:
        """What the recording shows at `wall` s of the wall clock; None: nothing."""
        passed, self._wall = (0.0 if self._wall is None else wall - self._wall), wall
        if not self.shown:
            return None
        if self._playing:
            speed = float(one_of(SPEEDS, self._speed.value))
            self._at = min(self._at + speed * max(passed, 0.0), self._span)
            self._playing = self._at < self._span
        if wall - self._told > TOLD:
            self._told = wall
            if abs(within(0.0, self._span, self.slider.value) - self._at) > 1e-3 * self._span:
                self.slider.value = self._at
        run = self._run
        k = int(np.searchsorted(run.time - run.time[0], self._at + 1e-9, side='right')) - 1
        k = min(max(k, 0), len(run.time) - 1)
        efforts = np.zeros(run.model.n_joints) if run.efforts is None else run.efforts[k]
        points = None if run.set_points is None else run.set_points[k]
        return Moment(float(run.time[k]), run.q[k], efforts, points)
