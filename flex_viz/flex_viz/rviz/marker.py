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
"""visualization_msgs/Marker in numpy and without ROS."""
from __future__ import annotations

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
    """One marker; it replaces the previous one with the same (ns, id)."""

    ns: str
    id: int
    type: int = CUBE
    action: int = ADD
    position: Sequence[float] = (0.0, 0.0, 0.0)                      # m in the frame
    orientation: Sequence[float] = (0.0, 0.0, 0.0, 1.0)              # quaternion x, y, z, w
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)              # m
    colour: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    points: np.ndarray = field(default_factory=lambda: NO_POINTS)      # (k, 3) m
    colours: np.ndarray = field(default_factory=lambda: NO_COLOURS)    # (k, 4) or none
    text: str = ''
    mesh: str = ''


def text_marker(ns: str, id: int, text: str, place: Sequence[float], height: float,
          colour: tuple[float, float, float, float]) -> Marker:
    """A text that faces the viewer, centred at `place` (3,), m; height in m."""
    # scale.x is the width of a space, which is 1.3 m by default.
    return Marker(ns, id, TEXT, position=place, scale=(0.55 * height, 0.0, height), colour=colour,
                  text=marker_text(text))
