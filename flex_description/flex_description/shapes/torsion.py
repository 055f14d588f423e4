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
"""Twist modes of a uniform shaft held at x = 0: raw modes sin(b x)."""
from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from flex_description.math import Array
from flex_description.shapes.beam_functions import BeamFunctions


def _sines(length: float, roots: Array) -> BeamFunctions:
    return BeamFunctions(length, roots / length, np.tile([0.0, 1.0, 0.0, 0.0], (roots.size, 1)))


def torsion_clamped_clamped(length: float, count: int) -> BeamFunctions:
    """sin(k pi x / L)."""
    return _sines(length, np.pi * np.arange(1, count + 1, dtype=float))


def torsion_clamped_inertia(length: float, count: int, inertia: float = 0.0) -> BeamFunctions:
    """A shaft with a disc at its end: cot bL = inertia bL, inertia = J / (rho Ip L).

    inertia 0 is the free end, bL = (2k - 1) pi / 2. Each root lies between (k - 1) pi, where the
    disc is too heavy to turn, and that.
    """
    roots = np.pi * (np.arange(1, count + 1, dtype=float) - 0.5)
    if inertia > 0.0:
        roots = np.array([
            brentq(lambda b: np.cos(b) - inertia * b * np.sin(b), root - 0.5 * np.pi, root,
                   xtol=1e-15, rtol=1e-15) for root in roots])
    return _sines(length, roots)
