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
"""The plots below the tabs: joints and their set-points, deflection of the tip, efforts."""
from __future__ import annotations

from itertools import cycle
from typing import Any

import numpy as np
import viser
from viser import uplot

from flex_dynamics import Model
from flex_viz.browser.history import History
from flex_viz.browser.moment import Moment
from flex_viz.shown_text import distinct, html_text, plain

# Twelve that can be told apart on white, also beside each other.
LINE_COLOURS = ('#1f77b4', '#e6550d', '#2ca02c', '#c51b8a', '#8c564b', '#17a2b8', '#7b4bd0',
                '#a68a00', '#4d4d4d', '#e41a1c', '#006d2c', '#f781bf')
HEIGHT = 200      # pixels of a plot


class Plots:
    """The last seconds of what is shown."""

    def __init__(self, gui: Any, model: Model, tip: str) -> None:
        self._m = len(model.joint_names)
        self._history = History(3 * self._m + 1, rate=10.0)
        self._set_points = False      # whether there are any
        lengths, forces = units(model)
        names = distinct(list(model.joint_names), 20)
        with gui.add_folder('Plots of the last 15 s'):
            gui.add_html(_legend(names))
            self._angles = _plot(gui, f'joint positions, {lengths}; dashed: set-points', names,
                                 [f'{name} set-point' for name in names])
            self._efforts = _plot(gui, f'joint efforts, {forces}', names)
            self._deflection = _plot(gui, f'deflection of {plain(tip, 50)}, mm', ['deflection'])

    def clear(self) -> None:
        self._history.clear()

    def add(self, moment: Moment, deflection: float) -> None:
        """Keep a moment, with the deflection of the tip in m."""
        points = moment.set_points
        self._set_points = points is not None
        row = (*moment.q[:self._m], *(np.full(self._m, np.nan) if points is None else points),
               1e3 * deflection, *moment.efforts)
        self._history.add(moment.time, np.array(row))

    def draw(self) -> None:
        rows, m = self._history.rows(), self._m
        if not len(rows):
            return
        time = rows[:, 0]
        self._angles.data = (time, *rows[:, 1:1 + 2 * m].T)
        self._deflection.data = (time, rows[:, 1 + 2 * m])
        self._efforts.data = (time, *rows[:, 2 + 2 * m:].T)


def _plot(gui: Any, title: str, labels: list[str],
          dashed: list[str] | None = None) -> viser.GuiUplotHandle:
    empty = np.zeros(1)
    series = [uplot.Series(label='time, s')]
    series += [uplot.Series(label=plain(label), stroke=colour, width=1.8)
               for label, colour in zip(labels, cycle(LINE_COLOURS))]
    series += [uplot.Series(label=plain(label), stroke=colour, width=1.0, dash=(5.0, 4.0))
               for label, colour in zip(dashed or [], cycle(LINE_COLOURS))]
    def axis(size: int) -> uplot.Axis:
        return uplot.Axis(stroke='#333333', font='12px sans-serif', size=size)

    return gui.add_uplot(
        (empty,) * len(series), tuple(series), title=plain(title),
        height=HEIGHT,
        scales={'x': uplot.Scale(time=False)},
        axes=(axis(32), axis(58)),
        legend=uplot.Legend(show=False))


def _legend(names: list[str]) -> str:
    """The colours of the joints, for all plots, as HTML."""
    marks = ''.join(
        f'<span style="white-space: nowrap; margin-right: 1em"><span style="display: inline-block;'
        f' width: 1.4em; height: 3px; vertical-align: middle; margin-right: .4em; '
        f'background: {colour}"></span>{html_text(name)}</span> '
        for name, colour in zip(names, cycle(LINE_COLOURS)))
    return f'<div style="font-size: .8rem; line-height: 1.6; padding: 0 .75rem">{marks}</div>'


def units(model: Model) -> tuple[str, str]:
    """Units of joint positions and of efforts."""
    kinds = {joint.type for joint in model.robot.joints}
    turns = bool(kinds - {'fixed', 'prismatic'})
    slides = bool(kinds & {'prismatic', 'planar', 'floating'})
    return (' or '.join(['rad'] * turns + ['m'] * slides),
            ' or '.join(['N m'] * turns + ['N'] * slides))
