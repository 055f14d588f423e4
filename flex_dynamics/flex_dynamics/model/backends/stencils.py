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
"""Differences for backends without kernels of derivatives: exported functions.

I(q, v, a) = M a + C v + g has no poles: in a joint angle it has few harmonics, in an amplitude it
is a low power times the sine and cosine of the turn of a section. So a stencil of eighth order
errs by 1e-13 with a step as large as 1/64 rad, at which rounding does no harm. In v it is a
quadratic form, for which central differences are exact with any step.
"""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flex_dynamics.arrays import Array
from flex_dynamics.build.assemble import Assembly
from flex_dynamics.build.linear_beam import largest_turn
from flex_dynamics.kernels.base import layout

STEP = 1.0 / 64.0                # rad that a joint or a section turns
SPEED = 1.0                      # rad/s, or the largest speed if that is more
# Central differences of eighth order: weights of f(x + k h) - f(x - k h), k = 1 ... 4, by h
WEIGHTS = (4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0)
Force = Callable[[Array, Array, Array], Array]


def by_position(force: Force, q: Array, v: Array, a: Array, steps: Array) -> Array:
    """dI/dq (n, n) at constant a."""
    slope = np.zeros((len(q), len(q)))
    moved = q.copy()
    for j, step in enumerate(steps):
        for k, weight in enumerate(WEIGHTS, 1):
            moved[j] = q[j] + k * step
            ahead = force(moved, v, a)
            moved[j] = q[j] - k * step
            slope[:, j] += weight / step * (ahead - force(moved, v, a))
        moved[j] = q[j]
    return slope


def by_speed(force: Force, q: Array, v: Array, units: Array) -> Array:
    """dI/dv (n, n): exact but for rounding. units (n,): what to count a speed in."""
    still = np.zeros(len(q))
    slope = np.zeros((len(q), len(q)))
    steps = units * max(SPEED, float(np.max(np.abs(v) / units, initial=0.0)))
    moved = v.copy()
    for j, step in enumerate(steps):
        moved[j] = v[j] + step
        ahead = force(q, moved, still)
        moved[j] = v[j] - step
        slope[:, j] = (ahead - force(q, moved, still)) / (2.0 * step)
        moved[j] = v[j]
    return slope


def turns(assembly: Assembly) -> Array:
    """By how much a unit of each coordinate turns something, rad: sets the size of its steps."""
    found = np.ones(len(assembly.names))
    for node, fields in assembly.packed.fields.items():
        start = assembly.packed.table[node, layout.ELASTIC]
        found[start:start + fields.n_modes] = largest_turn(fields)
    return found
