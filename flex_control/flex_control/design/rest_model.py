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
"""The robot linearised about rest: M dv/dt + D v + K dq = B dtau, and its modes."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from flex_control.commanded_joints import commanded_places
from flex_control.incremental import Pieces
from flex_dynamics import Model

SMALLEST = 1e-9      # singular value, relative, of what efforts do on the constraints
LEAST_RATE = 1.0     # rad/s: scales the positions of modes that no spring holds


@dataclass(frozen=True)
class RestModel:
    """Second-order terms at an equilibrium q (n,), and mass-normalised modes.

    M, K, D (n, n): K has the slope of gravity, K and D what the drives add. shapes (n, f): columns
    phi with phi' M phi = 1, phi' K phi = squares (f,), rising, (rad/s)^2, negative where the arm
    would fall. Scaled coordinates z = (scale * p, dp/dt) with p = shapes' M dq have energy 1/2 z'z
    for every mode with a spring: numbers of one size, from joints to modes of a kilohertz.

    There are as many modes as coordinates, with constraints as many as freedoms: the shapes are
    a basis of the motions that the constraints allow, and K has the slope of their forces.
    """

    q: np.ndarray
    M: np.ndarray
    K: np.ndarray
    D: np.ndarray
    B: np.ndarray
    shapes: np.ndarray
    squares: np.ndarray

    @property
    def scale(self) -> np.ndarray:
        """Rates (f,), rad/s, by which positions of modes are scaled."""
        rates: np.ndarray = np.sqrt(np.maximum(np.abs(self.squares), LEAST_RATE**2))
        return rates

    @property
    def projection(self) -> np.ndarray:
        """shapes' M (f, n): positions or speeds of coordinates to those of modes."""
        projection: np.ndarray = self.shapes.T @ self.M
        return projection

    def kept(self, highest: float) -> int:
        """How many modes lie below `highest` (rad/s)."""
        return int(np.searchsorted(self.squares, highest**2))

    def state_space(self, modes: int) -> tuple[np.ndarray, np.ndarray]:
        """A (2 m, 2 m), B (2 m, n_joints) of the first m = `modes` modes in scaled coordinates."""
        scale, shapes = self.scale[:modes], self.shapes[:, :modes]
        A = np.zeros((2 * modes, 2 * modes))
        A[:modes, modes:] = np.diag(scale)
        A[modes:, :modes] = np.diag(-self.squares[:modes] / scale)
        A[modes:, modes:] = -shapes.T @ self.D @ shapes
        return A, np.vstack((np.zeros((modes, self.B.shape[1])), shapes.T @ self.B))


def rest_model(model: Model, q: np.ndarray, drive_stiffness: np.ndarray,
               drive_damping: np.ndarray) -> Pieces[RestModel]:
    """Linearise at the equilibrium q (n,) with drives (n_joints,) closed; in pieces.

    The same as `model.linearize` at rest, but without Coulomb friction, whose slope at rest would
    promise a damping that motion does not have.
    """
    if model.robot.constraints:
        made = yield from _constrained(model, q, drive_stiffness, drive_damping)
        return made
    B = np.asarray(model.input_matrix(q))
    slope = model.gravity_force_derivative(q)
    yield
    K = model.stiffness_matrix() + 0.5 * (slope + slope.T) + (B * drive_stiffness) @ B.T
    D = model.damping_matrix() + (B * drive_damping) @ B.T
    M = model.mass_matrix(q)
    yield
    squares, shapes = eigh(K, M, check_finite=False)
    yield
    return RestModel(q.copy(), M, K, D, B, shapes, squares)


def _constrained(model: Model, q: np.ndarray, drive_stiffness: np.ndarray,
                 drive_damping: np.ndarray) -> Pieces[RestModel]:
    """The same on the constraints, at the closed position nearest to q (n,)."""
    places = commanded_places(model)
    q = np.asarray(model.close(q).q)
    inputs = np.zeros((model.n, model.n_joints))
    inputs[:, places] = np.asarray(model.input_matrix(q))[:, places]
    still = np.zeros(model.n)
    yield
    # the efforts at rest, in the directions that the constraints leave
    free = model.free_directions(q)
    load = free.T @ model.inverse_dynamics(q, still, still)
    effort = np.linalg.lstsq(free.T @ inputs, load, rcond=SMALLEST)[0]
    yield
    slope = model.linearize(q, still, effort)[0][model.n:, :model.n]
    yield
    M = np.asarray(model.mass_matrix(q))
    K = -M @ slope + (inputs * drive_stiffness) @ inputs.T
    D = model.damping_matrix() + (inputs * drive_damping) @ inputs.T
    reduced = free.T @ K @ free
    squares, vectors = np.linalg.eigh(0.5 * (reduced + reduced.T))
    yield
    return RestModel(q, M, K, D, inputs, free @ vectors, squares)
