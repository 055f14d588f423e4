"""Poses that a user may choose to go to."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flex_dynamics import DynamicsError, Model
from flex_viz.shown_text import plain

POINTS = 50.0      # a second: a controller that does not interpolate goes softly too


def point_to_point(start: np.ndarray, goal: np.ndarray, span: float) -> tuple[np.ndarray, ...]:
    """Times (k,) s and positions, velocities, accelerations (k, m) from `start` (m,) to `goal`
    (m,) in `span` s, at rest at both ends: a polynomial of fifth degree."""
    times = span * np.arange(1, max(2, round(POINTS * span)) + 1) / max(2, round(POINTS * span))
    s = (times / span)[:, None]
    way = goal - start
    return (times, start + way * s**3 * (10.0 - 15.0 * s + 6.0 * s**2),
            way / span * 30.0 * s**2 * (1.0 - s)**2,
            way / span**2 * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s))


def read_goals(model: Model, texts: Sequence[str]) -> dict[str, np.ndarray]:
    """`NAME: a number a joint` (rad or m) by name; all joints at zero if none is given."""
    goals: dict[str, np.ndarray] = {}
    for text in texts:
        name, found, numbers = text.partition(':')
        try:
            values = np.array(numbers.replace(',', ' ').split(), dtype=float)
        except ValueError:
            values = np.zeros(0)
        name = name.strip()
        if not (name and found and values.shape == (model.n_joints,)
                and np.isfinite(values).all()):
            raise DynamicsError(f'goals: expected NAME: and {model.n_joints} numbers, one a joint '
                                f'of {plain(model.robot.name)}, found {plain(text)!r}')
        goals[name] = values
    return goals or {'all joints at zero': np.zeros(model.n_joints)}
