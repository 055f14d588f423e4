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
"""The panel beside the scene: what is shown, tabs, and plots."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import viser

from flex_viz.browser.handle import Handle
from flex_viz.browser.inputs import factor_text, lines_html, scale_html
from flex_viz.browser.moment import Actions, ControlSettings, Moment
from flex_viz.browser.pacing import SLOW, Pacing
from flex_viz.browser.plots import Plots
from flex_viz.browser.scene import Scene
from flex_viz.browser.snapshot import Camera
from flex_viz.browser.tabs.control_tab import ControlTab
from flex_viz.browser.tabs.joints_tab import JointsTab
from flex_viz.browser.tabs.modes_tab import SWING_RATE, ModesTab
from flex_viz.browser.tabs.picture_tab import PictureTab
from flex_viz.browser.tabs.recording_tab import RecordingTab
from flex_viz.browser.tabs.run_tab import RunTab
from flex_viz.geometry.colours import rounded_up
from flex_viz.geometry.constraint_marks import ReactionForce
from flex_viz.geometry.coordinates import scaled
from flex_viz.geometry.exaggeration import AutomaticExaggeration
from flex_viz.geometry.wrench_arrows import AppliedWrench
from flex_viz.report.run import Run
from flex_viz.shown_text import plain

TEXT_RATE, PLOT_RATE = 5.0, 2.0      # 1/s, wall time; plots are expensive for browsers
SLOWER = 3.0                         # by which both are divided for a slow browser
ALARM = '#c01818'
PAYLOAD = 0.05                       # of the robot's mass, to begin with


class Panel:
    """Fills the panel of the server; call `show` for every frame.

    recording: a run that can be played, and its name. mass: of the robot, kg. slow: s that a
    browser may take for a frame until there is no more shadow, and less text.
    """

    def __init__(self, server: viser.ViserServer, scene: Scene, actions: Actions | None = None,
                 goals: Mapping[str, np.ndarray] | None = None, mass: float = 1.0,
                 recording: tuple[Run, str] | None = None, slow: float = SLOW) -> None:
        self._server, self._gui, self._scene = server, server.gui, scene
        self._live: Moment | None = None
        self._q: np.ndarray | None = None
        self._slow, self._simple = slow, False      # and whether less is drawn
        self._source = ''                    # what is shown: the robot, a mode, a recording
        self._last_frame: tuple | None = None
        self._text_time = self._plot_time = -np.inf      # s of wall time, of the last update
        self._auto = AutomaticExaggeration(scene.robot.reach())
        self.pacing = Pacing(server)
        gui = self._gui
        # Beside the scene, not over it; sharing would send the page through an external server.
        gui.configure_theme(show_share_button=False, show_logo=False, control_width='large')
        gui.main_panel.dock_right()
        # HTML and not Markdown, which accepts raw HTML too and has no safe quoting of names.
        self._alarm = gui.add_html('', visible=False)
        self._values = gui.add_html(lines_html('waiting', 'for a state'))
        self._legend = gui.add_html('')
        self._back = gui.add_button('Back to the robot', visible=False)
        self._back.on_click(lambda _: self.back_to_robot())
        self._run_tab: RunTab | None = None
        self._joints_tab: JointsTab | None = None
        self._control_tab: ControlTab | None = None
        self._recording_tab: RecordingTab | None = None
        self._handle: Handle | None = None
        tabs = gui.add_tab_group()
        if actions is not None:
            with tabs.add_tab('Run'):
                self._run_tab = RunTab(gui, actions, goals or {},
                                       rounded_up(PAYLOAD * max(mass, 1e-6)), self.back_to_robot)
            with tabs.add_tab('Joints'):
                self._joints_tab = JointsTab(gui, scene.model, self._moved(actions))
            with tabs.add_tab('Control'):
                self._control_tab = ControlTab(gui, actions.select)
            self._handle = Handle(server.scene, scene.robot.reach(), actions.pull,
                                  self._run_tab, self.back_to_robot)
        if recording is not None:
            with tabs.add_tab('Recording'):
                self._recording_tab = RecordingTab(gui, *recording, shown=True)
        with tabs.add_tab('Picture'):
            self.picture = PictureTab(gui, scene, Camera(self._caption))
        with tabs.add_tab('Modes'):
            self.modes = ModesTab(gui, scene.model, scene.robot.reach(), lambda: self._q)
        self._plots = Plots(gui, scene.model, scene.tip)

    def _moved(self, actions: Actions) -> Callable[[np.ndarray, float], None]:
        def move(pose: np.ndarray, span: float) -> None:
            self.back_to_robot()
            actions.go(pose, span, 'the sliders')
        return move

    def back_to_robot(self) -> None:
        """Show the robot of the moment, not a mode or a recording; without one the recording."""
        self.modes.end()
        if self._recording_tab is not None and self._live is not None:
            self._recording_tab.end()

    def answer(self, text: str) -> None:
        """Show the result of a button."""
        if self._run_tab is not None:
            self._run_tab.answer(text)

    def release_payload(self) -> None:
        if self._run_tab is not None:
            self._run_tab.release_payload()

    def show_settings(self, settings: ControlSettings) -> None:
        """Show what the control node runs with."""
        if self._control_tab is not None:
            self._control_tab.show(settings)

    def reset_history(self) -> None:
        """Time was set back: forget what belongs to the time before."""
        self._scene.reset_history()
        self._auto.reset()

    # Pictures -------------------------------------------------------------------------------

    def deflection(self, q: np.ndarray) -> float:
        """m: distance of the tip from its position with straight links."""
        scene = self._scene
        straight = scaled(scene.model, q, 0.0)
        return float(np.linalg.norm((scene.model.pose(q, scene.tip)
                                     - scene.model.pose(straight, scene.tip))[:3, 3]))

    def show(self, wall: float, live: Moment | None, wrenches: Sequence[AppliedWrench] = (),
             reactions: Sequence[ReactionForce] = ()) -> bool:
        """Draw the robot as it is, or a mode or a recording if one is chosen; `wall`: s of the
        wall clock. False: the browsers have not drawn the last frame yet, or there is nothing."""
        self._live = live
        recorded = self._recording_tab.at(wall) if self._recording_tab is not None else None
        moment = recorded or live
        if moment is None:
            return False
        swung = self.modes.at(wall)
        self._switch('mode' if swung is not None else 'recording' if recorded else 'robot')
        away = swung is not None or (recorded is not None and live is not None)
        if self._back.visible != away:
            self._back.visible = away
        deflection = self.deflection(moment.q)
        self._plots.add(moment, deflection)
        if not self.pacing.ready():
            return False
        self._q = moment.q
        # Not back and forth: less is drawn until the answers are much faster.
        slow = self._simple = self.pacing.delay > self._slow / (3.0 if self._simple else 1.0)
        scene = self._scene
        self.picture.apply(shadow=not slow)
        scene.exaggeration = self._factor(wall, moment, swung is not None)
        drawn = moment.q
        if swung is not None:
            drawn, scene.path, wrenches, reactions = swung, False, (), ()
        elif recorded is not None:
            wrenches, reactions = (), ()
        with self._server.atomic():
            changed = self._draw(moment.time, drawn, wrenches, reactions)
            relief = SLOWER if slow else 1.0
            if wall - self._text_time > relief / TEXT_RATE:
                self._text_time = wall
                self._show_values(moment, deflection)
            if wall - self._plot_time > relief / PLOT_RATE:
                self._plot_time = wall
                self._plots.draw()
        if self._joints_tab is not None and live is not None:
            self._joints_tab.follow(wall, live.q)
        if changed:
            self._server.flush()
            self.pacing.sent()
        return changed

    def _draw(self, time: float, drawn: np.ndarray, wrenches: Sequence[AppliedWrench],
              reactions: Sequence[ReactionForce]) -> bool:
        """Draw if anything is new: nothing is sent while the robot is at rest."""
        scene = self._scene
        frame = (drawn.tobytes(), scene.exaggeration, scene.ghost, scene.coloured_by,
                 scene.strength, scene.path, scene.constraints, scene.reactions, scene.shadow,
                 [(wrench.frame, wrench.force.tobytes(), wrench.moment.tobytes())
                  for wrench in wrenches],
                 [(one.name, one.force.tobytes()) for one in reactions])
        if frame == self._last_frame:
            return False
        self._last_frame = frame
        scene.show(time, drawn, wrenches, reactions)
        if self._handle is not None:
            self._handle.place(scene.tip_place(drawn), self._source == 'robot')
        return True

    def _switch(self, source: str) -> None:
        """What is shown may have changed."""
        if source == self._source:
            return
        if 'recording' in (source, self._source):
            self._plots.clear()
        self._source = source
        self.reset_history()

    def _factor(self, wall: float, moment: Moment, swinging: bool) -> float:
        given = self.picture.given
        if given is not None:
            return given
        if swinging:
            return 1.0      # the amplitude of a mode is large already
        largest = self._scene.robot.largest_deflection(moment.q)
        factor = self._auto.factor(wall, moment.time, largest)
        shown = float(f'{factor:.3g}')
        if self.picture.factor.value != shown:
            self.picture.factor.value = shown
        return factor

    def _show_values(self, moment: Moment, deflection: float) -> None:
        # Always two lines: the controls below must not move under the mouse.
        scene = self._scene
        how = factor_text(scene.exaggeration)
        if name := self.modes.name:
            lines = [name, f'animated at {SWING_RATE:g} Hz, deflection {how}']
        else:
            what = 'recording' if self._source == 'recording' else 'simulated'
            lines = [f'{what} time {moment.time:.2f} s',
                     f'deflection of {plain(scene.tip, 50)} {1e3 * deflection:.3g} mm, {how}']
        self._values.content = lines_html(*lines)
        by = scene.coloured_by
        self._legend.content = '' if by == 'none' else scale_html(by, scene.top)
        alarms = self._live.alarms if self._live is not None else ()
        self._alarm.visible = bool(alarms)
        if alarms:
            self._alarm.content = lines_html(*alarms, colour=ALARM)

    def _caption(self) -> tuple[list[str], str, float]:
        """For pictures as files."""
        scene, name = self._scene, self.modes.name
        lines = [plain(scene.model.robot.name, 60) + (f', {name}' if name else ''),
                 f'deflection {factor_text(scene.exaggeration)}']
        return lines, scene.coloured_by if scene.robot.skins else 'none', scene.top
