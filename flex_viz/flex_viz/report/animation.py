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
"""Animation of a run (GIF): deflected links in blue, straight ones in grey."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from PIL import Image

from flex_viz.geometry.bent_robot import BentRobot
from flex_viz.geometry.colours import UNIFORM
from flex_viz.geometry.coordinates import scaled
from flex_viz.report.drawing import NEAR, RobotDrawing, bounds, frame, project
from flex_viz.report.plots import exaggeration_to_see
from flex_viz.report.run import Run, millimetres
from flex_viz.shown_text import plot_text

LIGHT = np.array([0.3, -0.5, 0.81])      # direction to the light, frame of the root
COLOURS = 48                             # size of the palette


def animate(path: Path, run: Run, exaggeration: float | None = None, rate: float = 20.0,
            size: int = 420) -> None:
    """Write an animation of a run, in real time.

    Parameters
    ----------
    path : GIF file; its folder is created if it does not exist.
    run : the run.
    exaggeration : factor of the deflection as drawn, which is printed in the picture; None: such
        that the deflection is visible.
    rate : frames a second.
    size : width and height, pixels.

    Example
    -------
    animate(Path('run.gif'), read_run(Path('bag')), exaggeration=4.0)
    """
    moments = run.at(np.arange(run.time[0], run.time[-1] + 0.5 / rate, 1.0 / rate))
    if exaggeration is None:
        exaggeration = exaggeration_to_see(run, run.time[moments[::4]].tolist())
    robot, drawing = BentRobot(run.model), RobotDrawing(run.model)
    low, high, floor = bounds([drawing.at(run.q[at], factor) for at in moments[::4]
                               for factor in (0.0, exaggeration)])
    pictures = []
    for at in moments:
        figure = Figure(figsize=(4.2, 4.2), dpi=size / 4.2)
        canvas: Any = FigureCanvasAgg(figure)
        axis = figure.add_axes((0.0, 0.08, 1.0, 0.86))      # text above and below
        frame(axis, low, high, floor)
        drawing.draw(axis, drawing.at(run.q[at], exaggeration), drawing.at(run.q[at], 0.0),
                     beams=False)
        _draw_skins(axis, robot, scaled(run.model, run.q[at], exaggeration))
        caption = f'deflection of {plot_text(run.tool, 30)} {millimetres(run.deflection[at])}'
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


def _draw_skins(axis: Any, robot: BentRobot, q: np.ndarray) -> None:
    """Draw the surfaces of the flexible links at q (n,), those further away first."""
    faces = [vertices[robot.skins[name].faces] for name, vertices in robot.at(q).vertices.items()]
    if not faces:
        return
    corners = np.concatenate(faces)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    order = np.argsort(corners.mean(axis=1) @ NEAR)
    order = order[normals[order] @ NEAR > 0.0]      # the others are behind these
    light = 0.8 + 0.2 * np.clip(normals[order] @ LIGHT, -1.0, 1.0)
    colours = UNIFORM * light[:, None]
    axis.add_collection(PolyCollection(list(project(corners[order])), facecolors=colours,
                                       edgecolors=colours, linewidths=0.3, zorder=5))
