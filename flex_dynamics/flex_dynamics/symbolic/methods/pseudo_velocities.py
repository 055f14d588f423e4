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
"""Pseudo-velocities of a constrained robot: which speeds are free, A1, and the inverse of A.

pid = A qd with A = [A1; A2] (Mladenova (218), (239)). A pseudo-velocity is the rate of a
coordinate, by its name, or a component of the velocity of a frame in its own axes, such as
'platform:vx' or 'platform:wz', which keeps A1 regular at every heading.
"""
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from flex_dynamics.errors import DynamicsError
from flex_dynamics.kernels.base import layout
from flex_dynamics.model.model import Model
from flex_dynamics.symbolic.expressions.compact import Compact
from flex_dynamics.symbolic.expressions.stumpff import stumpff
from flex_dynamics.symbolic.expressions.tape import Tape
from flex_dynamics.symbolic.expressions.vectors import scalars
from flex_dynamics.symbolic.methods.constraint_rows import Frames

COMPONENTS = ('vx', 'vy', 'vz', 'wx', 'wy', 'wz')
SINGULAR = 1e-6       # smallest singular value of scaled rows, by the largest
# Which speeds are free rather than others: those of a base, its angular ones first, amplitudes,
# driven joints; wheels and joints without motor follow.
TURN, MOVE, ELASTIC, DRIVEN, LOOSE = range(5)
WELL = (0.05, 1e-3, SINGULAR)      # smallest singular values with which a choice is tried
NUMERIC = {'+': lambda a, b: a + b, '-': lambda a, b: a - b, '*': lambda a, b: a * b,
           'sin': math.sin, 'cos': math.cos, 'sqrt': math.sqrt, 'reciprocal': lambda a: 1.0 / a,
           'stumpff': stumpff}


def evaluated(tape: Tape, elements: np.ndarray, values: dict[str, float]) -> np.ndarray:
    """Numbers, in the shape of `elements`, for values of the symbols."""
    found = tape.read(list(elements.ravel()), values.__getitem__, float, NUMERIC)
    return np.array(found, dtype=float).reshape(elements.shape)


def row(frames: Frames, name: str) -> np.ndarray:
    """The row (n,) of a pseudo-velocity in A1."""
    model = frames.problem.model
    if name in model.names:
        out = scalars(model.n)
        out[model.names.index(name)] = 1.0
        return out
    frame, _, component = name.rpartition(':')
    if component not in COMPONENTS or not frame:
        raise DynamicsError(
            f'pseudo-velocity: expected a coordinate ({", ".join(model.names)}), or FRAME:vx, vy, '
            f'vz, wx, wy or wz, the velocity of a frame in its own axes, found {name!r}')
    return np.asarray(frames.twists(*model.carrier(frame), world=False)[
        COMPONENTS.index(component)])


def candidates(model: Model, frames: Frames) -> tuple[list[str], list[int]]:
    """n names of speeds that are independent in the tree, and what each is: rates of all
    coordinates, but of a base that is free the velocity in its own axes."""
    names = list(model.names)
    what = [DRIVEN if k < model.n_joints else ELASTIC for k in range(model.n)]
    wheels = {wheel.centre.frame for wheel in model.robot.wheels}
    for joint in model.robot.joints:
        if joint.name in names and (joint.passive or joint.child in wheels):
            what[names.index(joint.name)] = LOOSE
    for body in frames.problem.bodies:
        base = model.assembly.tree.nodes[body.index].joint
        if body.kind not in (layout.PLANAR, layout.FLOATING) or body.parent >= 0 or base is None:
            continue
        own = frames.twists(body.index, np.eye(4), world=False)
        moving = [c for c in range(6) if any(not isinstance(x, float) or x for x in own[c])]
        if len(moving) == len(body.coordinates):
            for k, component in zip(body.coordinates, moving):
                names[k] = f'{base.child}:{COMPONENTS[component]}'
                what[k] = MOVE if component < 3 else TURN
    return names, what


def found_names(model: Model, frames: Frames, A2: np.ndarray, values: dict[str, float],
                ) -> list[str]:
    """Names of free speeds from which all others follow. A2 (r, n): numbers at a position."""
    names, what = candidates(model, frames)
    T = evaluated(frames.problem.tape, np.array([row(frames, name) for name in names]), values)
    fixed = np.linalg.solve(T.T, A2.T).T
    fixed /= np.linalg.norm(fixed, axis=1, keepdims=True)
    order = sorted(range(model.n), key=what.__getitem__)
    for least in WELL:
        rows, free = fixed, list[int]()
        for k in order:
            more = np.vstack((rows, np.eye(model.n)[k]))
            if len(more) <= model.n and np.linalg.svd(more, compute_uv=False)[-1] > least:
                rows = more
                free.append(k)
        if len(rows) == model.n:
            return [names[k] for k in sorted(free)]
    raise DynamicsError(f'{model.robot.name}: expected speeds from which all others follow, found '
                        'none at this position, where the constraints are nearly singular; give '
                        'another pose')


def checked(names: Sequence[str], A1: np.ndarray, A2: np.ndarray) -> None:
    """DynamicsError if speeds and constraints, numbers at a position, do not determine all."""
    n = A2.shape[1]
    if len(names) != n - len(A2):
        raise DynamicsError(f'pseudo-velocities: expected {n - len(A2)}, the degrees of freedom, '
                            f'found {len(names)}: {", ".join(names)}')
    if not independent(A1, A2):
        raise DynamicsError(f'pseudo-velocities: expected speeds that determine all others, found '
                            f'{", ".join(names)}, which the constraints join; choose others, or '
                            'leave the choice to the program')


def independent(A1: np.ndarray, A2: np.ndarray) -> bool:
    """Whether the rows of A = [A1; A2], numbers, determine all speeds."""
    A = np.vstack((A1, A2))
    sizes = np.linalg.norm(A, axis=1)
    values = np.linalg.svd(A / np.where(sizes > 0.0, sizes, 1.0)[:, None], compute_uv=False)
    return bool(values[-1] > SINGULAR * values[0])


def inverse(tape: Tape, A: np.ndarray, compact: Compact) -> np.ndarray:
    """A^-1 (n, n) by cofactors, so that it exists wherever A is regular. Rows that are one of the
    coordinates' rates are eliminated first."""
    n = len(A)
    unit = {i: k for i in range(n) for k in range(n)
            if isinstance(A[i, k], float) and A[i, k] == 1.0
            and all(isinstance(x, float) and x == 0.0 for j, x in enumerate(A[i]) if j != k)}
    rows = [i for i in range(n) if i not in unit]
    columns = [k for k in range(n) if k not in unit.values()]
    minors = _Minors(A, compact)
    full = tuple(rows)
    determinant = minors(full, tuple(columns))
    by = tape.reciprocal(determinant) if len(rows) else 1.0
    block = scalars((len(rows), len(rows)))
    for a, k in enumerate(columns):
        for b, i in enumerate(rows):
            cofactor = minors(tuple(r for r in rows if r != i),
                              tuple(c for c in columns if c != k))
            block[a, b] = (1.0 if (a + b) % 2 == 0 else -1.0) * cofactor * by
    out = scalars((n, n))
    for i, k in unit.items():
        out[k, i] = 1.0
        column = -(block @ A[rows, k]) if rows else scalars(0)
        for a, other in enumerate(columns):
            out[other, i] = column[a]
    for a, k in enumerate(columns):
        for b, i in enumerate(rows):
            out[k, i] = block[a, b]
    return compact(out)


class _Minors:
    """Determinants of parts of a matrix, each once; the row with the most zeros first."""

    def __init__(self, A: np.ndarray, compact: Compact) -> None:
        self._A, self._compact = A, compact
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...]], object] = {((), ()): 1.0}

    def __call__(self, rows: tuple[int, ...], columns: tuple[int, ...]):
        key = rows, columns
        if key not in self._known:
            total = 0.0
            for b, k in enumerate(columns):
                element = self._A[rows[0], k]
                if not isinstance(element, float) or element != 0.0:
                    minor = self(rows[1:], columns[:b] + columns[b + 1:])
                    total = total + (1.0 if b % 2 == 0 else -1.0) * element * minor
            self._known[key] = self._compact.element(total)
        return self._known[key]
