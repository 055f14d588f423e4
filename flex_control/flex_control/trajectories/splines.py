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
"""Piecewise polynomials through points, of the degree that the points' derivatives ask for."""
from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from flex_control.errors import ControlError
from flex_control.trajectories.base import checked_points
from flex_control.trajectories.polynomials import PiecewisePolynomial


class Splines(PiecewisePolynomial):
    """Through points, interpolated as ROS's joint_trajectory_controller does.

    With velocities and accelerations the pieces are quintic, with velocities alone cubic, with
    neither straight.

    Parameters
    ----------
    times : array-like, shape (k,)
        Rising times, s.
    positions, velocities, accelerations : array-like, shape (k, n_joints)
        At those times, rad or m, and per s and s2; the last two are optional.

    Examples
    --------
    >>> from flex_control import Splines
    >>> Splines([0.0, 2.0], [[0.0], [1.0]]).sample(1.0).velocity
    array([0.5])
    """

    def __init__(self, times: ArrayLike, positions: ArrayLike,
                 velocities: ArrayLike | None = None,
                 accelerations: ArrayLike | None = None) -> None:
        times, positions = checked_points(times, positions)
        if accelerations is not None and velocities is None:
            raise ControlError('accelerations without velocities: give both, or neither')
        values = [positions]
        for name, given in (('velocities', velocities), ('accelerations', accelerations)):
            if given is None:
                continue
            given = np.array(given, dtype=float)
            if given.shape != positions.shape or not np.isfinite(given).all():
                raise ControlError(f'{name}: expected finite numbers of shape '
                                   f'{positions.shape}, found shape {given.shape}')
            values.append(given)
        self.degree = 2 * len(values) - 1
        super().__init__(times, positions, _pieces(times, np.array(values)))


def _pieces(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Coefficients (k - 1, 2 order, n_joints) in u from 0 to 1 of the pieces whose values and
    derivatives at the points are `values` (order, k, n_joints)."""
    order = len(values)
    size = 2 * order
    conditions = np.zeros((size, size))
    for d in range(order):
        for power in range(d, size):
            falling = math.perm(power, d)
            conditions[d, power] = falling if power == d else 0.0
            conditions[order + d, power] = falling
    # d-th derivatives by u are those by t times the d-th power of the duration
    scale = np.diff(times)[:, None, None]**np.arange(order)[None, :, None]
    at = np.moveaxis(values, 1, 0)                                    # (k, order, n_joints)
    ends = np.concatenate((at[:-1] * scale, at[1:] * scale), axis=1)
    return np.linalg.inv(conditions) @ ends
