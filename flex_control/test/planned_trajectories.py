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
"""Joint trajectories of the kind that MoveIt sends: time-optimal along a path with round corners.

As MoveIt's time-optimal trajectory generation does: straight lines between way-points in joint
space, circular blends at the corners, the largest speed along the path that the joints' velocity
and acceleration limits allow, samples every 0.1 s with positions, velocities and accelerations,
an end at an arbitrary time, and an end speed that is zero but for rounding.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

SAMPLE = 0.1            # s, MoveIt's resample_dt
DEVIATION = 0.1         # rad, MoveIt's path_tolerance: how far a blend leaves its corner
STATIONS = 4000         # along the path


class Planned(NamedTuple):
    """times (k,) s from the start; positions, velocities, accelerations (k, n_joints)."""

    times: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray
    accelerations: np.ndarray


def plan(waypoints: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray,
         rng: np.random.Generator) -> Planned:
    """Through waypoints (m, n_joints) within the limits (n_joints,), from rest to rest."""
    position, tangent, curvature, s = _path(np.asarray(waypoints, dtype=float))
    speed = _speeds(tangent, curvature, s, velocity, acceleration)
    middle = np.maximum(0.5 * (speed[:-1] + speed[1:]), 1e-12)
    t = np.concatenate(([0.0], np.cumsum(np.diff(s) / middle)))
    times = np.append(np.arange(0.0, t[-1] - 1e-6, SAMPLE), t[-1])
    # Between stations the speed along the path changes evenly, so the path is quadratic in time.
    at = np.clip(np.searchsorted(t, times, side='right') - 1, 0, len(t) - 2)
    rate = (speed[at + 1]**2 - speed[at]**2) / (2.0 * np.diff(s)[at])
    since = times - t[at]
    along = s[at] + speed[at] * since + 0.5 * rate * since**2
    now = np.maximum(speed[at] + rate * since, 0.0)

    def of(values: np.ndarray) -> np.ndarray:
        return np.array([np.interp(along, s, column) for column in values.T]).T

    velocities = of(tangent) * now[:, None]
    velocities[-1] = 9e-16 * rng.uniform(-1.0, 1.0, velocities.shape[1])
    accelerations = of(curvature) * now[:, None]**2 + of(tangent) * rate[:, None]
    positions = of(position)
    positions[0], positions[-1] = waypoints[0], waypoints[-1]
    velocities[0] = 0.0
    return Planned(times, positions, velocities, accelerations)


def _path(waypoints: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Positions, tangents and curvatures (STATIONS, n_joints) by the length s along the path."""
    pieces = []                          # (length, function of the length in the piece)
    begin = waypoints[0]
    for before, corner, after in zip(waypoints, waypoints[1:], waypoints[2:]):
        first, second = corner - before, after - corner
        lengths = np.linalg.norm(first), np.linalg.norm(second)
        first, second = first / lengths[0], second / lengths[1]
        angle = np.arccos(np.clip(first @ second, -1.0, 1.0))
        if angle < 1e-6 or angle > np.pi - 0.2:
            raise ValueError('the path has no corner here, or turns back')
        reach = min(0.5 * lengths[0], 0.5 * lengths[1],
                    DEVIATION * np.sin(0.5 * angle) / (1.0 - np.cos(0.5 * angle)))
        radius = reach / np.tan(0.5 * angle)
        enter = corner - reach * first
        pieces.append(_line(begin, enter))
        centre = corner + (second - first) / np.linalg.norm(second - first) * radius / np.cos(
            0.5 * angle)
        pieces.append(_arc(centre, enter, first, radius, angle))
        begin = corner + reach * second
    pieces.append(_line(begin, waypoints[-1]))
    ends = np.cumsum([length for length, _ in pieces])
    s = np.linspace(0.0, ends[-1], STATIONS)
    which = np.minimum(np.searchsorted(ends, s), len(pieces) - 1)
    values = [at(s[which == k] - (ends[k] - length)) for k, (length, at) in enumerate(pieces)]
    position, tangent, curvature = (np.concatenate(rows) for rows in zip(*values))
    return position, tangent, curvature, s


def _line(begin: np.ndarray, end: np.ndarray):
    length = float(np.linalg.norm(end - begin))
    way = (end - begin) / max(length, 1e-12)

    def at(s: np.ndarray):
        along = s[:, None]
        return begin + along * way, np.tile(way, (len(s), 1)), np.zeros((len(s), len(way)))

    return length, at


def _arc(centre: np.ndarray, enter: np.ndarray, way: np.ndarray, radius: float, angle: float):
    outwards = (enter - centre) / radius

    def at(s: np.ndarray):
        turn = s[:, None] / radius
        x, y = np.cos(turn) * outwards, np.sin(turn) * way
        return (centre + radius * (x + y), np.cos(turn) * way - np.sin(turn) * outwards,
                -(x + y) / radius)

    return radius * angle, at


def _speeds(tangent: np.ndarray, curvature: np.ndarray, s: np.ndarray, velocity: np.ndarray,
            acceleration: np.ndarray) -> np.ndarray:
    """Largest speeds along the path (STATIONS,), by a pass forwards and one backwards."""
    with np.errstate(divide='ignore'):
        most = np.minimum((velocity / np.abs(tangent)).min(axis=1),
                          np.sqrt((acceleration / np.abs(curvature)).min(axis=1)))
    most[0] = most[-1] = 0.0
    for way in (1, -1):
        _pass(most[::way], np.abs(tangent)[::way], np.abs(curvature)[::way], s[1] - s[0],
              acceleration)
    return most


@njit
def _pass(most, tangent, curvature, step, acceleration):
    """Lower the speeds to what can be reached from the station before."""
    for k in range(1, len(most)):
        rate = np.inf
        for j in range(len(acceleration)):
            spare = max(acceleration[j] - curvature[k - 1, j] * most[k - 1]**2, 0.0)
            rate = min(rate, spare / max(tangent[k - 1, j], 1e-12))
        most[k] = min(most[k], np.sqrt(most[k - 1]**2 + 2.0 * rate * step))
