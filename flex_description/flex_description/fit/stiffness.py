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
"""Factors of a beam's stiffness for which it has the stiffness or the frequency that is known."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from flex_description.beam import Beam
from flex_description.link_modes import link_matrices
from flex_description.math import gauss_stations
from flex_description.robot import FlexibleLink, LumpedMass


class FitError(ValueError):
    """What is asked for cannot be had; the message says what can."""


def end_stiffness(beam: Beam | FlexibleLink) -> tuple[float, float, float]:
    """Force per deflection along y and along z (N/m) and torque per twist (N m/rad) at the end of
    the clamped beam: the inverse of the integrals of (L - x)^2 / (E I) and of 1 / (G J)."""
    x, weight = gauss_stations(beam.breakpoints, 16)
    at = beam.properties(x)
    arm = weight * (beam.length - x)**2
    return (float(1 / np.sum(arm / at.bending_stiffness_z)),
            float(1 / np.sum(arm / at.bending_stiffness_y)),
            float(1 / np.sum(weight / at.torsion_stiffness)))


def frequency_factor(link: FlexibleLink, loads: Sequence[LumpedMass], frequency: float,
                     twist: bool) -> float:
    """Factor of the bending stiffness for which the clamped link's first frequency (Hz) is this.

    loads: what it carries. twist: whether the factor holds for the torsion stiffness, too. The
    shapes are the link's own, so that a model with these shapes has this frequency exactly.
    """
    M, K = link_matrices(link, loads)
    square = (2.0 * np.pi * frequency)**2
    n = link.bend_y.count + link.bend_z.count
    if n == 0 and not twist:
        raise FitError('bending shapes, whose stiffness is found, but there are none')
    inertia = square * M
    if not twist and n < len(K):
        # f K_b + K_t - w^2 M is positive semidefinite, just: Schur's complement on bending.
        left = K[n:, n:] - inertia[n:, n:]
        highest = np.sqrt(max(eigh(K[n:, n:], M[n:, n:], eigvals_only=True)[0], 0.0))
        if highest <= 2.0 * np.pi * frequency:
            raise FitError(f'a frequency below {highest / (2 * np.pi):.6g} Hz, that of twist '
                           'alone')
        coupling = inertia[:n, n:]
        inertia = inertia[:n, :n] + coupling @ cho_solve(cho_factor(left), coupling.T)
        K = K[:n, :n]
    return float(eigh(inertia, K, eigvals_only=True)[-1])
