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
"""A walk of the planar biped: leg angles as functions of time, and the trunk that follows.

The hip moves evenly at constant height; a foot stands, or swings over two steps on a path whose
speed and acceleration are zero where it leaves and lands. The angles of the legs follow from both.
The load goes from the rear foot to the front foot during double support.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from flex_dynamics.arrays import Array
from flex_dynamics.errors import DynamicsError
from flex_dynamics.papers.planar_biped import Biped, Motion, semi_inverse

Legs = Callable[[float], tuple[Array, Array, Array]]      # angles, rates, accelerations (4,)


def smooth(x: float) -> Array:
    """0 to 1 for x from 0 to 1, with two derivatives that are zero at both ends, and those."""
    return np.array([x**3 * (10.0 - 15.0 * x + 6.0 * x * x), 30.0 * x * x * (1.0 - x)**2,
                     60.0 * x * (1.0 - x) * (1.0 - 2.0 * x)])


def bump(x: float) -> Array:
    """0 to 1 and back, with two derivatives that are zero at both ends, and those."""
    y, slope = x * (1.0 - x), 1.0 - 2.0 * x
    return 64.0 * np.array([y**3, 3.0 * y * y * slope, 6.0 * y * slope * slope - 6.0 * y * y])


def leg_angles(biped: Biped, reach: Array, rate: Array, acceleration: Array,
               ) -> tuple[Array, Array, Array]:
    """Angles (alpha, beta) of a leg whose foot is at `reach` (2,) from the hip, with their rates
    and accelerations; the knee points forward."""
    upper, lower, distance = 2.0 * biped.a, 2.0 * biped.b, float(np.hypot(*reach))
    if not abs(upper - lower) < distance < upper + lower:
        raise DynamicsError(f'gait: expected a foot within {upper + lower:.3g} m of the hip, '
                            f'found {distance:.3g} m; make steps shorter or the hip lower')
    line = np.arctan2(-reach[0], -reach[1])
    at_hip = np.arccos((upper**2 + distance**2 - lower**2) / (2.0 * upper * distance))
    at_foot = np.arccos((lower**2 + distance**2 - upper**2) / (2.0 * lower * distance))
    angles = np.array([line - at_hip, line + at_foot])
    s, c, lengths = np.sin(angles), np.cos(angles), np.array([upper, lower])
    J = np.array([-lengths * c, lengths * s])
    rates = np.linalg.solve(J, rate)
    turning = np.array([lengths * s, lengths * c]) @ rates**2
    return angles, rates, np.linalg.solve(J, acceleration - turning)


@dataclass(frozen=True)
class Walk:
    """length m of a step; hip: height m; lead m of the hip before the middle of its feet, which
    decides how upright the trunk is; clearance m of the swinging foot; double, single: s of the
    two phases of a step."""

    length: float = 0.4
    hip: float = 0.8
    lead: float = -0.08
    clearance: float = 0.04
    double: float = 0.15
    single: float = 0.45

    @property
    def period(self) -> float:
        return self.double + self.single

    def phase(self, t: float) -> str:
        """'double' at the start of a step, then 'single'."""
        return 'double' if t < self.double else 'single'

    def share(self, t: float) -> float:
        """Of the front foot in the forces of both feet, t s after the step's start."""
        return float(smooth(min(max(t / self.double, 0.0), 1.0))[0])

    def legs(self, biped: Biped, t: float) -> tuple[Array, Array, Array]:
        """alpha_1, beta_1, alpha_2, beta_2 with rates and accelerations, t s after a step's
        start: leg 1 is in front and stands at x = 0, leg 2 stands at -length and then swings to
        length; the hip moves from lead - length / 2 to lead + length / 2."""
        speed = self.length / self.period
        hip = np.array([[*self.hip_motion(t)[0]], [speed, 0.0], [0.0, 0.0]])
        rear = np.zeros((3, 2))
        x = min(max((t - self.double) / self.single, 0.0), 1.0)
        scale = 1.0 / np.array([1.0, self.single, self.single**2])
        rear[:, 0] = 2.0 * self.length * smooth(x) * scale
        rear[:, 1] = self.clearance * bump(x) * scale
        rear[0, 0] -= self.length
        front = leg_angles(biped, *(-hip))
        back = leg_angles(biped, *(rear - hip))
        angles, rates, accelerations = (np.concatenate(pair)
                                        for pair in zip(front, back, strict=True))
        return angles, rates, accelerations

    def hip_motion(self, t: float) -> tuple[Array, Array]:
        """Place and speed (2,) of the hip."""
        speed = self.length / self.period
        start = self.lead - 0.5 * self.length
        return np.array([start + speed * t, self.hip]), np.array([speed, 0.0])


class Step(NamedTuple):
    """One step at times (k,): q, v (k, 7), and what semi_inverse found there."""

    time: Array
    phase: tuple[str, ...]
    q: Array
    v: Array
    motion: tuple[Motion, ...]


def state(biped: Biped, walk: Walk, t: float, trunk: Array) -> tuple[Array, Array, Array]:
    """q, v (7,) and the accelerations (4,) of the legs; trunk: theta and its rate."""
    angles, rates, accelerations = walk.legs(biped, t)
    place, speed = walk.hip_motion(t)
    return (np.concatenate((place, trunk[:1], angles)), np.concatenate((speed, trunk[1:], rates)),
            accelerations)


def motion(biped: Biped, walk: Walk, t: float, trunk: Array, phase: str | None = None) -> Motion:
    """What the semi-inverse method finds t s after a step's start."""
    q, v, legs = state(biped, walk, t, trunk)
    return semi_inverse(biped, phase or walk.phase(t), q, v, legs, walk.share(t))


def trunk_after(biped: Biped, walk: Walk, start: Array, times: Array) -> Array:
    """theta and its rate (k, 2) at times of one step, from those at its start."""
    def rate(phase: str) -> Callable[[float, Array], Array]:
        return lambda t, y: np.array([y[1], motion(biped, walk, t, y, phase).acceleration[2]])

    options = {'method': 'DOP853', 'rtol': 1e-11, 'atol': 1e-12, 'dense_output': True}
    first = solve_ivp(rate('double'), (0.0, walk.double), start, **options)
    second = solve_ivp(rate('single'), (walk.double, walk.period), first.y[:, -1], **options)
    return np.array([(first if t <= walk.double else second).sol(t) for t in times])


def steady_trunk(biped: Biped, walk: Walk) -> Array:
    """theta and its rate (2,) at a step's start that are the same at its end, by Newton."""
    start, end = np.zeros(2), np.array([walk.period])
    for _ in range(20):
        off = trunk_after(biped, walk, start, end)[0] - start
        if np.abs(off).max() < 1e-9:
            return start
        slope = np.array([(trunk_after(biped, walk, start + step, end)[0]
                           - trunk_after(biped, walk, start - step, end)[0]) / 2e-4
                          for step in 1e-4 * np.eye(2)]).T - np.eye(2)
        start = start - np.linalg.solve(slope, off)
        if not np.abs(start).max() < 10.0:
            break
    raise DynamicsError('gait: expected a motion of the trunk that repeats itself from step to '
                        'step, found none; change the durations of the phases')


def step(biped: Biped, walk: Walk, trunk: Array, count: int = 61) -> Step:
    """One step from a trunk's theta and rate (2,), at `count` even times."""
    times = np.linspace(0.0, walk.period, count)
    trunks = trunk_after(biped, walk, trunk, times)
    states = [state(biped, walk, t, y) for t, y in zip(times, trunks, strict=True)]
    return Step(times, tuple(walk.phase(t) for t in times), np.array([s[0] for s in states]),
                np.array([s[1] for s in states]),
                tuple(motion(biped, walk, t, y) for t, y in zip(times, trunks, strict=True)))
