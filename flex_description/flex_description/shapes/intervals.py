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
"""Bounds of functions on intervals, to prove that a formula has no pole between two stations.

Bounds are a pair of arrays (k,), lowest and highest value on each of k intervals; NaN where the
function or its derivatives may not be defined. They may be wider than the function's own range,
but narrow with the intervals (Moore 1966).
"""
from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from flex_description.math import Array

Bounds = tuple[Array, Array]


def add(a: Bounds, b: Bounds, sign: float) -> Bounds:
    return (a[0] + b[0], a[1] + b[1]) if sign > 0.0 else (a[0] - b[1], a[1] - b[0])


def multiply(a: Bounds, b: Bounds) -> Bounds:
    products = np.array([a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]])
    return products.min(axis=0), products.max(axis=0)


def _where(defined: NDArray[np.bool_], low: Array, high: Array) -> Bounds:
    return np.where(defined, low, np.nan), np.where(defined, high, np.nan)


def inverse(a: Bounds) -> Bounds:
    return _where((a[0] > 0.0) | (a[1] < 0.0), 1.0 / a[1], 1.0 / a[0])


def power(a: Bounds, b: Bounds) -> Bounds:
    """a^b; a whole exponent of any base, another one of positive bases only."""
    n = float(b[0].flat[0])
    if not np.all((b[0] == n) & (b[1] == n)):
        low, high = multiply(b, (np.log(a[0]), np.log(a[1])))
        return _where(a[0] > 0.0, np.exp(low), np.exp(high))
    if n < 0.0:
        return inverse(power(a, (-b[0], -b[1])))
    low, high = a[0]**n, a[1]**n
    if n % 1.0:
        # below 2 the curvature has a pole at zero
        return _where(a[0] > 0.0 if n < 2.0 else a[0] >= 0.0, low, high)
    if n % 2.0:
        return low, high
    least = np.where((a[0] <= 0.0) & (a[1] >= 0.0), 0.0 if n else 1.0, np.minimum(low, high))
    return least, np.maximum(low, high)


def _sin(u: Bounds) -> Bounds:
    ends = np.sin(u[0]), np.sin(u[1])

    def holds(angle: float) -> NDArray[np.bool_]:
        """Whether the interval contains angle + 2 k pi."""
        turns = np.ceil((u[0] - angle) / (2.0 * np.pi))
        found: NDArray[np.bool_] = angle + 2.0 * np.pi * turns <= u[1]
        return found
    return (np.where(holds(-0.5 * np.pi), -1.0, np.minimum(*ends)),
            np.where(holds(0.5 * np.pi), 1.0, np.maximum(*ends)))


def _cosh(u: Bounds) -> Bounds:
    ends = np.cosh(u[0]), np.cosh(u[1])
    return (np.where((u[0] <= 0.0) & (u[1] >= 0.0), 1.0, np.minimum(*ends)), np.maximum(*ends))


FUNCTIONS: dict[str, Callable[[Bounds], Bounds]] = {
    'sin': _sin,
    'cos': lambda u: _sin((u[0] + 0.5 * np.pi, u[1] + 0.5 * np.pi)),
    'sinh': lambda u: (np.sinh(u[0]), np.sinh(u[1])),
    'cosh': _cosh,
    'exp': lambda u: (np.exp(u[0]), np.exp(u[1])),
    # the slope has a pole where the root is zero
    'sqrt': lambda u: _where(u[0] > 0.0, np.sqrt(u[0]), np.sqrt(u[1])),
}


def undefined_near(bounds: Callable[[Array, Array], Bounds], length: float,
                   ) -> float | None:
    """A station of [0, length] near which a function may not be defined, or None.

    bounds: of the function, on intervals (k,) from low to high. Intervals are halved until each
    has finite bounds, or is too short for a pole to be told from rounding.
    """
    edges = np.linspace(0.0, length, 129)
    low, high = edges[:-1], edges[1:]
    while True:
        with np.errstate(all='ignore'):
            found = np.isfinite(bounds(low, high)).all(axis=0)
        low, high = low[~found], high[~found]
        if not low.size:
            return None
        if high[0] - low[0] < 1e-9 * length or low.size > 4096:
            return float(0.5 * (low[0] + high[0]))
        middle = 0.5 * (low + high)
        low, high = np.stack([low, middle], 1).ravel(), np.stack([middle, high], 1).ravel()
