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
"""The tab Control: which controller and shaper run, and with which gains."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flex_viz.browser.inputs import lines_html, one_of, within
from flex_viz.browser.moment import ControlSettings
from flex_viz.shown_text import plain

LONGEST = 500      # characters of a gain


class ControlTab:
    """Shows the settings that the control node tells, and asks for others.

    select: called with the name of a parameter of the control node and a text.
    """

    def __init__(self, gui: Any, select: Callable[[str, str], None]) -> None:
        self._gui, self._select = gui, select
        self._known: ControlSettings | None = None
        self._message = gui.add_html(lines_html('No control node has answered yet.'))
        self._controller = gui.add_dropdown('controller', ('none',), visible=False)
        self._controller.on_update(lambda event: self._chosen(
            event, 'controller', self._controller, lambda known: known.controllers))
        self._shaper = gui.add_dropdown('input shaper', ('none',), visible=False,
                                        hint='shapes new motions so that they leave no vibration')
        self._shaper.on_update(lambda event: self._chosen(
            event, 'shaper', self._shaper, lambda known: known.shapers))
        self._modes = gui.add_slider('modes that it shapes', min=1, max=4, step=1,
                                     initial_value=2, visible=False)
        self._modes.on_update(self._modes_changed)
        self._folder = gui.add_folder('Gains', visible=False)
        self._fields: list[Any] = []

    def show(self, known: ControlSettings) -> None:
        """Show the settings, and the result that is told with them."""
        if known == self._known:
            return
        before, self._known = self._known, known
        self._message.content = lines_html('A change is a bumpless transfer.')
        for handle, options, value in (
                (self._controller, known.controllers, known.controller),
                (self._shaper, known.shapers, known.shaper)):
            handle.options = tuple(map(plain, options))
            handle.value, handle.visible = plain(value), True
        self._modes.value, self._modes.visible = known.shaper_modes, True
        names = [gain.name for gain in known.gains]
        if before is None or before.controller != known.controller or names != [
                gain.name for gain in before.gains]:
            self._renew(known)
        for handle, gain in zip(self._fields, known.gains, strict=True):
            handle.value = plain(gain.text, LONGEST)
        self._folder.visible = bool(known.gains)

    def _renew(self, known: ControlSettings) -> None:
        for handle in self._fields:
            handle.remove()
        with self._folder:
            self._fields = [self._gui.add_text(plain(gain.name), '', hint=plain(gain.hint, 300))
                            for gain in known.gains]
        for handle, gain in zip(self._fields, known.gains, strict=True):
            handle.on_update(lambda event, handle=handle, name=gain.name: self._gain(
                event, f'{known.controller}.{name}', handle))

    def _chosen(self, event: Any, name: str, handle: Any,
                options: Callable[[ControlSettings], tuple[str, ...]]) -> None:
        if event.client is None or self._known is None:
            return
        by_text = {plain(option): option for option in options(self._known)}
        self._select(name, by_text[one_of(by_text, handle.value)])

    def _modes_changed(self, event: Any) -> None:
        if event.client is not None and self._known is not None:
            self._select('shaper_modes', f'{within(1, 4, self._modes.value):.0f}')

    def _gain(self, event: Any, name: str, handle: Any) -> None:
        if event.client is not None:
            self._select(name, str(handle.value)[:LONGEST])
