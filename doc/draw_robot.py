"""A shaded picture of a bent robot, without a screen or a browser: flexible links coloured by
strain, the others in the colours of their visuals."""
from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from PIL import Image

from flex_description.visuals.shapes import visual_corners
from flex_dynamics import Model
from flex_viz.geometry.bent_robot import BentRobot
from flex_viz.geometry.colours import rgb
from flex_viz.geometry.coordinates import scaled

LIGHT = np.array([0.3, -0.55, 0.78])
EYE = np.array([0.5, -0.8, 0.33]) / np.linalg.norm([0.5, -0.8, 0.33])
RIGHT = np.cross(-EYE, [0.0, 0.0, 1.0]) / np.linalg.norm(np.cross(-EYE, [0.0, 0.0, 1.0]))
SIGHT = np.vstack((RIGHT, np.cross(RIGHT, -EYE)))      # (2, 3): right and up in the picture
FLOOR, LINE, SHADOW = '#f3f4f6', '#d9dce1', '#d5d8de'


class RobotPicture:
    """Draws states of one robot; `strain` is the end of the colour scale."""

    def __init__(self, model: Model, strain: float) -> None:
        self.model, self.strain, self.robot = model, strain, BentRobot(model)
        self._rigid = [(link, visual.pose, visual_corners(visual, model.robot).reshape(-1, 3, 3),
                        np.array(visual.colour[:3], dtype=float))
                       for link, visuals in self.robot.visuals.items() for visual in visuals]

    def triangles(self, q: np.ndarray, exaggeration: float) -> tuple[np.ndarray, np.ndarray]:
        """Corners (t, 3, 3) m and colours (t, 3) of all surfaces, deflection exaggerated."""
        shape = self.robot.at(scaled(self.model, q, exaggeration))
        values = self.robot.values(q, 'strain')
        corners, colours = [], []
        for name, skin in self.robot.skins.items():
            corners.append(shape.vertices[name][skin.faces])
            colours.append(rgb(values[name][skin.faces].mean(axis=1), self.strain, 'strain'))
        for link, pose, local, colour in self._rigid:
            place = shape.poses[link] @ pose
            corners.append(local @ place[:3, :3].T + place[:3, 3])
            colours.append(np.broadcast_to(colour, (len(local), 3)))
        return np.concatenate(corners), np.concatenate([one[:, :3] for one in colours])

    def draw(self, q: np.ndarray, exaggeration: float, caption: str, centre: np.ndarray,
             half: float, size: int = 440) -> Image.Image:
        """The robot at q (n,) within `half` metres of `centre` (3,), as the picture shows it."""
        made = Figure(figsize=(size / 100.0, size / 100.0), dpi=100)
        canvas: Any = FigureCanvasAgg(made)
        axes = made.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        middle = SIGHT @ centre
        span = np.array([-half, half])
        axes.set(xlim=middle[0] + span, ylim=middle[1] + span)
        corners, colours = self.triangles(q, exaggeration)
        self._draw_floor(axes, corners, half)
        made.text(0.03, 0.03, caption, fontsize=9, color='#333333')
        canvas.draw()
        picture = np.asarray(canvas.buffer_rgba())[..., :3] / 255.0
        # Twice as large, then halved: smooth edges.
        fine = picture.repeat(2, axis=0).repeat(2, axis=1)
        scale = size / half
        flat = (corners @ SIGHT.T - middle) * (scale, -scale) + size
        _rasterise(fine, flat, corners @ EYE, _shaded(corners, colours))
        smooth = fine.reshape(size, 2, size, 2, 3).mean(axis=(1, 3))
        return Image.fromarray(np.rint(255.0 * smooth).astype(np.uint8))

    @staticmethod
    def _draw_floor(axes: Any, corners: np.ndarray, half: float) -> None:
        edge = np.linspace(-1.0, 1.0, 9) * half * 0.9
        for at in edge:
            for ends in (((at, edge[0], 0.0), (at, edge[-1], 0.0)),
                         ((edge[0], at, 0.0), (edge[-1], at, 0.0))):
                axes.plot(*(np.array(ends) @ SIGHT.T).T, color=LINE, linewidth=0.6, zorder=1)
        # The shadow of a light that is far away.
        shadow = corners - corners[..., 2:3] * (LIGHT / LIGHT[2])
        axes.add_collection(PolyCollection(list(shadow @ SIGHT.T), facecolors=SHADOW,
                                           edgecolors=SHADOW, linewidths=0.4, zorder=2))


def _shaded(corners: np.ndarray, colours: np.ndarray) -> np.ndarray:
    """Colours (t, 3) of triangles (t, 3, 3) in the light, whichever side is seen."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-15)
    normals *= np.where(normals @ EYE < 0.0, -1.0, 1.0)[:, None]
    light = 0.55 + 0.45 * np.clip(normals @ LIGHT, 0.0, 1.0)
    lit: np.ndarray = np.clip(colours * light[:, None], 0.0, 1.0)
    return lit


def _rasterise(picture: np.ndarray, flat: np.ndarray, depth: np.ndarray,
               colours: np.ndarray) -> None:
    """Draw triangles into picture (h, w, 3), the nearer one before the other at every pixel.

    flat (t, 3, 2): corners in pixels, right and down; depth (t, 3): larger is nearer.
    """
    height, width = picture.shape[:2]
    nearest = np.full((height, width), -np.inf)
    for corners, depths, colour in zip(flat, depth, colours, strict=True):
        low = np.maximum(np.floor(corners.min(axis=0)).astype(int), 0)
        high = np.minimum(np.ceil(corners.max(axis=0)).astype(int) + 1, (width, height))
        (ax, ay), (bx, by), (cx, cy) = corners
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if (high <= low).any() or abs(area) < 1e-9:
            continue
        x = np.arange(low[0], high[0]) + 0.5
        y = np.arange(low[1], high[1])[:, None] + 0.5
        second = ((x - ax) * (cy - ay) - (y - ay) * (cx - ax)) / area
        third = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / area
        at = depths[0] + second * (depths[1] - depths[0]) + third * (depths[2] - depths[0])
        place = (slice(low[1], high[1]), slice(low[0], high[0]))
        seen = (second >= 0.0) & (third >= 0.0) & (second + third <= 1.0) & (at > nearest[place])
        nearest[place][seen] = at[seen]
        picture[place][seen] = colour


def write_gif(path: Any, pictures: list[Image.Image], period: float, colours: int = 96) -> None:
    """Pictures, `period` s each, with one palette, so that colours do not flicker."""
    step = len(pictures) // 6 + 1
    sheet = Image.new('RGB', (pictures[0].width, pictures[0].height * len(pictures[::step])))
    for row, picture in enumerate(pictures[::step]):
        sheet.paste(picture, (0, row * picture.height))
    palette = sheet.quantize(colours)
    frames = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    frames[0].save(path, save_all=True, append_images=frames[1:], loop=0,
                   duration=round(1e3 * period), optimize=True)
