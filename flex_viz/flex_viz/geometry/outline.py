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
"""The robot as lines: each link from its origin to its children, beams along their axes."""
from __future__ import annotations

import numpy as np
import numpy.typing as npt

from flex_description import Robot
from flex_dynamics import Model
from flex_viz.geometry.coordinates import scaled

STATIONS = 25     # points along a beam: enough for its third mode


def outline(model: Model, q: npt.ArrayLike,
            exaggeration: float = 1.0) -> dict[str, npt.NDArray[np.float64]]:
    """Polylines of a robot at the state q.

    Parameters
    ----------
    model : the robot.
    q : shape (n,), all coordinates in the order of `model.names`, rad and m.
    exaggeration : factor of the elastic amplitudes; 0 draws straight links.

    Returns
    -------
    A polyline (points, 3), m, in the frame of the root, by link name. Links without extent are
    left out.

    >>> import numpy as np
    >>> from flex_description import load_robot
    >>> from flex_dynamics import Model
    >>> model = Model(load_robot('cibicik_arm'))
    >>> sorted(outline(model, np.zeros(model.n)))
    ['link1', 'link2', 'link3', 'link4']
    """
    q = scaled(model, q, exaggeration)
    lines = {}
    for link in model.robot.links:
        children = [joint.child for joint in model.robot.joints if joint.parent == link.name]
        ends = [model.pose(q, child)[:3, 3] for child in children]
        if link.flexible is not None:
            stations = np.linspace(0.0, link.flexible.length, STATIONS)
            points = [model.pose(q, link.name, x)[:3, 3] for x in stations]
        else:
            origin = model.pose(q, link.name)[:3, 3]
            points = [origin]
            for end in ends:
                points += [end, origin]
        line = np.array(points)
        if len(line) > 1 and np.ptp(line, axis=0).max() > 0.0:
            lines[link.name] = line
    return lines


def reach(robot: Robot) -> float:
    """A length, m, that no joint or beam exceeds, from the root: the longest chain of links."""
    away = {robot.links[0].name: 0.0}
    for joint in robot.joints:      # parents first
        away[joint.child] = away[joint.parent] + float(np.linalg.norm(joint.origin[:3, 3]))
    beams = [away[link.name] + link.flexible.length
             for link in robot.links if link.flexible is not None]
    return max(*away.values(), *beams, 0.1)
