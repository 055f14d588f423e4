"""Pictures of a run: time plots, and a strip of poses with the deflection to be seen."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from flex_dynamics import Model
from flex_viz.outline import outline

LINK, BEAM, GHOST = '#4d4f53', '#1f6fc4', '#c4c4c4'


def _save(figure: Figure, path: Path) -> None:
    FigureCanvasAgg(figure)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def plot_time(path: Path, time: np.ndarray, joints: np.ndarray, set_points: np.ndarray,
              deflection: np.ndarray, efforts: np.ndarray, names: Sequence[str]) -> None:
    """Joints (k, m) rad and their set-points, tip deflection (k,) m, efforts (k, m) over time."""
    figure = Figure(figsize=(8.0, 7.5), dpi=110, layout='constrained')
    axes = figure.subplots(3, 1, sharex=True)
    for column, name in enumerate(names):
        line, = axes[0].plot(time, np.degrees(joints[:, column]), label=name)
        axes[0].plot(time, np.degrees(set_points[:, column]), '--', lw=0.8, color=line.get_color())
        axes[2].plot(time, efforts[:, column], label=name, lw=1.0)
    axes[0].set_ylabel('joints (set-points dashed), deg')
    axes[0].legend(ncols=len(names), fontsize=8)
    axes[1].plot(time, 1e3 * deflection, color=BEAM)
    axes[1].set_ylabel('deflection of the tip, mm')
    axes[2].set_ylabel('joint efforts, N m')
    axes[2].set_xlabel('simulated time, s')
    for axis in axes:
        axis.grid(alpha=0.3)
    _save(figure, path)


def plot_poses(path: Path, model: Model, times: Sequence[float], states: Sequence[np.ndarray],
               exaggeration: float) -> None:
    """A strip of poses: bent links in colour, with the same joints and straight links in grey."""
    figure = Figure(figsize=(2.2 * len(times), 2.9), dpi=100)
    figure.subplots_adjust(0.0, 0.0, 1.0, 0.86, 0.0, 0.0)
    shown = [outline(model, q, exaggeration) for q in states]
    straight = [outline(model, q, 0.0) for q in states]
    points = np.concatenate([line for lines in (*shown, *straight) for line in lines.values()])
    middle = (points.max(axis=0) + points.min(axis=0)) / 2.0
    half = np.ptp(points, axis=0).max() / 2.0
    beams = {link.name for link in model.robot.links if link.flexible is not None}
    for at, time in enumerate(times):
        axis = figure.add_subplot(1, len(times), at + 1, projection='3d')
        for name, line in straight[at].items():
            if name in beams:
                axis.plot(*line.T, color=GHOST, lw=2.0)
        for name, line in shown[at].items():
            axis.plot(*line.T, color=BEAM if name in beams else LINK, lw=3.0,
                      solid_capstyle='round')
        _frame(axis, middle, half)
        axis.set_title(f'{time:.2f} s', fontsize=10)
    figure.suptitle(f'{model.robot.name}: deflection drawn {exaggeration:g} times as large, '
                    'straight links in grey', fontsize=10, y=0.99)
    _save(figure, path)


def _frame(axis: Any, middle: np.ndarray, half: float) -> None:
    for name, centre in zip('xyz', middle):
        getattr(axis, f'set_{name}lim')(centre - half, centre + half)
    x, y = middle[:2]
    floor = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]) * half + (x, y)
    axis.plot(*floor.T, zs=0.0, color=GHOST, lw=0.8)
    axis.set_axis_off()
    axis.set_box_aspect((1, 1, 1), zoom=1.5)
    axis.view_init(elev=18, azim=-62)
