"""What every trajectory is: joint motion as a function of time."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_control.errors import ControlError


@dataclass(frozen=True)
class Reference:
    """Wanted joint motion at one instant: position, velocity, acceleration, each (n_joints,)."""

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray

    @classmethod
    def at_rest(cls, position) -> Reference:
        position = np.array(position, dtype=float)
        return cls(position, np.zeros_like(position), np.zeros_like(position))


class Trajectory:
    """Joint motion from `start` to `end` (s); before and after it rests at its ends."""

    start: float
    end: float

    def sample(self, time: float) -> Reference:
        """The wanted motion at `time` (s)."""
        raise TypeError(f'{type(self).__name__} has no sample')


def checked_points(times, positions) -> tuple[np.ndarray, np.ndarray]:
    """times (k,) rising and positions (k, n_joints), finite; else ControlError."""
    times, positions = np.array(times, dtype=float), np.array(positions, dtype=float)
    if times.ndim != 1 or not times.size:
        raise ControlError(f'times: expected at least one, found shape {times.shape}')
    if positions.ndim != 2 or len(positions) != len(times):
        raise ControlError(f'positions: expected {len(times)} rows, one a time, found shape '
                           f'{positions.shape}')
    if not (np.isfinite(times).all() and np.isfinite(positions).all()):
        raise ControlError('times and positions: expected finite numbers')
    if (np.diff(times) <= 0.0).any():
        at = int(np.flatnonzero(np.diff(times) <= 0.0)[0])
        raise ControlError(f'times: expected to rise, found {times[at + 1]:g} s after '
                           f'{times[at]:g} s')
    return times, positions
