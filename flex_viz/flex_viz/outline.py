"""The robot as lines: each link from its origin to what hangs on it, beams along their axes."""
from __future__ import annotations

import numpy as np

from flex_dynamics import Model
from flex_viz.elastic import scaled

STATIONS = 25     # points along a beam: enough for its third mode


def outline(model: Model, q, exaggeration: float = 1.0) -> dict[str, np.ndarray]:
    """A polyline (points, 3) in the root's frame, m, for every link that has an extent."""
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
