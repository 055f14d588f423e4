"""A marker as RViz knows it (visualization_msgs/Marker), in numpy and without ROS."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from flex_viz.shown_text import marker_text

# visualization_msgs/Marker: type and action.
ARROW, CUBE, SPHERE, CYLINDER, LINE_STRIP, LINE_LIST = 0, 1, 2, 3, 4, 5
SPHERE_LIST, TEXT, MESH, TRIANGLES = 7, 9, 10, 11
ADD, DELETE, DELETE_ALL = 0, 2, 3

NO_POINTS, NO_COLOURS = np.zeros((0, 3)), np.zeros((0, 4))
for _constant in (NO_POINTS, NO_COLOURS):
    _constant.setflags(write=False)


@dataclass(frozen=True)
class Marker:
    """One marker; (ns, id) names it, and the next of that name takes its place."""

    ns: str
    id: int
    type: int = CUBE
    action: int = ADD
    position: Sequence[float] = (0.0, 0.0, 0.0)                      # m in the frame
    turn: Sequence[float] = (0.0, 0.0, 0.0, 1.0)                     # quaternion x, y, z, w
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)              # m
    colour: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    points: np.ndarray = field(default_factory=lambda: NO_POINTS)      # (k, 3) m
    colours: np.ndarray = field(default_factory=lambda: NO_COLOURS)    # (k, 4) or none
    text: str = ''
    mesh: str = ''


def words(ns: str, id: int, text: str, place: Sequence[float], height: float,
          colour: tuple[float, float, float, float]) -> Marker:
    """A text that faces the viewer, its middle at `place` (3,), m; height in m.

    A space is as wide as scale.x says, or 1.3 m.
    """
    return Marker(ns, id, TEXT, position=place, scale=(0.55 * height, 0.0, height), colour=colour,
                  text=marker_text(text))


def quaternion(pose: np.ndarray) -> tuple[float, float, float, float]:
    """x, y, z, w of the rotation of a pose (4, 4), in plain Python: one at a time, numpy is slow.
    """
    (a, b, c), (d, e, f), (g, h, i) = pose[:3, :3].tolist()
    # Each component squared, times four; the largest is the safe one to divide by.
    squares = (1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i, 1.0 + a + e + i)
    best = max(range(4), key=squares.__getitem__)
    x, y, z, w = ((squares[0], b + d, c + g, h - f), (b + d, squares[1], f + h, c - g),
                  (c + g, f + h, squares[2], d - b), (h - f, c - g, d - b, squares[3]))[best]
    size = 2.0 * math.sqrt(squares[best])
    return x / size, y / size, z / size, w / size
