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
"""The panel beside the scene: values, options, modes, plots and buttons of the simulator."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np
import viser
from viser import uplot

from flex_dynamics import Model
from flex_viz.browser.history import History
from flex_viz.browser.scene import Scene
from flex_viz.geometry.colours import COLOURINGS, rgb, value_text
from flex_viz.geometry.constraint_marks import ReactionForce
from flex_viz.geometry.coordinates import scaled
from flex_viz.geometry.modes import JOINTS, Mode, natural_modes
from flex_viz.geometry.wrench_arrows import AppliedWrench
from flex_viz.shown_text import html_text, plain

LINE_COLOURS = ('#1f77b4', '#ff7f0e', '#2ca02c', '#d62728', '#9467bd', '#8c564b', '#e377c2',
                '#7f7f7f')
AXES = {'+x': (1, 0, 0), '-x': (-1, 0, 0), '+y': (0, 1, 0), '-y': (0, -1, 0), '+z': (0, 0, 1),
        '-z': (0, 0, -1)}
LIVE = 'none: the robot as it moves'
SWING_RATE = 0.5      # Hz of the animation, independent of the frequency of the mode
TEXT_RATE, PLOT_RATE = 5.0, 2.0      # 1/s, wall time; plots are expensive for browsers


@dataclass(frozen=True)
class Actions:
    """Callbacks of the buttons, called in threads of the server; they must return at once."""

    pause: Callable[[], None]
    play: Callable[[], None]
    step: Callable[[int], None]                              # periods
    reset: Callable[[], None]
    push: Callable[[np.ndarray, float], None]                # N along the axes of the tip, s
    go: Callable[[str, float], None]                         # name of a goal, s


class Panel:
    """Fills the panel of the server; call `show` for every frame."""

    def __init__(self, server: viser.ViserServer, scene: Scene, actions: Actions | None = None,
                 goals: Mapping[str, np.ndarray] | None = None) -> None:
        self._server, self._gui, self._scene = server, server.gui, scene
        self._modes: list[Mode] = []
        self._mode_pose: np.ndarray | None = None      # the state whose modes are shown
        self._q: np.ndarray | None = None
        self._last_frame: tuple | None = None
        self._text_time = self._plot_time = -np.inf      # s of wall time, of the last update
        names = scene.model.joint_names
        self._history = History(2 * len(names) + 1, rate=10.0)
        # Beside the scene, not over it; sharing would send the page through an external server.
        self._gui.configure_theme(show_share_button=False, show_logo=False)
        self._gui.main_panel.dock_right()
        # HTML and not Markdown, which accepts raw HTML too and has no safe quoting of names.
        self._values = self._gui.add_html(_lines('waiting', 'for a state'))
        tabs = self._gui.add_tab_group()
        if actions is not None:
            with tabs.add_tab('Run'):
                self._add_buttons(actions, list(goals or {}))
        with tabs.add_tab('Picture'):
            self._add_options()
        with tabs.add_tab('Modes'):
            self._add_modes()
        self._add_plots(list(names))

    def _add_options(self) -> None:
        self._factor = self._gui.add_slider('deflection drawn times', min=0.0, max=20.0, step=0.5,
                                            initial_value=1.0)
        self._colour = self._gui.add_dropdown('colours', COLOURINGS, initial_value='strain')
        self._strength = self._gui.add_slider(
            'colours stronger, times', min=1.0, max=20.0, step=0.5, initial_value=1.0,
            hint='1: the scale ends at the largest value of the last 10 to 20 s')
        self._ghost = self._gui.add_checkbox('straight links in grey', True)
        self._path = self._gui.add_checkbox('path of the tip', True)
        if self._scene.marks.names:
            self._constraints: Any = self._gui.add_checkbox('loops, wheels, supports', True)
            self._reactions: Any = self._gui.add_checkbox('their reaction forces', True)

    def _add_buttons(self, actions: Actions, goals: list[str]) -> None:
        gui = self._gui
        callbacks = {'Pause': actions.pause, 'Play': actions.play, 'Reset': actions.reset}
        group = gui.add_button_group('simulator', tuple(callbacks))
        group.on_click(lambda event: callbacks[_one_of(callbacks, event.target.value)]())
        steps = gui.add_number('periods', 10, min=1, max=100000, step=1)
        gui.add_button('Step').on_click(
            lambda _: actions.step(int(_within(1, 100000, steps.value))))
        axis = gui.add_dropdown('tip along its', tuple(AXES), initial_value='-y')
        force = gui.add_slider('force, N', min=0.0, max=500.0, step=5.0, initial_value=50.0)
        span = gui.add_slider('for, s', min=0.01, max=2.0, step=0.01, initial_value=0.1)
        gui.add_button('Push').on_click(lambda _: actions.push(
            _within(0.0, 500.0, force.value)
            * np.array(AXES[_one_of(AXES, axis.value)], dtype=float),
            _within(0.01, 2.0, span.value)))
        if goals:
            # The page identifies an option by its text: names that are cut alike get numbers.
            alike = len(set(map(plain, goals))) < len(goals)
            names = {f'{at}: {plain(name)}' if alike else plain(name): name
                     for at, name in enumerate(goals, 1)}
            goal = gui.add_dropdown('goal pose', tuple(names))
            arrive = gui.add_slider('in, s', min=0.5, max=20.0, step=0.5, initial_value=3.0)
            gui.add_button('Go').on_click(lambda _: actions.go(
                names[_one_of(names, goal.value)], _within(0.5, 20.0, arrive.value)))
        self._answer = gui.add_html(_lines(''))

    def answer(self, text: str) -> None:
        """Show the result of a button."""
        self._answer.content = _lines(text)

    # Modes ----------------------------------------------------------------------------------

    def _add_modes(self) -> None:
        gui = self._gui
        self._joints = gui.add_dropdown('joints', JOINTS, initial_value='locked')
        gui.add_button('Modes of this pose').on_click(lambda _: self.find_modes())
        self._mode: Any = gui.add_dropdown('mode', (LIVE,), initial_value=LIVE)
        self._swing = gui.add_slider('swing, m', min=0.01, max=1.0, step=0.01, initial_value=0.2)

    def find_modes(self) -> None:
        """Find the modes at the pose that is shown, and animate the first one."""
        if self._q is None:
            return
        self._mode_pose = self._q.copy()
        self._modes = natural_modes(self._scene.model, self._mode_pose,
                            _one_of(JOINTS, self._joints.value))
        names = [f'{at}: {mode.frequency:.3g} Hz' for at, mode in enumerate(self._modes, 1)]
        self._mode.options = (LIVE, *names)
        self._mode.value = names[0] if names else LIVE

    def _chosen(self) -> Mode | None:
        number = str(self._mode.value).split(':')[0]
        if self._mode_pose is None or not number.isdecimal():
            return None
        return dict(enumerate(self._modes, 1)).get(int(number[:9]))

    # Plots ----------------------------------------------------------------------------------

    def _add_plots(self, names: list[str]) -> None:
        self._m = len(names)
        empty = np.zeros(1)
        lengths, forces = _units(self._scene.model)

        def plot(title: str, labels: list[str]) -> viser.GuiUplotHandle:
            series = (uplot.Series(label='time, s'), *(
                uplot.Series(label=plain(label), stroke=colour, width=1.5)
                for label, colour in zip(labels, cycle(LINE_COLOURS))))
            return self._gui.add_uplot(
                (empty,) * (1 + len(labels)), series, title=plain(title), aspect=2.2,
                scales={'x': uplot.Scale(time=False)}, legend=uplot.Legend(show=len(labels) > 1))

        self._legend = self._gui.add_html('')
        with self._gui.add_folder('Plots'):
            self._angles = plot(f'joints, {lengths}', names)
            self._deflection = plot(f'deflection of {plain(self._scene.tip, 50)}, mm',
                                    ['deflection'])
            self._efforts = plot(f'joint efforts, {forces}', names)

    def _draw_plots(self) -> None:
        rows = self._history.rows()
        if not len(rows):
            return
        time, joints = rows[:, 0], rows[:, 1:1 + self._m]
        self._angles.data = (time, *joints.T)
        self._deflection.data = (time, rows[:, 1 + self._m])
        self._efforts.data = (time, *rows[:, 2 + self._m:].T)

    # Pictures -------------------------------------------------------------------------------

    def deflection(self, q: np.ndarray) -> float:
        """m: distance of the tip from its position with straight links."""
        scene = self._scene
        straight = scaled(scene.model, q, 0.0)
        return float(np.linalg.norm((scene.model.pose(q, scene.tip)
                                     - scene.model.pose(straight, scene.tip))[:3, 3]))

    def show(self, wall: float, time: float, q: np.ndarray, efforts: np.ndarray,
             wrenches: Sequence[AppliedWrench] = (),
             reactions: Sequence[ReactionForce] = ()) -> None:
        """Draw a state: `wall` is the wall clock, `time` the robot's clock, s; efforts (m,)."""
        scene = self._scene
        scene.exaggeration = _within(0.0, 20.0, self._factor.value)
        scene.ghost = bool(self._ghost.value)
        scene.coloured_by = _one_of(COLOURINGS, self._colour.value)
        scene.path = bool(self._path.value)
        scene.strength = _within(1.0, 20.0, self._strength.value)
        if scene.marks.names:
            scene.constraints = bool(self._constraints.value)
            scene.reactions = bool(self._reactions.value)
        self._q = q
        mode = self._chosen()
        deflection = self.deflection(q)
        self._history.add(time, np.array((*q[:self._m], 1e3 * deflection, *efforts)))
        drawn = q
        if mode is not None and self._mode_pose is not None:
            drawn = mode.at(self._mode_pose, _within(0.01, 1.0, self._swing.value),
                            2.0 * np.pi * SWING_RATE * wall)
            scene.path, wrenches, reactions = False, (), ()
        frame = (drawn.tobytes(), scene.exaggeration, scene.ghost, scene.coloured_by,
                 scene.strength, scene.path, scene.constraints, scene.reactions,
                 [(wrench.frame, wrench.force.tobytes(), wrench.moment.tobytes())
                  for wrench in wrenches],
                 [(one.name, one.force.tobytes()) for one in reactions])
        with self._server.atomic():
            if frame != self._last_frame:       # send nothing while the robot is at rest
                self._last_frame = frame
                scene.show(time, drawn, wrenches, reactions)
            if wall - self._text_time > 1.0 / TEXT_RATE:
                self._text_time = wall
                self._show_values(time, deflection, mode)
            if wall - self._plot_time > 1.0 / PLOT_RATE:
                self._plot_time = wall
                self._draw_plots()

    def _show_values(self, time: float, deflection: float, mode: Mode | None) -> None:
        # Always two lines: the controls below must not move under the mouse.
        lines = [f'simulated time {time:.2f} s',
                 f'deflection of {plain(self._scene.tip, 50)} {1e3 * deflection:.1f} mm']
        if mode is not None:
            lines = [f'mode {self._mode.value}', f'drawn at {SWING_RATE:g} Hz']
        if self._scene.exaggeration != 1.0:
            lines[1] += f', drawn {self._scene.exaggeration:g} times'
        self._values.content = _lines(*lines)
        by = self._scene.coloured_by
        self._legend.content = '' if by == 'none' else _legend(by, self._scene.top)


def _units(model: Model) -> tuple[str, str]:
    """Units of joint positions and of efforts."""
    kinds = {joint.type for joint in model.robot.joints}
    turns = bool(kinds - {'fixed', 'prismatic'})
    slides = bool(kinds & {'prismatic', 'planar', 'floating'})
    return (' or '.join(['rad'] * turns + ['m'] * slides),
            ' or '.join(['N m'] * turns + ['N'] * slides))


def _within(low: float, high: float, value: Any) -> float:
    """A number sent by a page, limited to the range of its slider: pages are untrusted."""
    number = float(value)
    return min(max(number, low), high) if number == number else low


def _one_of(options: Iterable[str], value: Any) -> str:
    """The option sent by a page, or the first one if it is unknown."""
    return value if value in (known := list(options)) else known[0]


def _lines(*lines: str) -> str:
    """Any text as HTML."""
    return (f'<div style="font-size: .875rem; line-height: 1.55; padding: 0 .75rem .5rem">'
            f'{"<br>".join(html_text(line, 300) for line in lines)}</div>')


def _legend(by: str, top: float) -> str:
    """The colour scale as HTML."""
    low = -top if by == 'strain' else 0.0
    stops = ', '.join('rgb({:.0f} {:.0f} {:.0f})'.format(*(255.0 * colour))
                      for colour in rgb(np.linspace(low, top, 5), top, by))
    labels = ''.join(f'<span>{html_text(text)}</span>'
                     for text in (value_text(low, by), by, value_text(top, by)))
    return (f'<div style="font-size: .8em; padding: 0 1em .6em">'
            f'<div style="height: .8em; background: linear-gradient(90deg, {stops})"></div>'
            f'<div style="display: flex; justify-content: space-between">{labels}</div></div>')
