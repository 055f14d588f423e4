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
"""Pictures of a run: time plots, strips of poses, and one sheet with everything."""
from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from flex_dynamics import Model
from flex_viz.report.drawing import BEAM, RobotDrawing, bounds, frame
from flex_viz.report.run import Run, scale, table
from flex_viz.shown_text import distinct, legend_text, no_formulas, plain, plot_text

WIDTH, DPI = 11.0, 100        # inches, pixels an inch
IN_A_ROW = 6                  # poses; half of it for robots that are drawn flatter than FLAT
FLAT = 0.7                    # height by width
TIME_HEIGHT, TITLE_HEIGHT = 0.22, 0.28      # inches, above each pose and above a strip
VISIBLE = 0.15                # largest deflection as drawn, share of the robot's size
LARGEST_FACTOR = 1e4          # of the deflection; more would show rounding errors
LEGEND_NAME = 36              # characters of a joint's name in a legend
COLUMNS = 150                 # characters of a line of the table in the sheet


def exaggeration_to_see(run: Run, moments: Sequence[float]) -> float:
    """The factor of the deflection, 1, 2, 5, 10, 20 ..., with which it is visible in poses at
    these times (s), and at the time of the largest deflection of the tool.

    The largest deflection is then drawn as 6 to 15 % of the robot's size. The factor is at least
    1, and at most 10 000.
    """
    shown = run.q[[*run.at(moments), int(run.deflection.argmax())]]
    drawing = RobotDrawing(run.model)
    deflection = drawing.deflection(list(shown))
    low, high, _ = bounds([drawing.at(q, 0.0) for q in shown])
    wanted = VISIBLE * float((high - low).max()) / max(deflection, 1e-300)
    if deflection == 0.0 or wanted < 2.0:
        return 1.0
    wanted = min(wanted, LARGEST_FACTOR)
    power = 10.0 ** np.floor(np.log10(wanted) + 1e-9)
    return float(power * max(step for step in (1.0, 2.0, 5.0) if step * power <= wanted * 1.001))


def plot_time(path: Path, run: Run) -> None:
    """Plot joints with their set-points, deflection of the tool and joint efforts over time."""
    _save(path, time_figure(run))


def _save(path: Path, *figures: Figure) -> None:
    """Write figures of the same width, one below the other, to a PNG file."""
    pictures = [_pixels(figure) for figure in figures]
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.concatenate(pictures)).save(path)


def _pixels(figure: Figure) -> np.ndarray:
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def time_figure(run: Run) -> Figure:
    """Joints, deflection and efforts over time, with one legend outside the axes."""
    names = distinct(run.joints, LEGEND_NAME)
    columns = max(1, min(len(names), 6, int(200 / (max(map(len, names), default=0) + 8))))
    lines = -(-len(names) // columns) if len(names) > 1 else 0
    figure = Figure(figsize=(WIDTH, 7.2 + 0.19 * lines), dpi=DPI, layout='constrained')
    axes = figure.subplots(3, 1, sharex=True)
    factors, lengths, forces = scale(run)
    handles = []
    for column, colour in enumerate(_colours(len(names))):
        factor = factors[column]
        line, = axes[0].plot(run.time, factor * run.q[:, column], color=colour)
        handles.append(line)
        if run.set_points is not None:
            axes[0].plot(run.time, factor * run.set_points[:, column], '--', lw=0.8, color=colour)
        if run.efforts is not None:
            axes[2].plot(run.time, run.efforts[:, column], lw=1.0, color=colour)
    dashed = '' if run.set_points is None else ' (set-points dashed)'
    axes[1].plot(run.time, 1e3 * run.deflection, color=BEAM)
    units = ' or '.join(sorted(set(lengths))), 'mm', ' or '.join(sorted(set(forces)))
    titles = (f'joint positions{dashed}', f'deflection of {plot_text(run.tool, 60)}',
              'joint efforts' if run.efforts is not None else 'joint efforts: not recorded')
    for axis, title, unit in zip(axes, titles, units):
        axis.set_title(f'{title}, {unit}', loc='left', fontsize=10)
        axis.set_ylabel(unit)
        axis.grid(alpha=0.3)
    axes[2].set_xlabel('simulated time, s')
    if len(names) > 1:      # outside the axes: it covers no line however many joints there are
        figure.legend(handles, [legend_text(name) for name in names], fontsize=8,
                      loc='outside upper center', ncols=columns, frameon=False)
    return figure


def _colours(count: int) -> np.ndarray:
    """Red, green, blue, opacity (count, 4), as different as `count` allows."""
    if count <= 20:
        return matplotlib.colormaps['tab10' if count <= 10 else 'tab20'](np.arange(count))
    return matplotlib.colormaps['turbo'](np.linspace(0.03, 0.97, count))


def plot_poses(path: Path, model: Model, times: Sequence[float], states: Sequence[np.ndarray],
               factors: Sequence[float] = (1.0,)) -> None:
    """Strips of poses, one for each different factor of the deflection, straight links in grey."""
    _save(path, *pose_figures(model, times, states, factors))


def pose_figures(model: Model, times: Sequence[float], states: Sequence[np.ndarray],
                 factors: Sequence[float]) -> list[Figure]:
    """One strip for each different factor of the deflection: the robot at each of the times (s),
    all to the same scale."""
    drawing = RobotDrawing(model)
    straight = [drawing.at(q, 0.0) for q in states]
    figures = []
    for factor in dict.fromkeys(factors):
        shown = [drawing.at(q, factor) for q in states]
        low, high, floor = bounds([*shown, *straight])
        shape = float(np.clip((high[1] - low[1]) / (high[0] - low[0]), 0.3, 1.4))
        columns = min(len(times), IN_A_ROW if shape > FLAT else IN_A_ROW // 2)
        rows = -(-len(times) // columns)
        picture = min(WIDTH / columns * shape, 4.0)
        row_height = picture + TIME_HEIGHT
        whole = rows * row_height + TITLE_HEIGHT
        figure = Figure(figsize=(WIDTH, whole), dpi=DPI)
        for at, time in enumerate(times):
            row, column = divmod(at, columns)
            axis = figure.add_axes((column / columns, (rows - 1 - row) * row_height / whole,
                                    1.0 / columns, picture / whole))
            frame(axis, low, high, floor)
            drawing.draw(axis, shown[at], straight[at])
            axis.set_title(f'{time:.2f} s', fontsize=9, pad=2.0)
        figure.text(0.5, 1.0 - 0.08 / whole, f'{plot_text(model.robot.name, 50)}: '
                    f'{_how(model, factor)}', fontsize=10, ha='center', va='top')
        figures.append(figure)
    return figures


def _how(model: Model, factor: float) -> str:
    """The title of a strip: what is drawn of the deflection."""
    if not len(model.coordinates.links):
        return 'no flexible links'
    shown = 'true deflection' if factor == 1.0 else f'deflection drawn {factor:g} times as large'
    return f'{shown}, straight links in grey'


def plot_sheet(path: Path, run: Run, moments: Sequence[float], exaggeration: float) -> None:
    """One picture: table, poses with true and exaggerated deflection, time plots."""
    at = run.at(moments)
    _save(path, _text_figure(run), *pose_figures(run.model, run.time[at], run.q[at],
                                           (1.0, exaggeration)), time_figure(run))


def _text_figure(run: Run) -> Figure:
    lines = [plain(run.model.robot.name), '']
    for line in table(run).splitlines():
        lines += textwrap.wrap(line, COLUMNS, subsequent_indent='  ') if len(line) > COLUMNS else [
            line]
    figure = Figure(figsize=(WIDTH, 0.131 * len(lines) + 0.3), dpi=DPI)
    figure.text(0.03, 1.0 - 0.2 / figure.get_figheight(), no_formulas('\n'.join(lines)),
                family='monospace', fontsize=8, va='top', linespacing=1.15)
    return figure
