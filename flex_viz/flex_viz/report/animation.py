"""Animation of a run (GIF): deflected links in blue, straight ones in grey."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection
from PIL import Image

from flex_viz.geometry.bent_robot import BentRobot
from flex_viz.geometry.colours import UNIFORM
from flex_viz.geometry.coordinates import scaled
from flex_viz.geometry.outline import outline
from flex_viz.report.plots import GHOST, LINK, frame, view
from flex_viz.report.run import Run
from flex_viz.shown_text import plot_text

LIGHT = np.array([0.3, -0.5, 0.81])      # direction to the light, frame of the root
COLOURS = 48                             # size of the palette


def animate(path: Path, run: Run, exaggeration: float = 1.0, rate: float = 20.0,
            size: int = 420) -> None:
    """Write an animation of a run, in real time.

    Parameters
    ----------
    path : GIF file; its folder is created if it does not exist.
    run : the run.
    exaggeration : factor of the deflection as drawn; printed in the picture.
    rate : frames a second.
    size : width and height, pixels.

    Example
    -------
    animate(Path('run.gif'), read_run(Path('bag')), exaggeration=4.0)
    """
    moments = run.at(np.arange(run.time[0], run.time[-1] + 0.5 / rate, 1.0 / rate))
    robot = BentRobot(run.model)
    lines = [line for at in moments[::4] for line in outline(run.model, run.q[at],
                                                             exaggeration).values()]
    middle, half = view(np.concatenate(lines))
    pictures = []
    for at in moments:
        figure = Figure(figsize=(4.2, 4.2), dpi=size / 4.2)
        canvas: Any = FigureCanvasAgg(figure)
        axis = figure.add_axes((0.0, 0.0, 1.0, 1.0), projection='3d')
        frame(axis, middle, 1.12 * half)      # room for the text
        _draw(axis, robot, run.q[at], exaggeration)
        caption = f'deflection of {plot_text(run.tool, 30)} {1e3 * run.deflection[at]:5.1f} mm'
        if exaggeration != 1.0:
            caption += f', drawn {exaggeration:g} times as large'
        figure.text(0.03, 0.95, f'{run.time[at]:.2f} s', fontsize=10)
        figure.text(0.03, 0.03, caption, fontsize=9)
        canvas.draw()
        pictures.append(Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3]))
    # One palette for all frames: changing colours would flicker.
    samples = range(0, len(pictures), len(pictures) // 6 + 1)
    sheet = Image.new('RGB', (size, len(samples) * size))
    for row, at in enumerate(samples):
        sheet.paste(pictures[at], (0, row * size))
    palette = sheet.quantize(COLOURS)
    frames = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    path.parent.mkdir(parents=True, exist_ok=True)
    frames[0].save(path, save_all=True, append_images=frames[1:], loop=0,
                   duration=round(1e3 / rate), optimize=True)


def _draw(axis: Any, robot: BentRobot, q: np.ndarray, exaggeration: float) -> None:
    bent = robot.at(scaled(robot.model, q, exaggeration))
    straight = outline(robot.model, q, 0.0)
    rigid = [line for name, line in outline(robot.model, q, exaggeration).items()
             if name not in robot.skins]
    for lines, colour, width in (([straight[name] for name in robot.skins], GHOST, 2.0),
                                 (rigid, LINK, 4.0)):
        if lines:      # matplotlib raises an error for an empty collection
            axis.add_collection3d(Line3DCollection(lines, colors=colour, linewidths=width,
                                                   capstyle='round'))
    for name, skin in robot.skins.items():
        corners = bent.vertices[name][skin.faces]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
        light = 0.8 + 0.2 * np.clip(normals @ LIGHT, -1.0, 1.0)
        axis.add_collection3d(Poly3DCollection(corners, facecolors=UNIFORM * light[:, None],
                                               edgecolors='none', linewidths=0.0))
