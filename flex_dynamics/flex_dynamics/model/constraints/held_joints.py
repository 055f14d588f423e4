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
"""Equilibria, frequencies and inverse dynamics on the constraints, some joints being held."""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import eigh

from flex_dynamics import checks
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.checks import LARGEST, LARGEST_POSITION
from flex_dynamics.errors import DynamicsError
from flex_dynamics.kernels.base import layout
from flex_dynamics.model.constraints.closing import close
from flex_dynamics.model.constraints.linearization import constrained_slopes
from flex_dynamics.model.constraints.terms import terms
from flex_dynamics.model.derivatives.frames import load_slope
from flex_dynamics.model.loads import Loads, generalised_force, point_wrenches

if TYPE_CHECKING:
    from flex_dynamics.model.data import Data
    from flex_dynamics.model.model import Model

SMALLEST = 1e-9         # singular value of scaled rows, relative, below which it counts as zero
MOST_STEPS = 50


class DriveEfforts(NamedTuple):
    """tau (n_joints,): efforts of the held joints, zero for the others; acceleration (n,) and
    multipliers (m,) of the constraints with them."""

    tau: Array
    acceleration: Array
    multipliers: Array


def independent_joints(model: Model, q: ArrayLike, data: Data) -> tuple[str, ...]:
    """Joint coordinates that determine all others at q as if links were rigid: the first ones in
    tree order, passive joints and a moving base last."""
    joints = model.n_joints
    rows = _scaled(terms(model, q, np.zeros(model.n), data).A[:, :joints])
    passive = [model.names.index(joint.name) for joint in model.robot.joints if joint.passive]
    base = [row[layout.Q] + k for row in model.assembly.packed.table if row[layout.DOF] > 1
            for k in range(row[layout.DOF])]
    found: list[int] = []
    rank = _rank(rows)
    for j in [*(j for j in range(joints) if j not in base + passive), *passive, *base]:
        more = np.vstack((rows, np.eye(joints)[j]))
        if _rank(more) > rank:
            rows, rank = more, rank + 1
            found.append(j)
    return tuple(model.names[j] for j in found)


def free_directions(model: Model, q: ArrayLike, held: Iterable[str], data: Data) -> Array:
    """Speeds (n, freedom) that constraints and held coordinates allow; columns M-orthonormal."""
    places = _places(model, held)
    A = terms(model, q, np.zeros(model.n), data).A
    root = np.linalg.cholesky(model.mass_matrix(q, data))
    rows = _scaled(np.linalg.solve(root, np.vstack((A, np.eye(model.n)[places])).T).T)
    _, values, vectors = np.linalg.svd(rows) if len(rows) else (0, np.zeros(0), np.eye(model.n))
    rank = int((values > SMALLEST * values.max(initial=0.0)).sum())
    directions: Array = np.linalg.solve(root.T, vectors[rank:].T)
    return directions


def frequencies(model: Model, q: ArrayLike, held: Iterable[str], stiffness: Array,
                data: Data) -> tuple[Array, Array]:
    """Frequencies (rad/s) and mass-normalised shapes (n, count) of M and K on the constraints."""
    free = free_directions(model, q, held, data)
    if not free.shape[1]:
        return np.zeros(0), free
    reduced = free.T @ stiffness @ free
    squares, vectors = eigh(0.5 * (reduced + reduced.T))
    return np.sqrt(np.maximum(squares, 0.0)), free @ vectors


def statics(model: Model, q_joints: ArrayLike, wrenches: Loads | None, held: Iterable[str] | None,
            data: Data) -> tuple[Array, Array]:
    """Equilibrium with the joints in `held` where q_joints has them: Newton on all other
    coordinates, the multipliers and the efforts of the held joints."""
    n, joints = model.n, model.n_joints
    q = np.zeros(n)
    q[:joints] = model.finite_vector(q_joints, 'q_joints', joints, LARGEST_POSITION)
    names = (independent_joints(model, q, data) if held is None
             else checks.names(held, 'held', model.joint_names, 'joint coordinates'))
    q = close(model, q, LARGEST, names, data).q
    places = _places(model, names)
    free = np.setdiff1d(np.arange(n), places)
    loads = None if wrenches is None else point_wrenches(model, wrenches)
    inputs = model.input_matrix()[:, places]
    holonomic = model.assembly.constraints.holonomic
    zero = np.zeros(n)
    multipliers, efforts = np.zeros(len(holonomic)), np.zeros(len(places))

    def residual(full: Array) -> Array:
        force: Array = (model.inverse_dynamics(full, zero, zero, data)
                        - terms(model, full, zero, data).A.T @ multipliers
                        - generalised_force(model, full, loads, data))
        return force

    scale = 1.0 / np.sqrt(np.diag(model.mass_matrix(q, data)) + np.diag(model.stiffness_matrix()))
    for _ in range(MOST_STEPS):
        slope = (model.backend.force_derivatives(q, zero, zero, data)[0]
                 + model.stiffness_matrix())[:, free]
        if loads is not None:
            slope -= load_slope(model, q, loads, data)[:, free]
        if len(multipliers):
            slope -= constrained_slopes(model, q, zero, zero, multipliers, data)[0][:, free]
        arrays = terms(model, q, zero, data)
        A, error = arrays.A.copy(), np.where(holonomic, arrays.error, 0.0)
        matrix = np.block([[slope, -A.T, -inputs],
                           [A[:, free], np.zeros((len(A), len(A) + len(places)))]])
        right = np.concatenate((-residual(q) + inputs @ efforts, -error))
        rows = np.concatenate((scale, np.ones(len(A))))
        columns = np.concatenate((scale[free], np.ones(len(A)), np.ones(len(places))))
        step = columns * np.linalg.lstsq(rows[:, None] * matrix * columns, rows * right,
                                         rcond=1e-12)[0]
        q[free] += step[:len(free)]
        multipliers += step[len(free):len(free) + len(A)]
        efforts += step[len(free) + len(A):]
        if not np.abs(q).max(initial=0.0) < 0.5 * LARGEST_POSITION:
            break
        if np.abs(step[:len(free)]).max(initial=0.0) < 1e-10 * max(1.0, np.abs(q).max()):
            left = residual(q) - inputs @ efforts
            size = max(1.0, np.abs(model.bias_force(q, zero, data)).max(),
                       np.abs(efforts).max(initial=0.0))
            if np.abs(left).max() < 1e-6 * size:
                tau = np.zeros(joints)
                tau[places] = efforts
                return q, tau
            break
    raise DynamicsError(f'statics: expected an equilibrium with {", ".join(names) or "no joint"} '
                        f'held, found none in {MOST_STEPS} Newton steps; hold more joints, or try '
                        'smaller loads')


def inverse_dynamics(model: Model, q: ArrayLike, v: ArrayLike, a_held: ArrayLike,
                     held: Iterable[str], data: Data) -> DriveEfforts:
    """Efforts of the held joints that give them the accelerations a_held, all else following."""
    q, v = checks.state(model, q, v)
    names = checks.names(held, 'held', model.joint_names, 'joint coordinates')
    a_held = model.finite_vector(a_held, 'a_held', len(names))
    places, n = _places(model, names), model.n
    arrays = terms(model, q, v, data)
    A, bias = arrays.A.copy(), arrays.A_rate @ v
    M = model.mass_matrix(q, data)
    inputs = model.input_matrix()[:, places]
    force = model.inverse_dynamics(q, v, np.zeros(n), data)
    size = len(A) + len(places)
    matrix = np.block([[M, -A.T, -inputs], [A, np.zeros((len(A), size))],
                       [np.eye(n)[places], np.zeros((len(places), size))]])
    right = np.concatenate((-force, -bias, a_held))
    scale = 1.0 / np.sqrt(np.diag(M))
    rows = np.concatenate((scale, np.ones(size)))
    found = rows * np.linalg.lstsq(rows[:, None] * matrix * rows, rows * right, rcond=1e-12)[0]
    left = rows * (matrix @ found - right)
    if np.abs(left).max() > 1e-7 * max(1.0, np.abs(rows * right).max()):
        raise DynamicsError(f'held: expected joints whose accelerations are independent, found '
                            f'{", ".join(names)}; the constraints allow no such motion')
    tau = np.zeros(model.n_joints)
    tau[places] = found[n + len(A):]
    return DriveEfforts(tau, found[:n], found[n:n + len(A)])


def _places(model: Model, held: Iterable[str]) -> Array:
    names = checks.names(held, 'held', model.names, 'coordinates')
    return np.array([model.names.index(name) for name in names], dtype=int)


def _scaled(rows: Array) -> Array:
    sizes = np.linalg.norm(rows, axis=1)
    scaled: Array = rows[sizes > 1e-12] / sizes[sizes > 1e-12, None]
    return scaled


def _rank(rows: Array) -> int:
    return int(np.linalg.matrix_rank(rows, tol=1e-7)) if rows.size else 0
