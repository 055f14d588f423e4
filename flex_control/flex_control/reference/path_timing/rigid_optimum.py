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
"""The fastest motion along a path within limits, links bending as inertia bends them.

With s along the path, u its acceleration and x the square of its speed, efforts, strains and
deflections of the quasi-static robot are linear in u and x (Bobrow, Dubowsky and Gibson 1985). The
largest x is found by reachability analysis (Pham and Pham 2018): backwards the largest speed from
which the end can be reached at each station, forwards the largest acceleration that stays below.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline, make_interp_spline
from scipy.optimize import linprog

from flex_control.design.limited_outputs import LimitedOutputs
from flex_control.errors import ControlError
from flex_control.reference.deflected_reference import DeflectedReference
from flex_control.trajectories.base import Reference, Trajectory
from flex_dynamics import Model

STATIONS = 120           # of the path
POINTS = 41              # through which the path of a trajectory is laid
SAMPLES = 1001           # of that trajectory
TRIED = 0.1              # u and x at which the rows are taken
LARGEST = 1e6            # of u and x
FEWEST = 2


class JointPath:
    """A smooth path of joints by its length s (rad or m, all joints together), from 0 to length.

    Through waypoints (k, n_joints), or along a trajectory, whose timing is left out.
    """

    def __init__(self, path: Trajectory | ArrayLike) -> None:
        if isinstance(path, Trajectory):
            times = np.linspace(path.start, path.end, SAMPLES)
            dense = np.array([path.sample(time).position for time in times])
            length = _lengths(dense)
            places = np.interp(np.linspace(0.0, length[-1], POINTS), length, times)
            points = np.array([path.sample(time).position for time in places])
        else:
            points = np.array(path, dtype=float)
        if points.ndim != 2 or len(points) < FEWEST or not np.isfinite(points).all():
            raise ControlError('path: expected at least two rows of finite joint positions, found '
                               f'shape {points.shape}')
        lengths = _lengths(points)
        if not (np.diff(lengths) > 1e-9).all():
            raise ControlError('path: expected points that differ from one to the next, found two '
                               'equal ones')
        self.length = float(lengths[-1])
        degree = min(5, 2 * ((len(points) - 1) // 2) + 1, len(points) - 1)
        self._splines = [make_interp_spline(lengths, points, degree)]
        for _ in range(3):
            last = self._splines[-1]
            self._splines.append(last.derivative() if last.k else BSpline(
                last.t, np.zeros_like(last.c), 0))

    def at(self, s: ArrayLike, order: int = 0) -> np.ndarray:
        """Derivative of the joints by s, (..., n_joints)."""
        found: np.ndarray = np.asarray(
            self._splines[order](np.clip(s, 0.0, self.length)))
        return found

    def reference(self, s: Sequence[float]) -> Reference:
        """Joints, of s and its derivatives by time (place, speed, acceleration)."""
        place, speed, rate = s[:3]
        first, second = self.at(place, 1), self.at(place, 2)
        return Reference(self.at(place), first * speed, first * rate + second * speed**2)


def _lengths(points: np.ndarray) -> np.ndarray:
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    return np.concatenate(([0.0], np.cumsum(steps)))


class Rows(NamedTuple):
    """u a + x b + c within -1 and 1 at each station, (k, rows), and x at most (k,)."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    most: np.ndarray


class RigidOptimum(Trajectory):
    """The fastest motion along a path, from rest to rest, if the links did not vibrate.

    limited: the limits of its efforts, speeds and strains. `duration` (s).
    """

    def __init__(self, model: Model, path: JointPath, limited: LimitedOutputs,
                 start: float = 0.0) -> None:
        self.path, self._s = path, np.linspace(0.0, path.length, STATIONS + 1)
        x = _fastest(_rows(model, path, limited, self._s), self._s)
        speeds = np.sqrt(x)
        step = self._s[1]
        steps = 2.0 * step / np.maximum(speeds[:-1] + speeds[1:], 1e-12)
        self._speeds, self._rates = speeds, np.diff(x) / (2.0 * step)
        self._times = np.concatenate(([0.0], np.cumsum(steps)))
        self.duration = float(self._times[-1])
        self.start, self.end = start, start + self.duration

    def progress(self, time: float) -> tuple[float, float, float]:
        """s, its speed and its acceleration, `time` (s) after the start."""
        if not 0.0 < time < self.duration:
            return (0.0 if time <= 0.0 else self.path.length), 0.0, 0.0
        at = min(int(np.searchsorted(self._times, time, side='right')) - 1, STATIONS - 1)
        past, rate = time - self._times[at], self._rates[at]
        return (float(self._s[at] + past * (self._speeds[at] + 0.5 * past * rate)),
                float(self._speeds[at] + past * rate), float(rate))

    def sample(self, time: float) -> Reference:
        return self.path.reference(self.progress(time - self.start))


def _rows(model: Model, path: JointPath, limited: LimitedOutputs, s: np.ndarray) -> Rows:
    deflected = DeflectedReference(model)
    none = np.zeros(model.n)

    def shares(place: float, speed: float, rate: float) -> np.ndarray:
        deflected.move_to(path.reference((place, speed, rate)), 0.0)
        found: np.ndarray = limited.at(deflected.q, none, deflected.effort)
        return found
    a, b, c = (np.empty((len(s), len(limited))) for _ in range(3))
    for at, place in enumerate(s):
        c[at] = shares(place, 0.0, 0.0)
        a[at] = (shares(place, 0.0, TRIED) - c[at]) / TRIED
        b[at] = (shares(place, np.sqrt(TRIED), 0.0) - c[at]) / TRIED
    over = np.abs(c).max(axis=0)
    if (over >= 1.0).any():
        worst = int(np.argmax(over))
        raise ControlError(
            f'{limited.kinds[worst]} of {limited.names[worst]}: gravity alone takes '
            f'{over[worst] * limited.limits[worst]:.4g} on the path, expected less than its limit '
            f'{limited.limits[worst]:.4g}')
    slopes = path.at(s, 1)
    fast = np.abs(slopes @ limited.velocity[:, :model.n_joints].T).max(axis=1, initial=0.0)
    most = np.minimum(1.0 / np.maximum(fast, 1e-6)**2, LARGEST)
    return Rows(a, b, c, most)


def _fastest(rows: Rows, s: np.ndarray) -> np.ndarray:
    """The largest x (k,) that can be had, zero at both ends."""
    step, count = s[1] - s[0], len(s)
    ahead = np.zeros(count)
    for at in range(count - 2, -1, -1):
        A = np.vstack((np.column_stack((rows.a[at], rows.b[at])),
                       -np.column_stack((rows.a[at], rows.b[at])), [[2.0 * step, 1.0]],
                       [[-2.0 * step, -1.0]]))
        upper = np.concatenate((1.0 - rows.c[at], 1.0 + rows.c[at], [ahead[at + 1]], [0.0]))
        found = linprog([0.0, -1.0], A, upper,
                        bounds=[(-LARGEST, LARGEST), (0.0, rows.most[at])])
        if found.status:
            raise ControlError('path: no speed keeps the limits on it; give larger limits, or a '
                               'smoother path')
        ahead[at] = found.x[1]
    x = np.zeros(count)
    for at in range(count - 1):
        with np.errstate(divide='ignore', invalid='ignore'):
            room = np.concatenate(((1.0 - rows.c[at] - rows.b[at] * x[at]) / rows.a[at],
                                   (-1.0 - rows.c[at] - rows.b[at] * x[at]) / rows.a[at]))
        slopes = np.concatenate((rows.a[at], -rows.a[at]))
        u = min(float(room[slopes > 1e-12].min(initial=LARGEST)),
                (ahead[at + 1] - x[at]) / (2.0 * step))
        x[at + 1] = np.clip(x[at] + 2.0 * step * u, 0.0, ahead[at + 1])
    if (x[1:-1] <= 0.0).any():
        raise ControlError('path: no motion within the limits gets past '
                           f's = {s[1 + int(np.argmin(x[1:-1]))]:.3g} of {s[-1]:.3g}')
    return x
