"""Poses that a user may choose to go to."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flex_dynamics import DynamicsError, Model


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
                                f'of {model.robot.name}, found {text!r}')
        goals[name] = values
    return goals or {'all joints at zero': np.zeros(model.n_joints)}
