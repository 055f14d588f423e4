"""Default gains from the inertia and the first natural frequency of a robot."""
from __future__ import annotations

import numpy as np

from flex_dynamics import Model, largest_joint_inertia

FASTEST = 10.0      # rad/s, for robots without a flexible link


def first_frequency(model: Model) -> float:
    """Lowest frequency (rad/s) of the stretched robot with locked joints; infinite if rigid."""
    frequencies, _ = model.frequencies(np.zeros(model.n), joints='locked')
    return float(frequencies[0]) if frequencies.size else np.inf


def safe_bandwidth(model: Model, share: float) -> float:
    """A share of the first frequency (rad/s): a loop near the first mode would excite it."""
    return min(FASTEST, share * first_frequency(model))


def shared_inertia(model: Model) -> np.ndarray:
    """Inertia (n_joints,) to scale gains with: between a joint's own and the largest of all.

    A light wrist at the end of a heavy arm has to withstand the motion of the arm; the geometric
    mean of both gives gains like those found by manual tuning.
    """
    own = largest_joint_inertia(model)
    return np.sqrt(own * own.max())
