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
"""Uniform beams pinned at x = 0: pinned-pinned and pinned-free bending modes."""
from __future__ import annotations

from functools import cache

import numpy as np
from scipy.optimize import brentq

from flex_description.shapes.beam_functions import BeamFunctions


def pinned_pinned(length: float, count: int) -> BeamFunctions:
    """Raw modes sin(k pi x / L)."""
    roots = np.pi * np.arange(1, count + 1, dtype=float)
    return BeamFunctions(length, roots / length, np.tile([0.0, 1.0, 0.0, 0.0], (count, 1)))


@cache
def pinned_free_root(mode: int) -> float:
    """bL of the elastic mode 1, 2, ...: tan bL = tanh bL; the rigid rotation, bL = 0, is left out
    because the joint is that coordinate."""
    return float(brentq(lambda b: np.sin(b) - np.cos(b) * np.tanh(b), mode * np.pi,
                        (mode + 0.5) * np.pi, xtol=1e-15, rtol=1e-15))


def pinned_free(length: float, count: int) -> BeamFunctions:
    """Raw modes sin(b x) + sin(bL) sinh(b x) / sinh(bL)."""
    roots = np.array([pinned_free_root(k + 1) for k in range(count)])
    decay = np.exp(-roots)
    share = np.sin(roots) / (1.0 - decay**2)
    ones, zeros = np.ones(count), np.zeros(count)
    return BeamFunctions(length, roots / length,
                         np.column_stack([zeros, ones, -share * decay, share]))
