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
"""Uniform beams clamped at x = 0: clamped-clamped, clamped-free and clamped-mass bending modes.

With z = b x the modes are phi = A(z) + d B(z), both of them clamped:
    A = cosh z - sinh z - cos z + sin z = e^-z - cos z + sin z
    B = e^-bL (e^z - e^-z - 2 sin z)
which is the textbook's cosh z - cos z - s (sinh z - sin z) with s = 1 - 2 d e^-bL.
"""
from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.optimize import brentq

from flex_description.math import Array
from flex_description.shapes.base import ShapeError
from flex_description.shapes.beam_functions import BeamFunctions


def _end_values(root: float) -> Array:
    """(4, 2): derivatives 0 to 3 with respect to z of A and B at z = root = bL."""
    cos, sin, decay = np.cos(root), np.sin(root), np.exp(-root)
    square = decay * decay
    return np.array([
        [decay - cos + sin, 1.0 - square - 2.0 * decay * sin],
        [-decay + sin + cos, 1.0 + square - 2.0 * decay * cos],
        [decay + cos - sin, 1.0 - square + 2.0 * decay * sin],
        [-decay - sin - cos, 1.0 + square + 2.0 * decay * cos]])


def _beam_functions(length: float, roots: Array,
                    conditions: Callable[[float], Array]) -> BeamFunctions:
    """Modes that meet the two end conditions: conditions(root) @ end values = 0, (2, 4)."""
    rows = []
    for root in roots:
        of_a, of_b = (conditions(root) @ _end_values(root)).T
        # the end condition with the largest factor of B avoids cancellation
        row = int(np.argmax(np.abs(of_b)))
        share = -of_a[row] / of_b[row]
        decay = np.exp(-root)
        rows.append([-1.0, 1.0 - 2.0 * share * decay, 1.0 - share * decay, share])
    return BeamFunctions(length, roots / length, np.array(rows))


@cache
def clamped_clamped_root(mode: int) -> float:
    """bL of mode 1, 2, ...: cos bL cosh bL = 1."""
    return float(brentq(lambda b: np.cos(b) - 1.0 / np.cosh(b), mode * np.pi,
                        (mode + 1.0) * np.pi, xtol=1e-15, rtol=1e-15))


@cache
def clamped_free_root(mode: int) -> float:
    """bL of mode 1, 2, ...: cos bL cosh bL = -1."""
    return float(brentq(lambda b: np.cos(b) + 1.0 / np.cosh(b), (mode - 1.0) * np.pi,
                        mode * np.pi, xtol=1e-15, rtol=1e-15))


def clamped_clamped(length: float, count: int) -> BeamFunctions:
    """Raw modes (coefficient of cos -1) of a beam clamped at both ends."""
    roots = np.array([clamped_clamped_root(k + 1) for k in range(count)])
    return _beam_functions(length, roots, lambda root: np.eye(4)[:2])


def clamped_free(length: float, count: int) -> BeamFunctions:
    """Raw modes of a cantilever."""
    roots = np.array([clamped_free_root(k + 1) for k in range(count)])
    return _beam_functions(length, roots, lambda root: np.eye(4)[2:])


def clamped_mass(length: float, count: int, mass: float, coupling: float,
                 inertia: float) -> BeamFunctions:
    """Raw modes of a cantilever with a rigid body at its end.

    mass = m / (rho A L), coupling = m c / (rho A L^2), inertia = J / (rho A L^3), J about the end.
    With z = b x: phi''' + bL mass phi + (bL)^2 coupling phi' = 0 and
    phi'' - (bL)^2 coupling phi - (bL)^3 inertia phi' = 0 at the end.
    """
    def conditions(root: float) -> Array:
        shear = np.array([root * mass, root**2 * coupling, 0.0, 1.0])
        moment = np.array([-root**2 * coupling, -root**3 * inertia, 1.0, 0.0])
        return np.array([shear / np.abs(shear).max(), moment / np.abs(moment).max()])

    def characteristic(root: float) -> float:
        (a, b), (c, d) = conditions(root) @ _end_values(root)
        return float(a * d - b * c)

    def below(root: float) -> int:
        """Number of frequencies below (Wittrick and Williams 1971): those of the beam with its
        end held, and the negative eigenvalues of the end's dynamic stiffness."""
        end = _end_values(root)
        held = sum(clamped_clamped_root(k + 1) < root for k in range(count + 2))
        stiffness = np.array([-end[3], end[2]]) @ np.linalg.inv(end[:2])
        stiffness -= np.array([[root * mass, root**2 * coupling],
                               [root**2 * coupling, root**3 * inertia]])
        return held + int(np.sum(np.linalg.eigvalsh(0.5 * (stiffness + stiffness.T)) < 0.0))

    roots = []
    # the sum of all 1 / (bL)^4 is the trace of flexibility times mass, so no root lies below this
    least = 0.99 * (1.0 / 12.0 + mass / 3.0 + coupling + inertia)**-0.25
    for mode in range(1, count + 1):
        # a tip body lowers every frequency of the cantilever
        low, high = least, clamped_free_root(mode) * (1.0 + 1e-9)
        below_low, below_high = 0, below(high)
        while below_low != mode - 1 or below_high != mode:
            middle = 0.5 * (low + high)
            if high - low < 1e-11:
                raise ShapeError(f'clamped-mass: modes {mode - 1} and {mode} have the same '
                                 "frequency with this tip load; use basis 'fe'")
            number = below(middle)
            if number >= mode:
                high, below_high = middle, number
            else:
                low, below_low = middle, number
        roots.append(brentq(characteristic, low, high, xtol=1e-15, rtol=1e-15))
    return _beam_functions(length, np.array(roots), conditions)
