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
"""Innovations of a linearised run, their sensitivities, and what they tell of the parameters."""
from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from flex_dynamics import Model
from flex_dynamics.arrays import Array
from flex_identification.errors import IdentificationError
from flex_identification.kernels.innovations import innovations, smoothed
from flex_identification.prediction.linearized_run import LinearizedRun

FLOOR = 1e-16        # of the first variances: what each sample adds, against rounding
JOINT_SPREAD = 0.05  # rad or m: of joint positions at the start
LEAST_SPEED = 0.05   # rad/s or m/s


@dataclass(frozen=True)
class Noise:
    """Standard deviations: of the efforts' errors in each sample, (n_joints,), N m or N; of the
    readings, (m,), in the unit of each."""

    effort: Array
    readings: Array


class Start(NamedTuple):
    """What is known of the first state (q, v): mean (s,) and covariance (s, s)."""

    mean: Array
    covariance: Array


class FilteredRun(NamedTuple):
    """cost: -2 log likelihood but for a constant. errors, variances (N, m), slopes (N, m, p): the
    innovations, NaN where there is no reading, and -d innovation / dz. information (p, p) and
    gradient (p,): sums of slope slope' / variance and of slope error / variance.
    """

    cost: float
    errors: Array
    variances: Array
    slopes: Array
    gains: Array
    information: Array
    gradient: Array

    @property
    def whitened(self) -> Array:
        """Innovations by their standard deviation (N, m); NaN where there is none."""
        found: Array = self.errors / np.sqrt(self.variances)
        return found


def start_of(model: Model, q: Array, speed: Array) -> Start:
    """The first state: about q (n,), at rest or moving with joint speeds up to `speed`
    (n_joints,), the links swinging with as much energy."""
    n, joints = model.n, model.n_joints
    mass, stiffness = model.mass_matrix(q), model.stiffness_matrix()
    speeds = np.maximum(np.abs(speed), LEAST_SPEED)
    energy = 0.5 * float((mass.diagonal()[:joints] * speeds**2).sum())
    covariance = np.zeros((2 * n, 2 * n))
    covariance[:joints, :joints] = JOINT_SPREAD**2 * np.eye(joints)
    covariance[n:n + joints, n:n + joints] = np.diag(speeds**2)
    if n > joints:
        elastic = stiffness[joints:, joints:] + 1e-9 * np.trace(stiffness) * np.eye(n - joints)
        covariance[joints:n, joints:n] = 2.0 * energy * np.linalg.inv(elastic)
        covariance[n + joints:, n + joints:] = 2.0 * energy * np.linalg.inv(
            mass[joints:, joints:])
    return Start(np.concatenate((q, np.zeros(n))), covariance)


def filter_run(run: LinearizedRun, readings: Array, noise: Noise, start: Start,
               nominal: Array, weights: Array | None = None,
               sensitivities: bool = True) -> FilteredRun:
    """Run the filter along a linearised run.

    Parameters
    ----------
    run : LinearizedRun
    readings : array, shape (N, m)
        By the sample that they came with; NaN where there is none.
    noise : Noise
    start : Start
    nominal : array, shape (s,)
        First nominal state of the run.
    weights : array, shape (N, m), optional
        By which the variances of the readings are divided.
    sensitivities : bool
        False leaves slopes and information out.
    """
    p = run.J.shape[2] if sensitivities else 0
    found, failed = _run(run, differences(run, readings), run.d, noise, start, nominal, weights,
                         p, np.zeros((0, 0)), np.zeros((0, 0, 0)))
    if failed or not np.isfinite(found.cost):
        raise IdentificationError(f'Kalman filter: expected variances above zero, found another '
                                  f'at sample {failed}; give every reading a noise above zero')
    return found


def _run(run: LinearizedRun, y: Array, d: Array, noise: Noise, start: Start, nominal: Array,
         weights: Array | None, p: int, before: Array,
         covariance: Array) -> tuple[FilteredRun, int]:
    N, m, s = run.H.shape
    variance = np.broadcast_to(noise.readings**2, (N, m)).copy()
    if weights is not None:
        rows = np.maximum(run.source, 0)
        variance /= np.take_along_axis(weights, rows, axis=0)
    spread = np.broadcast_to(noise.effort**2, (N - 1, len(noise.effort))).copy()
    errors, variances = np.full((N, m), np.nan), np.full((N, m), np.nan)
    slopes, gains = np.zeros((N, m, p)), np.zeros((N, m, s))
    cost, failed = innovations(
        run.F, d, np.ascontiguousarray(run.G[:, :, :p]), run.B, spread, floor_of(start), run.H,
        np.ascontiguousarray(run.J[:, :, :p]), y, variance, start.mean - nominal,
        start.covariance.copy(), np.zeros((s, p)), errors, variances, slopes, gains, before,
        covariance)
    good = np.isfinite(errors)
    rows, e, v = slopes[good], errors[good], variances[good]
    return FilteredRun(float(cost), errors, variances, slopes, gains,
                       (rows / v[:, None]).T @ rows, (rows / v[:, None]).T @ e), failed


def differences(run: LinearizedRun, readings: Array) -> Array:
    """Readings less what is predicted at the nominal states (N, m), by rows of the run."""
    found = np.take_along_axis(readings, np.maximum(run.source, 0), axis=0) - run.predicted
    found[run.source < 0] = np.nan
    return found


def floor_of(start: Start) -> Array:
    """Variances (s,) that each sample adds."""
    return FLOOR * start.covariance.diagonal()


def smooth_run(run: LinearizedRun, readings: Array, change: Array, noise: Noise, start: Start,
               nominal: Array, weights: Array | None = None) -> Array:
    """Deviations (N, s) from the nominal run that all readings tell, for a change (p,) of z."""
    N, _, s = run.H.shape
    before, covariance = np.zeros((N, s)), np.zeros((N, s, s))
    y = differences(run, readings) - run.J @ change
    found, _ = _run(run, y, run.d + run.G @ change, noise, start, nominal, weights, 0, before,
                    covariance)
    smoothed(run.F, run.H, found.errors, found.variances, found.gains, before, covariance)
    return before
