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
"""derive_hamel: from a robot with constraints to its equations in pseudo-velocities."""
from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flex_description import Robot
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.checks import LARGEST_POSITION
from flex_dynamics.errors import DynamicsError
from flex_dynamics.model.model import Model
from flex_dynamics.symbolic.derive import MOST_OPERATIONS, ORDERS, carrying
from flex_dynamics.symbolic.expressions.compact import Compact
from flex_dynamics.symbolic.expressions.tape import INVERSE, Tape, TooLong
from flex_dynamics.symbolic.hamel_equations import HamelEquations
from flex_dynamics.symbolic.methods.constant_terms import (
    add_reflected_inertia,
    input_matrix,
    stiffness_matrix,
)
from flex_dynamics.symbolic.methods.constraint_rows import Frames, constraint_rows
from flex_dynamics.symbolic.methods.hamel import hamel
from flex_dynamics.symbolic.methods.lagrange import Progress, mass_and_gravity
from flex_dynamics.symbolic.methods.named_parameters import named_stiffness
from flex_dynamics.symbolic.methods.problem import Problem
from flex_dynamics.symbolic.methods.pseudo_velocities import (
    checked,
    evaluated,
    found_names,
    row,
)
from flex_dynamics.symbolic.modes import Modes, with_modes
from flex_dynamics.symbolic.size_advice import most_shapes

GENERIC = 0.1         # rad or m by which the position at which speeds are chosen is off the pose
FAR = 0.5             # m or rad that such a position may miss the constraints before it is closed


@dataclass(frozen=True)
class _Choice:
    """What is asked for: names of pseudo-velocities or None, joint positions or None."""

    names: tuple[str, ...] | None
    pose: Array | None
    symbols: bool


def derive_hamel(robot: Robot | Model, pseudo: Sequence[str] | None = None,
                 modes: Modes | None = None, order: str | None = None,
                 pose: ArrayLike | None = None, most_operations: int = MOST_OPERATIONS,
                 progress: Progress | None = None, symbols: bool = False) -> HamelEquations:
    """Hamel's equations (Mladenova (231), (235), (236)) of a robot with loops, wheels or supports.

    pseudo: names of the free pseudo-velocities, a coordinate ('crank_joint') for its rate, or
    'FRAME:vx' ... 'FRAME:wz' for the velocity of a frame in its own axes; None lets the program
    choose. pose: joint positions near which they are chosen, rad or m (default: zeros). Redundant
    rows of constraints are left out. modes, order, symbols, most_operations, progress: as for
    `derive`. Inactive supports are none.
    """
    order = ORDERS['lagrange'][0] if order is None else order
    if order not in ORDERS['lagrange']:
        raise DynamicsError(f"order: expected {' or '.join(ORDERS['lagrange'])} with method "
                            f"'hamel', found {order!r}")
    if most_operations < 1:
        raise DynamicsError('most_operations: expected a positive number, found '
                            f'{most_operations}')
    if isinstance(pseudo, str):
        raise DynamicsError(f'pseudo: expected a list of names, found {pseudo!r}')
    model = robot if isinstance(robot, Model) else Model(with_modes(robot, modes), order)
    if isinstance(robot, Model) and (modes is not None or robot.order != order):
        model = carrying(Model(with_modes(robot.robot, modes), order), robot.payloads)
    joints = (None if pose is None else
              model.finite_vector(pose, 'pose', model.n_joints, LARGEST_POSITION))
    choice = _Choice(None if pseudo is None else tuple(pseudo), joints, symbols)
    try:
        return _derived(model, choice, most_operations, progress or _silent)
    except TooLong:
        pass
    raise DynamicsError(
        f'{model.robot.name}: expected equations of at most {most_operations} operations, found '
        f"more, with {model.n} coordinates by method 'hamel'; "
        + _what_works(model, choice, most_operations))


def _silent(stage: str, fraction: float) -> None:
    pass


def _what_works(model: Model, choice: _Choice, most: int) -> str:
    """The number of mode shapes for which the equations are short enough: seen by deriving."""
    best = ''
    for count in range(1, most_shapes(model.robot)):
        smaller = carrying(Model(with_modes(model.robot, count), model.order), model.payloads)
        try:
            _derived(smaller, choice, most, _silent)
        except DynamicsError:
            break
        best = f'modes={count} works: {smaller.n} coordinates'
    return best or ('no smaller number of mode shapes works; allow more operations, or take '
                    'numbers from Model.constrained_dynamics')


def _derived(model: Model, choice: _Choice, most: int, progress: Progress) -> HamelEquations:
    start = time.monotonic()
    tape = Tape(most)
    problem = Problem(model, tape, choice.symbols)
    compact = Compact(tape)
    progress('links', 0.0)
    frames = Frames(problem, compact)
    q = _position(model, choice.pose)
    values = {f'q{k + 1}': float(x) for k, x in enumerate(q)}
    if problem.parameters is not None:
        values |= _with_inverses(problem.parameters.values)
    rows = _independent_rows(model, q)
    A2_there = model.constraint_jacobian(q)[rows]
    A2 = constraint_rows(frames, rows, compact)
    names = (list(choice.names) if choice.names is not None
             else found_names(model, frames, A2_there, values))
    A1 = (np.array([row(frames, name) for name in names], dtype=object) if names
          else np.zeros((0, model.n), dtype=object))
    checked(names, evaluated(tape, A1, values), A2_there)
    M, gravity = mass_and_gravity(problem, progress)
    add_reflected_inertia(problem, M)
    constraints = model.assembly.constraints
    terms = hamel(problem, A1, A2, [bool(constraints.holonomic[k]) for k in rows], compact(M),
                  compact(gravity), compact, progress)
    K = stiffness_matrix(problem)
    parameters, named_K = {}, None
    if problem.parameters is not None:
        named_K = named_stiffness(problem.parameters, problem.bodies, K,
                                  model.assembly.tree.nodes)
        parameters = problem.parameters.values
    progress('done', 1.0)
    return HamelEquations(model, tape, tuple(names),
                          tuple(model.constraint_names[k] for k in rows), terms, K,
                          np.array(model.damping_matrix()), input_matrix(problem),
                          time.monotonic() - start, parameters, named_K)


def _with_inverses(values: dict[str, float]) -> dict[str, float]:
    return {**values, **{name + INVERSE: 1.0 / value for name, value in values.items() if value}}


def _position(model: Model, pose: Array | None) -> Array:
    """A closed position near a pose, but at none of its symmetries, where constraints might be
    singular by chance."""
    q = np.zeros(model.n)
    if pose is not None:
        q[:model.n_joints] = pose
    q = model.close(q).q
    if not model.robot.constraints:
        return q
    off = np.random.default_rng(0).uniform(-GENERIC, GENERIC, model.n)
    off[model.n_joints:] = 0.0
    try:
        return model.close(q + off, reach=FAR).q
    except DynamicsError:
        return q


def _independent_rows(model: Model, q: Array) -> list[int]:
    """Numbers of the active rows that do not follow from others at q."""
    redundant = set(model.constraint_independence(q).redundant)
    active = [bool(row[4]) for row in model.assembly.constraints.rows]
    return [k for k, name in enumerate(model.constraint_names)
            if active[k] and name not in redundant]
