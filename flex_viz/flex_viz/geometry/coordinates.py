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
"""Which coordinates of a model are elastic amplitudes, and of which link."""
from __future__ import annotations

import numpy as np
import numpy.typing as npt

from flex_dynamics import Model
from flex_dynamics.checks import LARGEST_POSITION


def flexible_links(model: Model) -> list[str]:
    """Names of the flexible links, in tree order."""
    return list(model.coordinates.links)


def amplitudes(model: Model, link: str | None = None) -> np.ndarray:
    """Indices in q of the elastic amplitudes of one link, or of all: bend_y, bend_z, twist."""
    places = model.coordinates.elastic if link is None else model.coordinates.links[link].all
    return np.arange(model.n)[places]


def scaled(model: Model, q: npt.ArrayLike, exaggeration: float) -> np.ndarray:
    """q (n,) with its elastic amplitudes multiplied; joints and motors are unchanged.

    Amplitudes are limited to the largest that a Model accepts: a state may contain amplitudes of
    that size, and exaggerating them must not stop the node that draws.
    """
    q = np.array(q, dtype=float)
    if exaggeration != 1.0:
        elastic = amplitudes(model)
        q[elastic] = np.clip(exaggeration * q[elastic], -LARGEST_POSITION, LARGEST_POSITION)
    return q


def tip_frame(model: Model) -> str:
    """The default frame for tip path and deflection: the last link of the longest chain, or the
    tip of its beam. A chain that a loop closes, as a cylinder's, does not count beside others."""
    depth = {model.robot.links[0].name: 0}
    for joint in model.robot.joints:
        depth[joint.child] = depth[joint.parent] + 1
    held = {end.frame for loop in model.robot.loops for end in (loop.first, loop.second)}
    inner = {joint.parent for joint in model.robot.joints}
    ends = [name for name in depth if name not in held | inner] if held else []
    deepest = max(ends or depth, key=lambda name: depth[name])
    return f'{deepest}/tip' if deepest in flexible_links(model) else deepest
