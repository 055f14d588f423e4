"""Piecewise polynomials through points, of the degree that the points' derivatives ask for."""
from __future__ import annotations

import numpy as np

from flex_control.errors import ControlError
from flex_control.trajectories.base import Reference, Trajectory, checked_points


class Splines(Trajectory):
    """Through positions (k, n_joints) at times (k,) s, as ROS's joint_trajectory_controller does.

    With velocities and accelerations (each (k, n_joints)) the pieces are quintic, with velocities
    alone cubic, with neither straight.
    """

    def __init__(self, times, positions, velocities=None, accelerations=None) -> None:
        self.times, self.positions = checked_points(times, positions)
        self.start, self.end = float(self.times[0]), float(self.times[-1])
        if accelerations is not None and velocities is None:
            raise ControlError('accelerations without velocities: give both, or neither')
        values = [self.positions]
        for name, given in (('velocities', velocities), ('accelerations', accelerations)):
            if given is None:
                continue
            given = np.array(given, dtype=float)
            if given.shape != self.positions.shape or not np.isfinite(given).all():
                raise ControlError(f'{name}: expected finite numbers of shape '
                                   f'{self.positions.shape}, found shape {given.shape}')
            values.append(given)
        self._values = np.array(values)                      # (1 to 3, k, n_joints)
        self._pieces = [self._piece(at) for at in range(len(self.times) - 1)]

    def _piece(self, at: int) -> np.ndarray:
        """Coefficients (degree + 1, n_joints) in s = t - times[at], lowest power first."""
        order = len(self._values)
        duration = self.times[at + 1] - self.times[at]
        size = 2 * order
        conditions = np.zeros((size, size))
        for d in range(order):
            for power in range(d, size):
                falling = np.prod(np.arange(power, power - d, -1.0))
                conditions[d, power] = falling if power == d else 0.0
                conditions[order + d, power] = falling * duration**(power - d)
        ends = np.concatenate((self._values[:, at], self._values[:, at + 1]))
        return np.linalg.solve(conditions, ends)

    def sample(self, time: float) -> Reference:
        if time < self.start or time >= self.end:
            return Reference.at_rest(self.positions[0 if time < self.start else -1])
        at = int(np.searchsorted(self.times, time, side='right')) - 1
        powers = np.polynomial.polynomial
        piece, s = self._pieces[at], time - self.times[at]
        speed = powers.polyder(piece)
        return Reference(powers.polyval(s, piece), powers.polyval(s, speed),
                         powers.polyval(s, powers.polyder(speed)))
