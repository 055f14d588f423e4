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
"""Positions and speeds on the constraints: closing what nearly closes, and saying by how much."""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from flex_description import Loop, Wheel
from flex_dynamics import checks
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.errors import DynamicsError
from flex_dynamics.model.constraints.terms import terms

if TYPE_CHECKING:
    from flex_dynamics.kernels.constraints.constraint_arrays import Constraints
    from flex_dynamics.model.data import Data
    from flex_dynamics.model.model import Model

CLOSED = 1e-13          # m or rad that rounding leaves
MOST_STEPS = 50
FLAT = 1.0 - 1e-9       # cosine of a wheel's axis and the ground's normal: it lies on the ground
SMALLEST = 1e-9         # singular value of scaled rows, relative, below which it counts as zero


class Closing(NamedTuple):
    """q (n,): positions on the constraints. distance (m) and angle (rad): the largest errors
    before; worst: the row that had the largest."""

    q: Array
    distance: float
    angle: float
    worst: str


def close(model: Model, q: ArrayLike, reach: float, held: Iterable[str], data: Data) -> Closing:
    """The nearest closed position: Newton with the least motion in the metric M + K (1 s)^2, so
    that joints move and beams do not bend.

    DynamicsError if a constraint misses by more than `reach` (m or rad), or cannot be closed.
    """
    found = np.array(checks.position(model, q))
    reach = checks.positive(reach, 'reach', 'a positive distance in m (rad for angles)')
    free = _free(model, held)
    set_ = model.assembly.constraints
    arrays = terms(model, found, np.zeros(model.n), data)
    _check_directions(model, arrays)
    error = arrays.error.copy()
    worst = int(np.argmax(np.abs(error))) if len(error) else 0
    before = Closing(found, float(np.abs(error[~set_.angular]).max(initial=0.0)),
                     float(np.abs(error[set_.angular]).max(initial=0.0)),
                     set_.names[worst] if len(error) else '')
    if len(error) and abs(error[worst]) > reach:
        raise DynamicsError(f'{_what(model, worst)}: expected a constraint that is met at the '
                            f'start to {reach:g} {_unit(model, worst)}, found '
                            f'{abs(error[worst]):.4g} {_unit(model, worst)} '
                            f'({set_.names[worst]}); correct the start pose or the frames')
    if np.abs(error).max(initial=0.0) <= CLOSED:
        return before
    root = np.linalg.cholesky((model.mass_matrix(found, data)
                               + model.stiffness_matrix())[np.ix_(free, free)])
    least = np.inf
    for _ in range(MOST_STEPS):
        arrays = terms(model, found, np.zeros(model.n), data)
        error = np.where(set_.holonomic, arrays.error, 0.0)
        size = float(np.abs(error).max(initial=0.0))
        # Newton converges quadratically: once rounding stops it, it is done.
        if size <= CLOSED or (size < 1e-11 and size >= least):
            return Closing(found, before.distance, before.angle, before.worst)
        least = min(least, size)
        A = arrays.A[set_.holonomic][:, free].copy()
        scaled = np.linalg.solve(root, A.T)
        step = -np.linalg.pinv(scaled.T, rcond=SMALLEST) @ error[set_.holonomic]
        if not np.abs(step).max(initial=0.0) < 1e6:
            break
        found[free] += np.linalg.solve(root.T, step)
    worst = int(np.argmax(np.abs(error)))
    raise DynamicsError(f'{_what(model, worst)}: expected constraints that can be met together, '
                        f'found {abs(error[worst]):.4g} {_unit(model, worst)} that no motion '
                        f'closes ({set_.names[worst]}); they contradict each other, or the pose '
                        'is out of reach')


def admissible_speeds(model: Model, q: ArrayLike, v: ArrayLike, data: Data) -> Array:
    """The speeds (n,) on the constraints that are nearest to v in kinetic energy, as after an
    inelastic impact."""
    q, v = checks.state(model, q, v)
    A = terms(model, q, np.zeros(model.n), data).A.copy()
    if not A.size:
        return v.copy()
    root = np.linalg.cholesky(model.mass_matrix(q, data))
    scaled = np.linalg.solve(root, A.T).T
    sizes = np.linalg.norm(scaled, axis=1)
    scaled /= np.where(sizes > 0.0, sizes, 1.0)[:, None]
    moved: Array = root.T @ v
    for _ in range(2):      # twice is enough for rounding
        moved = moved - np.linalg.pinv(scaled, rcond=SMALLEST) @ (scaled @ moved)
    result: Array = np.linalg.solve(root.T, moved)
    return result


def _check_directions(model: Model, arrays: Constraints) -> None:
    """DynamicsError for wheels and distances that have no direction where they are: a wheel flat
    on the ground, an upright knife edge, a distance between points that coincide."""
    for part in model.assembly.constraints.parts:
        record, second = part.record, arrays.poses[part.second]
        if isinstance(record, Wheel) and (record.radius > 0.0 or record.type == 'knife_edge'):
            axis = second[:9].reshape(3, 3) @ record.axis
            if abs(axis @ record.normal) > FLAT:
                expected = ('a knife edge that points along' if record.type == 'knife_edge' else
                            'a wheel that stands on')
                raise DynamicsError(
                    f'wheel {record.name!r}: expected {expected} the ground, found its axis along '
                    "the ground's normal; correct axis, rpy, normal or the start pose")
        if isinstance(record, Loop) and record.length is not None:
            apart = float(np.linalg.norm(second[9:] - arrays.poses[part.first][9:]))
            if apart < 1e-3 * record.length:
                raise DynamicsError(
                    f'loop {record.name!r}: expected points {record.length:g} m apart, found '
                    f'{apart:.3g} m, of which no direction follows; correct the start pose or '
                    'the frames')


def _free(model: Model, held: Iterable[str]) -> Array:
    names = checks.names(held, 'held', model.names, 'coordinates')
    return np.array([k for k, name in enumerate(model.names) if name not in names], dtype=int)


def _what(model: Model, row: int) -> str:
    for part in model.assembly.constraints.parts:
        if part.start <= row < part.stop:
            return f'{type(part.record).__name__.lower()} {part.record.name!r}'
    return 'constraint'


def _unit(model: Model, row: int) -> str:
    return 'rad' if model.assembly.constraints.angular[row] else 'm'
