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
"""The tab Run: the simulation, pushes, poses and a payload."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from flex_viz.browser.inputs import lines_html, one_of, within
from flex_viz.browser.moment import Actions
from flex_viz.shown_text import plain

AXES = {'+x': (1, 0, 0), '-x': (-1, 0, 0), '+y': (0, 1, 0), '-y': (0, -1, 0), '+z': (0, 0, 1),
        '-z': (0, 0, -1)}
STRONGEST = 500.0      # N


class RunTab:
    """Buttons of the simulator; `live` is called by each that changes the robot."""

    def __init__(self, gui: Any, actions: Actions, goals: Mapping[str, np.ndarray], mass: float,
                 live: Callable[[], None]) -> None:
        """mass: kg, of a payload to begin with."""
        self._actions, self._live = actions, live
        simulator = {'Play': self._play, 'Pause': actions.pause, 'Reset': self._reset}
        group = gui.add_button_group('simulation', tuple(simulator))
        group.on_click(lambda event: simulator[one_of(simulator, event.target.value)]())
        steps = gui.add_number('periods of a step', 10, min=1, max=100000, step=1,
                               hint='how many control periods the button Step simulates')
        gui.add_button('Step').on_click(lambda _: self._step(steps.value))
        with gui.add_folder('Push the tip'):
            gui.add_html(lines_html('Drag the orange ball at the tip with the mouse, or:'))
            axis = gui.add_dropdown('direction', tuple(AXES), initial_value='-y',
                                    hint='an axis of the frame of the tip')
            self._force = gui.add_slider('force (N)', min=0.0, max=STRONGEST, step=1.0,
                                         initial_value=50.0,
                                         hint='of Push; the largest of dragging')
            span = gui.add_slider('duration (s)', min=0.01, max=2.0, step=0.01, initial_value=0.1)
            gui.add_button('Push').on_click(lambda _: self._push(axis.value, span.value))
        if goals:
            with gui.add_folder('Go to a pose'):
                # The page identifies an option by its text: names that are cut alike get numbers.
                alike = len(set(map(plain, goals))) < len(goals)
                names = {f'{at}: {plain(name)}' if alike else plain(name): name
                         for at, name in enumerate(goals, 1)}
                goal = gui.add_dropdown('pose', tuple(names))
                arrive = gui.add_slider('duration of the motion (s)', min=0.5, max=20.0, step=0.5,
                                        initial_value=3.0)
                gui.add_button('Go').on_click(lambda _: self._go(
                    goals, names[one_of(names, goal.value)], arrive.value))
        with gui.add_folder('Payload at the tip'):
            largest = 20.0 * mass
            self._mass = gui.add_slider('mass (kg)', min=mass / 10.0, max=largest,
                                        step=mass / 10.0, initial_value=mass)
            self._carried = gui.add_checkbox('attached', False)
            self._carried.on_update(lambda event: self._carry(event, mass / 10.0, largest))
        self._answer = gui.add_html(lines_html(''))

    @property
    def force(self) -> float:
        """N: the largest of dragging."""
        return within(0.0, STRONGEST, self._force.value)

    def answer(self, text: str) -> None:
        """Show the result of a button."""
        self._answer.content = lines_html(text)

    def release_payload(self) -> None:
        """The simulator carries none any more."""
        self._carried.value = False

    def _play(self) -> None:
        self._live()
        self._actions.play()

    def _reset(self) -> None:
        self._live()
        self.release_payload()
        self._actions.reset()

    def _step(self, steps: Any) -> None:
        self._live()
        self._actions.step(int(within(1, 100000, steps)))

    def _push(self, axis: Any, span: Any) -> None:
        self._live()
        self._actions.push(self.force * np.array(AXES[one_of(AXES, axis)], dtype=float),
                           within(0.01, 2.0, span))

    def _go(self, goals: Mapping[str, np.ndarray], name: str, span: Any) -> None:
        self._live()
        self._actions.go(goals[name], within(0.5, 20.0, span), name)

    def _carry(self, event: Any, smallest: float, largest: float) -> None:
        if event.client is None:      # set by release_payload
            return
        self._live()
        attached = bool(self._carried.value)
        self._actions.payload(within(smallest, largest, self._mass.value) if attached else 0.0)
