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
"""derive: from a robot to its symbolic equations of motion."""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from flex_description import Robot
from flex_dynamics import checks
from flex_dynamics.build.assemble import AttachedPayload
from flex_dynamics.errors import DynamicsError
from flex_dynamics.model.model import Model
from flex_dynamics.symbolic.equations import Equations
from flex_dynamics.symbolic.expressions.tape import Tape, TooLong
from flex_dynamics.symbolic.methods.constant_terms import (
    add_reflected_inertia,
    input_matrix,
    stiffness_matrix,
)
from flex_dynamics.symbolic.methods.dual_screw import dual_screw
from flex_dynamics.symbolic.methods.elastic_joint import elastic_joint
from flex_dynamics.symbolic.methods.lagrange import Progress, lagrange
from flex_dynamics.symbolic.methods.named_parameters import named_stiffness
from flex_dynamics.symbolic.methods.problem import Problem
from flex_dynamics.symbolic.modes import Modes, with_modes
from flex_dynamics.symbolic.size_advice import first_joints, most_shapes

Method = Callable[[Problem, Progress], tuple[np.ndarray, np.ndarray, np.ndarray]]
METHODS: dict[str, Method] = {'lagrange': lagrange, 'dual_screw': dual_screw,
                              'elastic_joint': elastic_joint}
ORDERS = {'lagrange': ('first', 'second'), 'dual_screw': ('linear',),
          'elastic_joint': ('first', 'second')}
MOST_OPERATIONS = 300_000


@dataclass(frozen=True)
class Payload:
    """A rigid body fixed in a frame: mass kg, centre (3,) m, tensor (3, 3) kg m2 about it."""

    frame: str
    mass: float
    centre: np.ndarray = field(default_factory=lambda: np.zeros(3))
    tensor: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))


def derive(robot: Robot | Model, method: str = 'lagrange', modes: Modes | None = None,
           order: str | None = None, payload: Payload | None = None,
           most_operations: int = MOST_OPERATIONS, progress: Progress | None = None,
           symbols: bool = False) -> Equations:
    """Symbolic equations of motion.

    method: 'lagrange' (Lin and Lewis), any robot, order 'first' or 'second'; 'dual_screw' (Cibicik
    and Egeland), any robot, order 'linear'; 'elastic_joint' (Mladenova), rigid links. modes: how
    many shapes of each kind to keep, or by link; None keeps all. robot: a Model brings its
    payloads along. progress: called with a stage and its fraction. symbols: masses, lengths and
    stiffnesses are symbols (m_link2, L_link2, EIz_link2 ...), with their values in `parameters`;
    method 'lagrange' only. A robot whose equations would
    take more than most_operations is refused, with the size that would do.
    """
    if method not in METHODS:
        raise DynamicsError(f'method: expected one of {", ".join(METHODS)}, found {method!r}')
    order = ORDERS[method][0] if order is None else order
    if order not in ORDERS[method]:
        raise DynamicsError(f"order: expected {' or '.join(ORDERS[method])} with method "
                            f'{method!r}, found {order!r}')
    if symbols and method != 'lagrange':
        raise DynamicsError(f"symbols: expected method 'lagrange', found {method!r}, which has "
                            'numbers only')
    if most_operations < 1:
        raise DynamicsError('most_operations: expected a positive number, found '
                            f'{most_operations}')
    model = _model(robot, order, modes, payload)
    if model.followers.names:
        raise DynamicsError(
            f'{model.robot.name}: expected joints that move by themselves, found '
            f'{model.followers.names[0]!r}, which follows another one (<mimic>): symbolic '
            'equations have no followers; Model has them, or make the joint fixed')
    report = progress or (lambda stage, fraction: None)
    try:
        return _derived(model, method, most_operations, report, symbols)
    except TooLong:
        pass
    raise DynamicsError(
        f'{model.robot.name}: expected equations of at most {most_operations} operations, found '
        f"more, with {model.n} coordinates by method '{method}'; "
        + _what_works(model, method, order, most_operations))


def _what_works(model: Model, method: str, order: str, most: int) -> str:
    """The size, or the other method, for which the equations of a model's robot are short enough:
    seen by deriving them."""
    def works(smaller: Model, method: str) -> bool:
        try:
            _derived(smaller, method, most, lambda stage, fraction: None)
        except TooLong:
            return False
        return True

    for other, its_order in {method: order, 'dual_screw': 'linear'}.items():
        shown = '' if other == method else f"method '{other}' with "
        if other != method and works(
                carrying(Model(model.robot, its_order), model.payloads), other):
            return f"method '{other}' works, whose equations are linear in the deflections"
        found = None
        for count in range(1, most_shapes(model.robot)):
            smaller = carrying(Model(with_modes(model.robot, count), its_order), model.payloads)
            if not works(smaller, other):
                break
            found = f'{shown}modes={count} works: {smaller.n} coordinates'
        if found is not None:
            return found
    low, high = 0, len(model.robot.joints)
    best = None
    while high - low > 1:
        middle = (low + high) // 2
        try:
            smaller = Model(first_joints(model.robot, middle), order)
        except DynamicsError:              # so far only fixed joints: nothing moves
            low = middle
            continue
        if works(smaller, method):
            low, best = middle, smaller
        else:
            high = middle
    if best is None:
        return 'not even its first joint alone works'
    return (f'the robot up to joint {model.robot.joints[low - 1].name!r} works: {best.n} '
            'coordinates')


def _model(robot: Robot | Model, order: str, modes: Modes | None,
           payload: Payload | None) -> Model:
    payloads: Mapping[str, AttachedPayload] = {}
    if isinstance(robot, Model):
        payloads, robot = robot.payloads, robot.robot
    checks.refuse_constraints(robot, 'derive_hamel (derive --method hamel) gives the equations of '
                              'this robot, this method those of robots')
    model = carrying(Model(with_modes(robot, modes), order), payloads)
    if payload is not None:
        model = model.with_payload('payload', payload.frame, payload.mass, payload.centre,
                                   payload.tensor)
    return model


def carrying(model: Model, payloads: Mapping[str, AttachedPayload]) -> Model:
    """A model with the payloads of another."""
    for name, payload in payloads.items():
        body = payload.inertia
        model = model.with_payload(name, payload.frame, body.mass, body.centre, body.tensor,
                                   payload.x)
    return model


def _derived(model: Model, method: str, most: int, progress: Progress,
             symbols: bool = False) -> Equations:
    start = time.monotonic()
    tape = Tape(most)
    problem = Problem(model, tape, symbols)
    terms = METHODS[method](problem, progress)
    add_reflected_inertia(problem, terms[0])
    K = stiffness_matrix(problem)
    parameters, named_K = {}, None
    if problem.parameters is not None:
        named_K = named_stiffness(problem.parameters, problem.bodies, K,
                                  model.assembly.tree.nodes)
        parameters = problem.parameters.values
    progress('done', 1.0)
    return Equations(method, model, tape, terms, K, np.array(model.damping_matrix()),
                     input_matrix(problem), time.monotonic() - start, parameters, named_K)
