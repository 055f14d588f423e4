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
"""The elastic motion of joints on a trajectory, and how it goes with the trajectory's weights."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flex_dynamics import Model

SWEEPS = 2               # of Newton's method in a step


class Bent(NamedTuple):
    """At the middle of k steps: q, v, a (k, n), efforts (k, n_joints). At the end: elastic
    coordinates and speeds (2, m). dq, dv, da (k, n, w), d_effort (k, n_joints, w), d_end
    (2, m, w): their derivatives by the weights; empty if none were asked for."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    effort: np.ndarray
    end: np.ndarray
    dq: np.ndarray
    dv: np.ndarray
    d_effort: np.ndarray
    d_end: np.ndarray


def bent(model: Model, joints: np.ndarray, slopes: np.ndarray | None, step: float) -> Bent:
    """From rest, by the implicit midpoint rule.

    joints (3, k, n_joints): position, speed and acceleration at the middle of each `step` (s).
    slopes (3, k, n_joints, w): their derivatives by weights; None: none are wanted.
    """
    count, n, half = model.n_joints, model.n, 0.5 * step
    elastic, steps = n - count, joints.shape[1]
    weights = 0 if slopes is None else slopes.shape[3]
    stiffness = np.asarray(model.stiffness_matrix())[count:, count:]
    damping = np.asarray(model.damping_matrix())[count:, count:]
    q, v, a = (np.zeros((steps, n)) for _ in range(3))
    effort = np.zeros((steps, count))
    dq, dv = np.zeros((steps, n, weights)), np.zeros((steps, n, weights))
    d_effort = np.zeros((steps, count, weights))
    place, speed = model.statics(joints[0, 0])[0][count:], np.zeros(elastic)
    d_place, d_speed = np.zeros((elastic, weights)), np.zeros((elastic, weights))
    rate = np.zeros(elastic)
    for k in range(steps):
        q[k, :count], v[k, :count], a[k, :count] = joints[:, k]
        a[k, count:] = rate
        q[k, count:] = place + half * speed + half**2 * rate
        v[k, count:] = speed + half * rate
        matrix = (model.mass_matrix(q[k])[count:, count:] + half * damping
                  + half**2 * stiffness)
        for _ in range(SWEEPS if elastic else 0):
            change = -np.linalg.solve(matrix, model.inverse_dynamics(q[k], v[k], a[k])[count:])
            a[k, count:] += change
            v[k, count:] += half * change
            q[k, count:] += half**2 * change
        rate = a[k, count:].copy()
        effort[k] = model.inverse_dynamics(q[k], v[k], a[k])[:count]
        if slopes is not None:
            by_q, by_v, by_a = model.inverse_dynamics_derivatives(q[k], v[k], a[k])
            moved, faster = d_place + half * d_speed, d_speed
            off = (by_q[:, :count] @ slopes[0, k] + by_v[:, :count] @ slopes[1, k]
                   + by_a[:, :count] @ slopes[2, k] + by_q[:, count:] @ moved
                   + by_v[:, count:] @ faster)
            d_rate = -np.linalg.solve(
                by_a[count:, count:] + half * by_v[count:, count:]
                + half**2 * by_q[count:, count:], off[count:]) if elastic else d_speed
            dq[k, :count], dq[k, count:] = slopes[0, k], moved + half**2 * d_rate
            dv[k, :count], dv[k, count:] = slopes[1, k], faster + half * d_rate
            d_effort[k] = off[:count] + (by_a[:count, count:] + half * by_v[:count, count:]
                                         + half**2 * by_q[:count, count:]) @ d_rate
            d_place = d_place + step * (d_speed + half * d_rate)
            d_speed = d_speed + step * d_rate
        place, speed = place + step * (speed + half * rate), speed + step * rate
    return Bent(q, v, a, effort, np.array([place, speed]), dq, dv, d_effort,
                np.array([d_place, d_speed]))
