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
"""Dual lines, screw transformations and dual projection matrices (Cibicik and Egeland, IV, V).

A dual twist or line is [omega; v] (12,), omega and v dual vectors [real; dual] (6,). A screw is
carried from frame j to frame i by a change of reference point, then of axes: (65), (66).
Equation (71) is corrected: a deflection along z turns a section about minus y.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flex_dynamics.papers.dual_groups import inverse_rotation, wedge


def real(vector: np.ndarray) -> np.ndarray:
    """A dual vector (6,) without a dual part."""
    return np.concatenate((vector, np.zeros(3)))


def hat(block: np.ndarray, first: np.ndarray | None = None) -> np.ndarray:
    """Inertia as products of dual vectors see it (6, 6): (99); first: its part of first order."""
    first = np.zeros((3, 3)) if first is None else first
    return np.block([[block + first, block], [block, np.zeros((3, 3))]])


def reference_transformation(p: np.ndarray) -> np.ndarray:
    """U (12, 12) that moves the reference point; p (6,) from the new point to the old: (60)."""
    return np.block([[np.eye(6), np.zeros((6, 6))], [wedge(p), np.eye(6)]])


def axes_transformation(X: np.ndarray) -> np.ndarray:
    """(12, 12) that changes axes by a dual rotation X (6, 6): (63)."""
    return np.block([[X, np.zeros((6, 6))], [np.zeros((6, 6)), X]])


def screw_transformation(X: np.ndarray, p: np.ndarray) -> np.ndarray:
    """V (12, 12): reference point by p (6,), then axes by X (6, 6): (66) for one step."""
    return axes_transformation(X) @ reference_transformation(p)


def interchanged(screw: np.ndarray) -> np.ndarray:
    """N times a screw (12,) or (12, k): real and dual parts change places: (70)."""
    return screw[[3, 4, 5, 0, 1, 2, 9, 10, 11, 6, 7, 8]]


def differentiation_operator(omega: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(12, 12) that times a dual line is the line's time derivative: (77). omega (6,): of the
    line's frame as seen from the axes' frame; v (6,): the auxiliary velocity (78)."""
    return np.block([[wedge(omega), np.zeros((6, 6))], [-wedge(v), wedge(omega)]])


@dataclass(frozen=True)
class Mover:
    """A coordinate: its angular velocity and the velocity of its frame, as seen at that frame."""

    coordinate: int
    rotation: np.ndarray      # (6, 6) dual rotation of the frame whose axes hold omega and v
    point: np.ndarray         # (6,) dual position of the frame that it moves
    omega: np.ndarray         # (3,)
    v: np.ndarray             # (3,)
    elastic: bool

    def line(self, rotation: np.ndarray, point: np.ndarray) -> np.ndarray:
        """Its dual screw (12,) at a point (6,), in the axes of a dual rotation (6, 6): (65)."""
        own = np.concatenate((real(self.omega), real(self.v)))
        arm = inverse_rotation(self.rotation) @ (self.point - point)
        between = inverse_rotation(rotation) @ self.rotation
        return screw_transformation(between, arm) @ own


def projection_matrix(movers: Sequence[Mover], n: int, rotation: np.ndarray, point: np.ndarray,
                      projecting: bool) -> np.ndarray:
    """P (12, n) at a point, in the axes of a rotation: projecting form (93), or Jacobian form
    (92), in which elastic speeds are of first order themselves."""
    P = np.zeros((12, n))
    for mover in movers:
        column = mover.line(rotation, point)
        if mover.elastic and not projecting:
            column = interchanged(column)
            column[:3] = column[6:9] = 0.0          # a product of two first-order quantities
        P[:, mover.coordinate] = column
    return P
