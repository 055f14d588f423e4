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
"""The tab Picture: how the robot is drawn, from where, and pictures of it as files."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flex_viz.browser.inputs import lines_html, one_of, within
from flex_viz.browser.scene import Scene
from flex_viz.browser.snapshot import LONGEST_FILM, Camera
from flex_viz.browser.stage import VIEWS
from flex_viz.geometry.colours import COLOURINGS

LARGEST = 1000.0
COLOURS = dict(zip(('strain', 'deflection', 'one colour'), COLOURINGS, strict=True))


class PictureTab:
    """Options of the scene; `apply` sets them before a frame."""

    def __init__(self, gui: Any, scene: Scene, camera: Camera) -> None:
        self._scene = scene
        views = gui.add_button_group('view from', tuple(VIEWS))
        views.on_click(self._look)
        self.automatic = gui.add_checkbox(
            'choose how large deflection is drawn', True,
            hint='so that bending is visible; the factor is shown above')
        self.factor = gui.add_number('deflection drawn, times', 1.0, min=0.0, max=LARGEST,
                                     step=0.5, hint='1: as it is; 0: straight links')
        self.factor.on_update(self._fixed)
        self.colour = gui.add_dropdown('colours show', tuple(COLOURS), initial_value='strain')
        self.strength = gui.add_slider(
            'stronger colours, times', min=1.0, max=20.0, step=0.5, initial_value=1.0,
            hint='1: the scale ends at the largest value of the last 10 to 20 s')
        self.ghost = gui.add_checkbox('undeflected links in grey', True)
        self.path = gui.add_checkbox('path of the tip', True)
        self.shadow = gui.add_checkbox('shadow', True)
        self.marks: tuple[Any, ...] = ()
        if scene.marks.names:
            self.marks = (gui.add_checkbox('loops, wheels, supports', True),
                          gui.add_checkbox('their reaction forces', True))
        with gui.add_folder('Files'):
            gui.add_button('Save picture', hint='PNG, to the downloads of this browser').on_click(
                lambda event: self._save(camera.picture, event))
            span = gui.add_slider('length of the film (s)', min=1.0, max=LONGEST_FILM, step=0.5,
                                  initial_value=4.0)
            gui.add_button('Save film', hint='GIF, to the downloads of this browser').on_click(
                lambda event: self._save(lambda client: camera.film(
                    client, within(1.0, LONGEST_FILM, span.value)), event))
            self._answer = gui.add_html(lines_html(''))

    def _look(self, event: Any) -> None:
        if event.client is not None:
            self._scene.stage.look(event.client, one_of(VIEWS, event.target.value))

    def _fixed(self, event: Any) -> None:
        if event.client is not None:
            self.automatic.value = False

    def _save(self, make: Callable[[Any], str], event: Any) -> None:
        if event.client is not None:
            self._answer.content = lines_html('at work')
            self._answer.content = lines_html(make(event.client))

    def apply(self, shadow: bool) -> None:
        """Set the options of the scene; `shadow`: whether there is time for one."""
        scene = self._scene
        scene.ghost, scene.path = bool(self.ghost.value), bool(self.path.value)
        scene.coloured_by = COLOURS[one_of(COLOURS, self.colour.value)]
        scene.strength = within(1.0, 20.0, self.strength.value)
        scene.shadow = bool(self.shadow.value) and shadow
        if self.marks:
            scene.constraints, scene.reactions = (bool(mark.value) for mark in self.marks)

    @property
    def given(self) -> float | None:
        """The factor of the deflection that a user has given; None: it is chosen."""
        return None if self.automatic.value else within(0.0, LARGEST, self.factor.value)
