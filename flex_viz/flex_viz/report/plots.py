"""Pictures of a run: time plots, strips of poses, and one sheet with everything."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from flex_dynamics import Model
from flex_viz.geometry.coordinates import flexible_links
from flex_viz.geometry.outline import outline
from flex_viz.report.run import Run, scale, table
from flex_viz.shown_text import legend_text, no_formulas, plain, plot_text

LINK, BEAM, GHOST = '#4d4f53', '#1f6fc4', '#c4c4c4'
ELEVATION, AZIMUTH = 18.0, -62.0      # deg
SHOWN = 1.68      # half edges of the axes' cube from the middle to the border, measured


def save(figure: Figure, path: Path) -> None:
    """Write a PNG file."""
    FigureCanvasAgg(figure)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def plot_time(path: Path, run: Run) -> None:
    """Plot joints with their set-points, deflection of the tool and joint efforts over time."""
    figure = Figure(figsize=(8.0, 7.5), dpi=110, layout='constrained')
    _time(figure, run)
    save(figure, path)


def _time(figure: Any, run: Run) -> None:
    axes = figure.subplots(3, 1, sharex=True)
    factors, units = scale(run)
    for column, name in enumerate(run.joints):
        factor = factors[column]
        line, = axes[0].plot(run.time, factor * run.q[:, column], label=legend_text(name))
        if run.set_points is not None:
            axes[0].plot(run.time, factor * run.set_points[:, column], '--', lw=0.8,
                         color=line.get_color())
        if run.efforts is not None:
            axes[2].plot(run.time, run.efforts[:, column], lw=1.0)
    lengths, forces = (' or '.join(sorted({unit.split(', ')[part] for unit in units}))
                       for part in (0, 1))
    axes[0].set_ylabel(f'joints (set-points dashed), {lengths}')
    if len(run.joints) > 1:
        axes[0].legend(ncols=min(len(run.joints), 6), fontsize=8)
    axes[1].plot(run.time, 1e3 * run.deflection, color=BEAM)
    axes[1].set_ylabel(f'deflection of {plot_text(run.tool, 30)}, mm')
    axes[2].set_ylabel(f'joint efforts, {forces}')
    axes[2].set_xlabel('simulated time, s')
    for axis in axes:
        axis.grid(alpha=0.3)


def plot_poses(path: Path, model: Model, times: Sequence[float], states: Sequence[np.ndarray],
               factors: Sequence[float] = (1.0,)) -> None:
    """Strips of poses, one for each factor of the deflection, straight links in grey."""
    figure = Figure(figsize=(2.2 * len(times), 2.6 * len(factors)), dpi=100)
    for strip, factor in zip(_divided(figure, len(factors)), factors):
        _poses(strip, model, times, states, factor)
    save(figure, path)


def _divided(figure: Any, count: int) -> Any:
    return np.ravel(figure.subfigures(count, 1))


def _poses(figure: Any, model: Model, times: Sequence[float], states: Sequence[np.ndarray],
           factor: float) -> None:
    figure.subplots_adjust(0.0, 0.0, 1.0, 0.84, 0.0, 0.0)
    shown = [outline(model, q, factor) for q in states]
    straight = [outline(model, q, 0.0) for q in states]
    points = np.concatenate([line for lines in (*shown, *straight) for line in lines.values()])
    middle, half = view(points)
    beams = set(flexible_links(model))
    for at, time in enumerate(times):
        axis = figure.add_subplot(1, len(times), at + 1, projection='3d')
        for name, line in straight[at].items():
            if name in beams:
                axis.plot(*line.T, color=GHOST, lw=2.0)
        for name, line in shown[at].items():
            axis.plot(*line.T, color=BEAM if name in beams else LINK, lw=3.0,
                      solid_capstyle='round')
        frame(axis, middle, half)
        axis.set_title(f'{time:.2f} s', fontsize=10)
    how = 'as it is' if factor == 1.0 else f'drawn {factor:g} times as large'
    figure.suptitle(f'{plot_text(model.robot.name, 50)}: deflection {how}, straight links in grey',
                    fontsize=10, y=0.99)


def view(points: np.ndarray) -> tuple[np.ndarray, float]:
    """Centre (3,) and half width, m, of the projection of points (k, 3) on the screen."""
    elevation, azimuth = np.radians(ELEVATION), np.radians(AZIMUTH)
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    up = np.array([-np.sin(elevation) * np.cos(azimuth), -np.sin(elevation) * np.sin(azimuth),
                   np.cos(elevation)])
    screen = points @ np.column_stack((right, up))
    low, high = screen.min(axis=0), screen.max(axis=0)
    middle = points.mean(axis=0)
    middle += np.column_stack((right, up)) @ ((low + high) / 2.0 - middle @ np.column_stack(
        (right, up)))
    return middle, max(float((high - low).max()) / 2.0, 1e-6)


def frame(axis: Any, middle: np.ndarray, half: float) -> None:
    """Set the view to `middle` (3,) and `half` m to every side, with a floor."""
    edge = 1.06 * half / SHOWN
    for name, centre in zip('xyz', middle):
        getattr(axis, f'set_{name}lim')(centre - edge, centre + edge)
    floor = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]) * half + middle[:2]
    axis.plot(*floor.T, zs=0.0, color=GHOST, lw=0.8, zorder=-1)
    axis.set_axis_off()
    axis.set_proj_type('ortho')
    axis.set_box_aspect((1, 1, 1))
    axis.view_init(elev=ELEVATION, azim=AZIMUTH)


def plot_sheet(path: Path, run: Run, moments: Sequence[float], exaggeration: float) -> None:
    """One picture: table, poses with true and exaggerated deflection, time plots."""
    figure = Figure(figsize=(11.0, 14.0), dpi=90)
    parts: Any = figure.subfigures(4, 1, height_ratios=(2.0, 2.3, 2.3, 7.0))
    summary, true, larger, plots = parts
    summary.text(0.05, 0.92, no_formulas(f'{plain(run.model.robot.name)}\n\n{table(run)}'),
                 family='monospace', fontsize=8, va='top')
    at = run.at(moments)
    _poses(true, run.model, run.time[at], run.q[at], 1.0)
    _poses(larger, run.model, run.time[at], run.q[at], exaggeration)
    plots.subplots_adjust(0.08, 0.07, 0.98, 0.98, hspace=0.12)
    _time(plots, run)
    save(figure, path)
